import { InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { parseDec18 } from "../../../platform/base/decimal.ts";
import { CliError, errorText, EXIT } from "../../../platform/base/errors.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import { readTextFile } from "../../../platform/base/read-text.ts";
import { parseUint64 } from "../../../platform/cli/options.ts";
import { parseCoin, parsing, textOf } from "../command-inputs.ts";
import { message, messageCommands } from "../module-tx.ts";

const COMPLETES = { completes: "completion_time" };

const FILE_HELP = `
The file has the same members as for a Cosmos SDK binary:
{
  "pubkey": {"@type": "/cosmos.crypto.ed25519.PubKey", "key": "…"},
  "amount": "1000000untrn",
  "moniker": "name",
  "identity": "", "website": "", "security": "", "details": "",
  "commission-rate": "0.1", "commission-max-rate": "0.2", "commission-max-change-rate": "0.01",
  "min-self-delegation": "1"
}`;

/** `relaywatch tx staking`, with the same names and arguments as Cosmos SDK programs. */
export const txStakingCommand = messageCommands({
  service: "cosmos.staking.v1beta1.Msg",
  fields: {
    validator_src_address: "<source> operator address that the stake leaves",
    validator_dst_address: "<destination> operator address that receives the stake",
    creation_height: "<creation-height> height of the undelegation, as listed by unbonding-delegations",
    file: "<file> JSON file that contains the validator's key, amount, description and commission",
  },
  messages: {
    "create-validator": message("CreateValidator", "register the signing account as a validator", {
      takes: ["file"],
      note: FILE_HELP,
      complete: ({ file }) => readValidatorFile(textOf(file)),
    }),
    "edit-validator": message("EditValidator", "edit the signing account's validator", {
      takes: [],
      options: {
        "description.moniker": textOption("--new-moniker <text>", "name"),
        "description.identity": textOption("--identity <text>", "identity, e.g. from Keybase"),
        "description.website": textOption("--website <text>", "website"),
        "description.security_contact": textOption(
          "--security-contact <text>",
          "contact for security reports",
        ),
        "description.details": textOption("--details <text>", "other details"),
        commission_rate: [
          "--commission-rate <decimal>",
          "new commission rate; it can change once every 24 hours",
          parseRate,
        ],
        min_self_delegation: [
          "--min-self-delegation <amount>",
          "new minimum; it can only increase",
          parseUint64,
        ],
      },
    }),
    delegate: message("Delegate", "delegate coins to a validator"),
    "unbond|undelegate": message(
      "Undelegate",
      "undelegate coins from a validator; they are paid out after the unbonding time",
      { prints: { amount: "amount.amount", ...COMPLETES } },
    ),
    redelegate: message("BeginRedelegate", "move a delegation to another validator", { prints: COMPLETES }),
    "cancel-unbond|cancel-unbonding": message(
      "CancelUnbondingDelegation",
      "delegate unbonding coins again before the unbonding time ends",
    ),
  },
});

/** Value of a text field in MsgEditValidator that leaves the validator's current text unchanged. */
const KEEP = "[do-not-modify]";

function textOption(flags: string, description: string): () => Option {
  return () => new Option(flags, description).default(KEEP, "unchanged");
}

/** Maximum size of a validator file in bytes. The limit prevents the command from reading a huge file that was given by mistake. */
const MAX_BYTES = 64 * 1024;

const optionalText = z.string().optional();

/** File format of the `create-validator` command in Cosmos SDK programs. */
const validatorFile = z.strictObject({
  pubkey: z.strictObject({ "@type": z.string(), key: z.string() }),
  amount: z.string().transform(checkedBy(parseCoin)),
  moniker: z.string().min(1),
  identity: optionalText,
  website: optionalText,
  security: optionalText,
  details: optionalText,
  "commission-rate": z.string().transform(checkedBy(parseRate)),
  "commission-max-rate": z.string().transform(checkedBy(parseRate)),
  "commission-max-change-rate": z.string().transform(checkedBy(parseRate)),
  "min-self-delegation": z.string().regex(/^\d{1,77}$/, "expected an integer in quotes"),
});

/** Reads a validator file into a `MsgCreateValidator` without the validator's address. Throws a `CliError` with all invalid fields. */
function readValidatorFile(file: string): JsonObject {
  const parsed = validatorFile.safeParse(readJson(file));
  if (!parsed.success) throw unusable(file, z.prettifyError(parsed.error));
  const { pubkey, amount, moniker, security = "", ...rest } = parsed.data;
  const { identity = "", website = "", details = "" } = rest;
  return {
    description: { moniker, identity, website, security_contact: security, details },
    commission: {
      rate: rest["commission-rate"],
      max_rate: rest["commission-max-rate"],
      max_change_rate: rest["commission-max-change-rate"],
    },
    min_self_delegation: rest["min-self-delegation"],
    pubkey,
    value: amount,
  };
}

function checkedBy<T>(parse: (text: string) => T): (text: string, context: z.RefinementCtx) => T {
  return (text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue(errorText(error));
      return z.NEVER;
    }
  };
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readTextFile(file, MAX_BYTES));
  } catch (error) {
    throw unusable(file, errorText(error));
  }
}

function unusable(file: string, reason: string): CliError {
  return new CliError(EXIT.usage, `cannot use the validator file ${file}: ${reason}`);
}

/** Parses a decimal from 0 to 1 with up to 18 digits. */
function parseRate(text: string): string {
  const rate = parsing(() => parseDec18(text), errorText);
  if (rate >= 0n && rate <= parseDec18("1")) return text;
  throw new InvalidArgumentError("expected a decimal from 0 to 1, e.g. 0.05");
}
