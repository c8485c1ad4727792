import { CliError, errorText, EXIT } from "../../../platform/base/errors.ts";
import { isRecord, type JsonObject } from "../../../platform/base/json.ts";
import { readTextFile } from "../../../platform/base/read-text.ts";
import { parseUint64 } from "../../../platform/cli/options.ts";
import { type Fields, parseCoins, textOf, unchecked } from "../command-inputs.ts";
import { message, messageCommands } from "../module-tx.ts";

/** Upper bound that detects a wrong file; no chain accepts a transaction of this size. */
const MAX_PERIODS_FILE_BYTES = 1024 * 1024;

/** `relaywatch tx vesting`. Uses the same names and arguments as a Cosmos SDK binary. */
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
      "fund an account whose coins vest until a time",
      {
        options: { delayed: ["--delayed", "vest all coins at the end instead of evenly from now on"] },
      },
    ),
    "create-permanent-locked-account": message(
      "CreatePermanentLockedAccount",
      "fund an account whose coins can be delegated, but never spent",
    ),
    "create-periodic-vesting-account": message(
      "CreatePeriodicVestingAccount",
      "fund an account whose coins vest in parts",
      {
        takes: ["to_address", "vesting_periods"],
        fields: { vesting_periods: ["<periods-file> JSON file with the parts", unchecked] },
        complete: ({ vesting_periods: file, ...rest }) => ({ ...rest, ...readPeriods(textOf(file)) }),
        note: `
Each part starts when the previous part ends, the first at start_time (Unix seconds):
{"start_time": 1790000000, "periods": [{"coins": "10untrn", "length_seconds": 2592000}]}`,
      },
    ),
  },
});

/** Reads a file in the SDK's format. Throws `CliError` if the content has any other format. */
function readPeriods(file: string): Fields {
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
  return { length: secondsOf(period, "length_seconds"), amount: [...parseCoins(period["coins"])] };
}

function secondsOf(object: Readonly<Record<string, unknown>>, name: string): string {
  const value = object[name];
  if (typeof value === "number" || typeof value === "string") return parseUint64(String(value)).toString();
  throw new Error(`${name}: expected seconds`);
}
