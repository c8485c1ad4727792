import { LOG_LEVELS, type LogLevel } from "../base/logger.ts";
import { InvalidArgumentError, Option } from "commander";
import { MAX_PORT_OFFSET } from "../../daemons/localnet/ports.ts";

/** `--port-offset N`. */
export function portOffsetOption(): Option {
  return new Option("--port-offset <n>", "add this to every port").default(0).argParser(parsePortOffset);
}

/** `--log-level LEVEL`. `level` is the default. */
export function logLevelOption(level: LogLevel): Option {
  return new Option("--log-level <level>", "minimum level of log lines on stderr")
    .choices(LOG_LEVELS)
    .default(level);
}

/** Parses an integer option from `least` to `most`. */
function parseWhole(text: string, least: number, most: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value) || value < least || value > most) {
    throw new InvalidArgumentError(`a whole number from ${least} to ${most} was expected`);
  }
  return value;
}

/** Parses a height, id or count. Throws `InvalidArgumentError` above 2^64 - 1. */
export function parseUint64(text: string): bigint {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : MAX_UINT64 + 1n;
  if (value <= MAX_UINT64) return value;
  throw new InvalidArgumentError("a whole number below 2^64 was expected");
}

const MAX_UINT64 = 2n ** 64n - 1n;

function parsePortOffset(text: string): number {
  return parseWhole(text, 0, MAX_PORT_OFFSET);
}

/** `--block-time MS`. */
export function blockTimeOption(): Option {
  return new Option("--block-time <ms>", "minimum time between two blocks")
    .default(1_000)
    .argParser((text) => parseWhole(text, 50, 60_000));
}

/** `--keep-blocks N`. Without the option, the node chooses. */
export function keepBlocksOption(): Option {
  return new Option(
    "--keep-blocks <n>",
    "recent blocks that a chain keeps, 0 for all (default: 100000 on disk, 10000 in memory)",
  ).argParser((text) => parseWhole(text, 0, 1_000_000_000));
}

/** Option with a comma-separated list of voting powers: "10,3,3". Default: one validator with power 10. */
export function powersOption(flag: string, description: string): Option {
  return new Option(`${flag} <powers>`, `${description}, comma-separated`)
    .default([10n], "10")
    .argParser(parsePowers);
}

function parsePowers(text: string): readonly bigint[] {
  const powers = text.split(",").map((part) => BigInt(parseWhole(part, 1, 1_000_000_000)));
  if (powers.length > 200) throw new InvalidArgumentError("at most 200 validators were expected");
  return powers;
}
