import { Option } from "commander";
import { parseUint64 } from "../../../../../platform/cli/options.ts";
import { textOf } from "../../../../cli/command-inputs.ts";
import { message, messageCommands } from "../../../../cli/module-tx.ts";
import { parseRate, readValidatorFile } from "./validator-file.ts";

const COMPLETES = { completes: "completion_time" };

const FILE_HELP = `
The file has the members of a Cosmos SDK binary:
{
  "pubkey": {"@type": "/cosmos.crypto.ed25519.PubKey", "key": "…"},
  "amount": "1000000untrn",
  "moniker": "name",
  "identity": "", "website": "", "security": "", "details": "",
  "commission-rate": "0.1", "commission-max-rate": "0.2", "commission-max-change-rate": "0.01",
  "min-self-delegation": "1"
}`;

/** `relaywatch tx staking`. Names and arguments are those of a Cosmos SDK binary. */
export const txStakingCommand = messageCommands({
  service: "cosmos.staking.v1beta1.Msg",
  fields: {
    validator_src_address: "<source> operator address that the stake leaves",
    validator_dst_address: "<destination> operator address that gets the stake",
    creation_height: "<creation-height> height of the undelegation; see unbonding-delegations",
    file: "<file> JSON file with key, amount, description and commission",
  },
  messages: {
    "create-validator": message("CreateValidator", "register the signing account as a validator", {
      takes: ["file"],
      note: FILE_HELP,
      complete: ({ file }) => readValidatorFile(textOf(file)),
    }),
    "edit-validator": message("EditValidator", "change the validator of the signing account", {
      takes: [],
      options: {
        "description.moniker": textOption("--new-moniker <text>", "name"),
        "description.identity": textOption("--identity <text>", "identity, for instance of keybase"),
        "description.website": textOption("--website <text>", "website"),
        "description.security_contact": textOption(
          "--security-contact <text>",
          "address for security reports",
        ),
        "description.details": textOption("--details <text>", "other details"),
        commission_rate: [
          "--commission-rate <decimal>",
          "new rate; at most one change in 24 hours",
          parseRate,
        ],
        min_self_delegation: ["--min-self-delegation <amount>", "new minimum; it can only rise", parseUint64],
      },
    }),
    delegate: message("Delegate", "delegate coins to a validator"),
    "unbond|undelegate": message(
      "Undelegate",
      "take coins back from a validator; they arrive after the unbonding time",
      { prints: { amount: "amount.amount", ...COMPLETES } },
    ),
    redelegate: message("BeginRedelegate", "move a delegation to another validator", { prints: COMPLETES }),
    "cancel-unbond|cancel-unbonding": message(
      "CancelUnbondingDelegation",
      "delegate coins again that wait for the end of the unbonding time",
    ),
  },
});

/** A text that the chain replaces with the present one. */
const KEEP = "[do-not-modify]";

function textOption(flags: string, description: string): () => Option {
  return () => new Option(flags, description).default(KEEP, "unchanged");
}
