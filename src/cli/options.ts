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
export function parseWhole(text: string, least: number, most: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value) || value < least || value > most) {
    throw new InvalidArgumentError(`a whole number from ${least} to ${most} was expected`);
  }
  return value;
}

function parsePortOffset(text: string): number {
  return parseWhole(text, 0, MAX_PORT_OFFSET);
}
