import { Argument, InvalidArgumentError, Option } from "commander";
import { MAX_PORT_OFFSET } from "../base/localnet-defaults.ts";
import { LOG_LEVELS, type LogLevel } from "../base/logger.ts";
import { isHostName, isPlainHttpUrl, parseDurationMs } from "../config/setting-texts.ts";
import { type HttpAccess, isOriginPattern } from "../http/http-access.ts";

export function portOffsetOption(): Option {
  return new Option("--port-offset <n>", "add this offset to every port")
    .default(0)
    .argParser(parsePortOffset);
}

export function daemonUrlOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parseUrl);
}

function parseUrl(text: string): string {
  if (isPlainHttpUrl(text)) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("expected a URL, e.g. http://127.0.0.1:9999");
}

/** Creates the options `--cors ORIGIN…` and `--no-cors`, whose value is undefined if neither is given, and false with `--no-cors`. */
export function corsOptions(): readonly Option[] {
  return [
    new Option(
      "--cors <origin...>",
      'let pages of these origins read RPC and REST responses, e.g. https://app.example, or "*" for all; default: localhost',
    ).argParser(collect(isOriginPattern, "expected an origin, e.g. https://app.example")),
    new Option("--no-cors", "do not let any page read RPC and REST responses"),
  ];
}

export function allowHostOption(): Option {
  return new Option(
    "--allow-host <name...>",
    'host names that HTTP clients may use in addition to loopback names; "*" for all',
  ).argParser(collect(isHostName, "expected a host name without scheme or port"));
}

function collect(
  isValid: (text: string) => boolean,
  expected: string,
): (text: string, previous: readonly string[] | undefined) => readonly string[] {
  return (text, previous = []) => {
    if (!isValid(text)) throw new InvalidArgumentError(expected);
    return [...previous, text];
  };
}

export interface AccessOptions {
  readonly cors?: readonly string[] | boolean;
  readonly allowHost?: readonly string[];
}

/** By default, only pages on this machine have access, because dApps run there during development. */
const DEFAULT_CORS = ["localhost"];

/** Returns the access rules for a localnet's servers. The returned `origins` apply only to the RPC and REST servers. */
export function accessOf({ cors, allowHost = [] }: AccessOptions): Required<HttpAccess> {
  const origins = typeof cors === "object" ? cors : cors === false ? [] : DEFAULT_CORS;
  return { hosts: allowHost, origins };
}

/** Creates `--log-level LEVEL` with the default `level`, or without a default if the configuration determines the level. */
export function logLevelOption(level?: LogLevel): Option {
  const option = new Option("--log-level <level>", "minimum log level").choices(LOG_LEVELS);
  return level === undefined ? option : option.default(level);
}

export function parseWhole(text: string, least: number, most: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value) || value < least || value > most) {
    throw new InvalidArgumentError(`expected an integer from ${least} to ${most}`);
  }
  return value;
}

/** Parses a height, id or count, and throws `InvalidArgumentError` unless it is a whole number below 2^64. */
export function parseUint64(text: string): bigint {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : MAX_UINT64 + 1n;
  if (value <= MAX_UINT64) return value;
  throw new InvalidArgumentError("expected an integer below 2^64");
}

const MAX_UINT64 = 2n ** 64n - 1n;

const GAS_UNITS: Readonly<Record<string, bigint>> = { "": 1n, k: 1_000n, M: 1_000_000n };

/** Parses gas with an optional unit, as in "28500", "93k" or "5M". Throws `InvalidArgumentError` on other text or below `least`. */
export function parseGas(text: string, least: bigint): bigint {
  const [, digits, unit] = /^(\d{1,12})([kM]?)$/.exec(text) ?? [];
  const gas = digits === undefined ? -1n : BigInt(digits) * (GAS_UNITS[unit ?? ""] ?? 1n);
  if (gas >= least) return gas;
  const from = least > 0n && least % 1_000n === 0n ? `${least / 1_000n}k` : `${least}`;
  throw new InvalidArgumentError(`expected a gas amount of at least ${from}, e.g. "8M", "500k" or "8000000"`);
}

/** Parses a duration above zero, such as "2m" or "1h30m", to ms. */
export function parseDuration(text: string): number {
  const durationMs = parseDurationMs(text);
  if (durationMs !== undefined && durationMs > 0) return durationMs;
  throw new InvalidArgumentError('expected a duration, e.g. "30s", "2m" or "1h30m"');
}

/** Creates `--wait DURATION`, which is undefined if not given. */
export function waitOption(): Option {
  return new Option(
    "--wait <duration>",
    "how long to wait for both chains' nodes, if the Go relayer's settings are used (default: 1m)",
  ).argParser(parseDuration);
}

function parsePortOffset(text: string): number {
  return parseWhole(text, 0, MAX_PORT_OFFSET);
}

export const DEFAULT_BLOCK_TIME_MS = 1_000;

/** Creates `--block-time MS`, which is undefined if not given. */
export function blockTimeOption(): Option {
  return new Option(
    "--block-time <ms>",
    `the minimum time between two blocks (default: ${DEFAULT_BLOCK_TIME_MS})`,
  ).argParser((text) => parseWhole(text, 50, 60_000));
}

/** Creates `--keep-blocks N`. Without this option, a node uses its default. */
export function keepBlocksOption(): Option {
  return new Option(
    "--keep-blocks <n>",
    "how many recent blocks a chain stores; 0 stores all (default: 100000 on disk, 10000 in memory). States are stored only for the last 1000 blocks",
  ).argParser((text) => parseWhole(text, 0, 1_000_000_000));
}

/** Default for {@link powersOption}: one validator with voting power 10. */
export const DEFAULT_POWERS: readonly bigint[] = [10n];

/** Creates an option for comma-separated voting powers, such as "10,3,3", which is undefined if not given. */
export function powersOption(flag: string, description: string): Option {
  return new Option(`${flag} <powers>`, `${description}, comma-separated (default: 10)`).argParser(
    parsePowers,
  );
}

function parsePowers(text: string): readonly bigint[] {
  const powers = text.split(",").map((part) => BigInt(parseWhole(part, 1, 1_000_000_000)));
  if (powers.length > 200) throw new InvalidArgumentError("expected at most 200 validators");
  return powers;
}

export function queryIdArgument(): Argument {
  return new Argument("<query-id>", "a registered query's id").argParser(parseQueryId);
}

function parseQueryId(text: string): bigint {
  try {
    return parseUint64(text);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new InvalidArgumentError(`failed to parse query id: ${error.message}`);
  }
}
