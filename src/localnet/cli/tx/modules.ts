import { type Command, InvalidArgumentError, Option } from "commander";
import { messageFromJson } from "../../../cosmos/proto/json.ts";
import { CliError, EXIT } from "../../../platform/base/errors.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import { readTextFile } from "../../../platform/base/read-text.ts";
import type { CliContext } from "../../../platform/cli/cli-context.ts";
import { queryIdArgument } from "../../../platform/cli/options.ts";
import { type Fields, isJsonObject, textOf, unchecked } from "../command-inputs.ts";
import { type MessageGroup, message, messageCommands } from "../module-tx.ts";
import { parseHookType } from "../query/modules.ts";

const CONTRACT = "params.contract_address";

/** Upper bound that detects a wrong file; no chain accepts a transaction of this size. */
const MAX_RESULT_FILE_BYTES = 64 * 1024 * 1024;

/** `relaywatch tx MODULE`, for modules with few messages. Uses the same names and arguments as a Cosmos SDK binary. */
const MODULE_MESSAGES = {
  bank: {
    service: "cosmos.bank.v1beta1.Msg",
    fields: {
      to_address: "<to> bech32 address that receives the coins",
      amount: "<coins> coins: 1000untrn, or 5uatom,1000untrn",
    },
    messages: { send: message("Send", "send coins") },
  },
  slashing: {
    service: "cosmos.slashing.v1beta1.Msg",
    messages: { unjail: message("Unjail", "release the signing account's validator from jail") },
  },
  upgrade: {
    service: "cosmos.upgrade.v1beta1.Msg",
    fields: {
      name: "<name> upgrade name",
      height: ["<height> upgrade height", parseHeight],
    },
    messages: {
      "software-upgrade": message("SoftwareUpgrade", "plan an upgrade; replaces an earlier plan", {
        takes: ["plan.name", "plan.height"],
        options: {
          "plan.info": () =>
            new Option("--info <text>", "additional information about the upgrade").default(""),
        },
      }),
      "cancel-software-upgrade": message("CancelUpgrade", "cancel the planned upgrade"),
    },
  },
  harpoon: {
    service: "neutron.harpoon.Msg",
    fields: { hooks: ["[hook-type...] hook type names or numbers", parseHookType] },
    messages: {
      "manage-hook-subscription": message(
        "ManageHookSubscription",
        "replace the hook types for which a contract is called",
        {
          takes: ["hook_subscription.contract_address", "hook_subscription.hooks"],
          note: "Without hook types, the contract is no longer called.",
        },
      ),
    },
  },
  "ibc-rate-limit": {
    service: "neutron.ibcratelimit.v1beta1.Msg",
    messages: {
      "update-params": message("UpdateParams", "choose the contract that decides which transfers pass", {
        takes: [CONTRACT],
        fields: { [CONTRACT]: "[contract] contract address" },
        options: { none: ["--none", "no contract: transfers are not limited"] },
        complete: checkedContract,
      }),
    },
  },
  /** chain-extension-modules.md, "Interchain queries module: queries" */
  interchainqueries: {
    service: "neutron.interchainqueries.Msg",
    fields: {
      query_id: queryIdArgument,
      result: ["<result-file> QueryResult in proto JSON, with proofs", unchecked],
    },
    messages: {
      "submit-query-result|submit|s": message("SubmitQueryResult", "submit a query's result", {
        takes: ["query_id", "result"],
        complete: ({ query_id, result }, { chainName }) => ({
          query_id,
          result: readResult(textOf(result), chainName),
        }),
      }),
      "remove-interchain-query|remove|r": message(
        "RemoveInterchainQuery",
        "remove a query; the sender receives its deposit",
      ),
    },
  },
} as const satisfies Readonly<Record<string, MessageGroup>>;

export function moduleMessages(name: keyof typeof MODULE_MESSAGES): (context: CliContext) => Command {
  return messageCommands(MODULE_MESSAGES[name]);
}

function parseHeight(text: string): string {
  if (/^[1-9]\d{0,17}$/.test(text)) return text;
  throw new InvalidArgumentError("expected a height above zero");
}

/** The chain accepts any address, but then rejects every transfer if it is not a contract. An empty address must be explicit. */
function checkedContract({ [CONTRACT]: contract, none }: Fields): Fields {
  if ((contract === undefined) !== (none === true))
    throw new CliError(EXIT.usage, "specify a contract address or --none");
  return { [CONTRACT]: contract ?? "" };
}

function readResult(file: string, chainName: string): JsonObject {
  const json = readJson(file);
  try {
    messageFromJson("neutron.interchainqueries.QueryResult", json, chainName);
  } catch (cause) {
    throw unusable(file, cause);
  }
  if (isJsonObject(json)) return json;
  throw unusable(file, undefined);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readTextFile(file, MAX_RESULT_FILE_BYTES));
  } catch (cause) {
    if (cause instanceof SyntaxError) throw unusable(file, cause);
    throw new CliError(EXIT.fatal, `failed to read query result file: ${file}`, { cause });
  }
}

function unusable(file: string, cause: unknown): CliError {
  return new CliError(EXIT.fatal, `failed to unmarshal query result: ${file}`, { cause });
}
