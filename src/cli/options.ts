import { InvalidArgumentError, Option } from "commander";
import { MAX_PORT_OFFSET } from "../../daemons/localnet/ports.ts";
import { LOG_LEVELS, type LogLevel } from "../ops/logger.ts";

/** `--port-offset N`: moves every port. */
export function portOffsetOption(): Option {
  return new Option("--port-offset <n>", "add this to every port").default(0).argParser(parsePortOffset);
}

/** `--log-level LEVEL`, with the default that suits the command. */
export function logLevelOption(level: LogLevel): Option {
  return new Option("--log-level <level>", "least level of log lines on stderr")
    .choices(LOG_LEVELS)
    .default(level);
}

/** A whole number of an option, from `least` to `most`. */
function parseWhole(text: string, least: number, most: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value) || value < least || value > most) {
    throw new InvalidArgumentError(`a whole number from ${least} to ${most} was expected`);
  }
  return value;
}

/** A height, id or count of an option or argument: any uint64. */
export function parseUint64(text: string): bigint {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : MAX_UINT64 + 1n;
  if (value <= MAX_UINT64) return value;
  throw new InvalidArgumentError("a whole number below 2^64 was expected");
}

const MAX_UINT64 = 2n ** 64n - 1n;

function parsePortOffset(text: string): number {
  return parseWhole(text, 0, MAX_PORT_OFFSET);
}

/** `--block-time MS`: shortest time between two blocks, ms. */
export function blockTimeOption(): Option {
  return new Option("--block-time <ms>", "shortest time between two blocks")
    .default(1_000)
    .argParser((text) => parseWhole(text, 50, 60_000));
}

/** Voting powers such as "10,3,3"; one validator of power 10 unless given. */
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
