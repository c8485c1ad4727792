import { type Command, Option } from "commander";
import { parseCoin, parseObject, requiredOption } from "../../localnet/cli/command-inputs.ts";
import { message, messageCommands, type MessageGroup } from "../../localnet/cli/module-tx.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { benchCommand } from "./bench-queries.ts";

/** `relaywatch tx MODULE`, for the workbench's modules. */
const BENCH_MESSAGES = {
  tokenfactory: {
    service: "osmosis.tokenfactory.v1beta1.Msg",
    fields: {
      subdenom: "<subdenom> up to 44 characters",
      denom: "<denom> factory/<creator>/<subdenom>",
      new_admin: "<new-admin> the new admin's address",
      transferFromAddress: "<from> address that loses the coins",
      transferToAddress: "<to> address that receives them",
      contract_addr: "[contract] contract address; omit it to call no contract",
      metadata:
        '<metadata> JSON: {"base":"factory/…","display":"…","name":"…","symbol":"…","denom_units":[{"denom":"factory/…","exponent":0}]}',
    },
    messages: {
      "create-denom": message("CreateDenom", "create the denomination factory/<your address>/<subdenom>", {
        prints: { denomination: "new_token_denom" },
      }),
      mint: message("Mint", "mint coins; requires the denomination's admin", {
        options: {
          mintToAddress: ["--to <address>", "recipient of the coins; default: the signing account"],
        },
      }),
      burn: message("Burn", "burn coins; requires the denomination's admin", {
        options: {
          burnFromAddress: [
            "--from-address <address>",
            "account whose coins are burned; default: the signing account",
          ],
        },
      }),
      "force-transfer": message(
        "ForceTransfer",
        "move coins from any account; requires the denomination's admin",
      ),
      "change-admin": message("ChangeAdmin", "change a denomination's admin"),
      "set-denom-metadata": message("SetDenomMetadata", "describe a denomination: name, symbol, units"),
      "set-before-send-hook": message(
        "SetBeforeSendHook",
        "choose the contract that is called before payments",
        { note: "\nThe params must allow the contract's code for the denomination's creator." },
      ),
      "update-params": message("UpdateParams", "replace all params: fee, gas, allowed hooks", {
        takes: [],
        options: {
          "params.denom_creation_fee": listOption(
            "--fee <json>",
            'a coin: {"denom":"untrn","amount":"1000"}; can be given several times',
          ),
          "params.fee_collector_address": ["--fee-collector <address>", "recipient of the fee"],
          "params.denom_creation_gas_consume": () =>
            new Option("--creation-gas <n>", "gas for creating a denomination").default("0"),
          "params.whitelisted_hooks": listOption(
            "--hook <json>",
            'a code that may be a hook: {"code_id":"1","denom_creator":"…"}; can be given several times',
          ),
        },
      }),
    },
  },
  feerefunder: {
    service: "neutron.feerefunder.Msg",
    messages: {
      "update-params": message("UpdateParams", "set the minimum fee for a contract's packet", {
        takes: [],
        options: {
          "params.min_fee.ack_fee": feeOption("--ack-fee <coin>", "for an acknowledgement"),
          "params.min_fee.timeout_fee": feeOption("--timeout-fee <coin>", "for a timeout"),
        },
      }),
    },
  },
} as const satisfies Readonly<Record<string, MessageGroup>>;

/** Creates `relaywatch tx NAME`. If the chain lacks the module, the error explains how to add it to a local chain. */
export function benchMessages(name: keyof typeof BENCH_MESSAGES): (context: CliContext) => Command {
  return benchCommand(messageCommands(BENCH_MESSAGES[name]));
}

function listOption(flags: string, description: string): () => Option {
  return () =>
    new Option(flags, description)
      .default([], "none")
      .argParser((text: string, previous: readonly unknown[]) => [...previous, parseObject(text)]);
}

function feeOption(flags: string, description: string): () => Option {
  const words = `${description}, e.g. 1000untrn; repeatable`;
  return requiredOption(flags, words, (text, previous) => [
    ...(Array.isArray(previous) ? previous : []),
    parseCoin(text),
  ]);
}
