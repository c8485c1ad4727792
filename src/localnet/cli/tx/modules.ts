import { type Command, InvalidArgumentError, Option, Argument } from "commander";
import { messageFromJson } from "../../../cosmos/proto/json.ts";
import { CliError, errorText, EXIT } from "../../../platform/base/errors.ts";
import { type JsonObject, isRecord } from "../../../platform/base/json.ts";
import { readTextFile } from "../../../platform/base/read-text.ts";
import type { CliContext } from "../../../platform/cli/cli-context.ts";
import { queryIdArgument, parseUint64 } from "../../../platform/cli/options.ts";
import * as inputs from "../command-inputs.ts";
import { type MessageGroup, message, messageCommands } from "../module-tx.ts";
import { parseHookType } from "../query/modules.ts";

const CONTRACT = "params.contract_address";

/**
 * Maximum size of a result file in bytes, which is more than the size of any transaction that a chain accepts. The limit prevents
 * the command from reading a huge file that was given by mistake.
 */
const MAX_RESULT_FILE_BYTES = 64 * 1024 * 1024;

/** `relaywatch tx MODULE`, for modules with few messages. Command names and arguments match Cosmos SDK programs. */
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
      "software-upgrade": message("SoftwareUpgrade", "plan an upgrade, replacing any earlier plan", {
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
      "update-params": message("UpdateParams", "set the contract that decides which transfers are allowed", {
        takes: [CONTRACT],
        fields: { [CONTRACT]: "[contract] contract address" },
        options: { none: ["--none", "remove the contract, so that transfers are not limited"] },
        complete: checkedContract,
      }),
    },
  },
  /** Messages specified in chain-extension-modules.md, "Interchain queries module: messages". */
  interchainqueries: {
    service: "neutron.interchainqueries.Msg",
    fields: {
      query_id: queryIdArgument,
      result: [
        "<result-file> file that contains the QueryResult and its proofs in proto JSON",
        inputs.unchecked,
      ],
    },
    messages: {
      "submit-query-result|submit|s": message("SubmitQueryResult", "submit a query's result", {
        takes: ["query_id", "result"],
        complete: ({ query_id, result }, { chainName }) => ({
          query_id,
          result: readResult(inputs.textOf(result), chainName),
        }),
      }),
      "remove-interchain-query|remove|r": message(
        "RemoveInterchainQuery",
        "remove a query and receive its deposit",
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

/** Requires a contract address or `--none`, because an empty address removes the limit. With a wrong address, all transfers fail. */
function checkedContract({ [CONTRACT]: contract, none }: inputs.Fields): inputs.Fields {
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
  if (inputs.isJsonObject(json)) return json;
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

/** Proto names of the governance vote options, keyed by command-line name. */
const OPTIONS: Readonly<Record<string, string>> = {
  yes: "VOTE_OPTION_YES",
  abstain: "VOTE_OPTION_ABSTAIN",
  no: "VOTE_OPTION_NO",
  no_with_veto: "VOTE_OPTION_NO_WITH_VETO",
};

const legacyCommands = messageCommands({
  service: "cosmos.gov.v1beta1.Msg",
  messages: {
    "submit-legacy-proposal": message("SubmitProposal", "submit a text proposal", {
      takes: [],
      options: {
        "content.title": inputs.requiredOption("--title <text>", "title, up to 140 bytes"),
        "content.description": inputs.requiredOption("--description <text>", "summary, up to 10,000 bytes"),
        initial_deposit: inputs.requiredOption(
          "--deposit <coin>",
          "initial deposit, e.g. 10000000uatom",
          parseOneCoin,
        ),
      },
      complete: (given) => ({ ...given, "content.@type": "/cosmos.gov.v1beta1.TextProposal" }),
      prints: { proposal: "proposal_id" },
    }),
  },
});

const govCommands = messageCommands({
  service: "cosmos.gov.v1.Msg",
  fields: {
    proposal_id: "<proposal-id> proposal id",
    amount: ["<amount> amount with denomination, e.g. 1000000untrn", parseOneCoin],
    option: () => new Argument("<option>", "the vote").choices(Object.keys(OPTIONS)),
    options: ["<options> weighted options, e.g. yes=0.6,no=0.4", parseWeights],
  },
  messages: {
    deposit: message("Deposit", "add to a proposal's deposit; the vote starts once it is large enough"),
    vote: message("Vote", "vote on a proposal, replacing any earlier vote", {
      takes: ["proposal_id", "option"],
      complete: (given) => ({ ...given, option: OPTIONS[inputs.textOf(given["option"])] }),
    }),
    "weighted-vote": message("VoteWeighted", "split your vote on a proposal between several options", {
      takes: ["proposal_id", "options"],
    }),
    "cancel-proposal": message("CancelProposal", "cancel your proposal and lose part of its deposit"),
  },
});

/** `relaywatch tx gov`, with the same names as Cosmos SDK programs. */
export function txGovCommand(context: CliContext): Command {
  const group = legacyCommands(context);
  for (const command of govCommands(context).commands) group.addCommand(command);
  return group;
}

function parseOneCoin(text: string): readonly JsonObject[] {
  return [inputs.parseCoin(text)];
}

function parseWeights(text: string): readonly JsonObject[] {
  return text.split(",").map((part) => {
    const [name = "", weight = ""] = part.split("=");
    const option = OPTIONS[name];
    if (option !== undefined && /^\d+(\.\d{1,18})?$/.test(weight)) return { option, weight };
    throw new InvalidArgumentError(
      `${JSON.stringify(part)} is not a weighted option (expected e.g. yes=0.5; options: ${Object.keys(OPTIONS).join(", ")})`,
    );
  });
}

/**
 * Maximum size of a vesting period file in bytes, which is more than the size of any transaction that a chain accepts. The limit
 * prevents the command from reading a huge file that was given by mistake.
 */
const MAX_PERIODS_FILE_BYTES = 1024 * 1024;

/** `relaywatch tx vesting`, with the same names and arguments as Cosmos SDK programs. */
export const txVestingCommand = messageCommands({
  service: "cosmos.vesting.v1beta1.Msg",
  fields: {
    to_address: "<to> bech32 address that has no account yet",
    amount: "<coins> coins: 1000untrn, or 5uatom,1000untrn",
    end_time: "<end-time> Unix time in seconds",
  },
  messages: {
    "create-vesting-account": message(
      "CreateVestingAccount",
      "create and fund an account whose coins vest by a given time",
      {
        options: { delayed: ["--delayed", "release all coins at the end instead of evenly over time"] },
      },
    ),
    "create-permanent-locked-account": message(
      "CreatePermanentLockedAccount",
      "create and fund an account whose coins can be delegated, but never spent",
    ),
    "create-periodic-vesting-account": message(
      "CreatePeriodicVestingAccount",
      "create and fund an account whose coins vest in several periods",
      {
        takes: ["to_address", "vesting_periods"],
        fields: { vesting_periods: ["<periods-file> JSON file that lists the periods", inputs.unchecked] },
        complete: ({ vesting_periods: file, ...rest }) => ({ ...rest, ...readPeriods(inputs.textOf(file)) }),
        note: `
Each part starts when the previous part ends, the first at start_time (Unix seconds):
{"start_time": 1790000000, "periods": [{"coins": "10untrn", "length_seconds": 2592000}]}`,
      },
    ),
  },
});

/** Reads vesting periods from a file in the SDK's format. Throws a `CliError` if the file has another format. */
function readPeriods(file: string): inputs.Fields {
  try {
    const json: unknown = JSON.parse(readTextFile(file, MAX_PERIODS_FILE_BYTES));
    if (!isRecord(json) || !Array.isArray(json["periods"]))
      throw new Error('expected an object with "start_time" and "periods"');
    return {
      start_time: secondsOf(json, "start_time"),
      vesting_periods: json["periods"].map(readPeriod),
    };
  } catch (cause) {
    throw new CliError(EXIT.fatal, `cannot read the periods in ${file}: ${errorText(cause)}`, { cause });
  }
}

function readPeriod(period: unknown): JsonObject {
  if (!isRecord(period) || typeof period["coins"] !== "string")
    throw new Error('expected periods with "coins" and "length_seconds"');
  return { length: secondsOf(period, "length_seconds"), amount: [...inputs.parseCoins(period["coins"])] };
}

function secondsOf(object: Readonly<Record<string, unknown>>, name: string): string {
  const value = object[name];
  if (typeof value === "number" || typeof value === "string") return parseUint64(String(value)).toString();
  throw new Error(`${name}: expected seconds`);
}
