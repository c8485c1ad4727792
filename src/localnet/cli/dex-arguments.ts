import { InvalidArgumentError } from "commander";
import { errorText } from "../../platform/base/errors.ts";
import { parseGoBool, parseGoInteger, parseInt256 } from "../../platform/base/integers.ts";
import { parsePrecDec } from "../../platform/base/decimal.ts";
import { ErrInvalidOrderType } from "../chain/modules/dex/errors.ts";
import type { Timestamp } from "../../cosmos/proto/gen/google/protobuf/timestamp.ts";
import { LimitOrderType, type MultiHopRoute } from "../../cosmos/proto/gen/neutron/dex/tx.ts";
import { parsing } from "./command-inputs.ts";

/** Parses an amount in any Go integer notation, such as 10, 0x10 or 010 (octal 8), and returns decimal digits. */
export function parseAmount(text: string): string {
  return quoting(text, () => parseInt256(text).toString());
}

/** Parses comma-separated amounts, such as "10,20". */
export function parseAmounts(text: string): string[] {
  return text.split(",").map(parseAmount);
}

/** Parses a tick index. A negative index must be in brackets, such as "[-5]", because it would otherwise be parsed as an option. */
export function parseTick(text: string): bigint {
  const digits = text.replace(/^\[(.*)\]$/, "$1");
  return quoting(text, () => parseGoInteger(digits, { signed: true, bits: 64, base: 10 }));
}

/** Parses tick indexes. Brackets may enclose the whole list, as in "[-5,3]", or individual ticks, as in "[-5],3". */
export function parseTicks(text: string): bigint[] {
  const isOneList = /^\[[^[\]]*\]$/.test(text);
  return (isOneList ? text.slice(1, -1) : text).split(",").map(parseTick);
}

/** Parses an unsigned 64-bit integer, e.g. a fee or an id. */
export function parseFee(text: string): bigint {
  return quoting(text, () => parseGoInteger(text, { signed: false, bits: 64, base: 10 }));
}

/** Parses comma-separated fees, such as "1,5". */
export function parseFees(text: string): bigint[] {
  return text.split(",").map(parseFee);
}

/** Parses a boolean in one of Go's notations, e.g. true, false, t, f, 1 or 0. */
export function parseBoolean(text: string): boolean {
  return quoting(text, () => parseGoBool(text));
}

/** Parses comma-separated booleans, such as "true,false". */
export function parseBooleans(text: string): boolean[] {
  return text.split(",").map(parseBoolean);
}

/** Parses a decimal with at most 27 fractional digits. Returns the price times 10^27 as decimal digits. */
export function parsePrice(text: string): string {
  return quoting(text, () => parsePrecDec(text).toString());
}

/** Parses swap routes, such as "A,B;A,C,B". Semicolons separate the routes, and commas separate the denominations in a route. */
export function parseRoutes(text: string): MultiHopRoute[] {
  return text.split(";").map((route) => ({ hops: route.split(",") }));
}

/** Parses the name of a limit order type. If the name is unknown, throws `InvalidArgumentError` with dex error 1138's message. */
export function parseOrderType(text: string): LimitOrderType {
  const found = Object.entries(LimitOrderType).find(([name]) => name === text);
  if (found !== undefined) return found[1];
  throw new InvalidArgumentError(ErrInvalidOrderType(text).message);
}

const EXPIRATION = /^(\d\d)\/(\d\d)\/(\d{4}) (\d\d:\d\d:\d\d)$/;

/** Parses "MM/DD/YYYY HH:MM:SS" in UTC. Throws `InvalidArgumentError` with the message of dex error 1135. */
export function parseExpiration(text: string): Timestamp {
  const [, month, day, year, time] = EXPIRATION.exec(text) ?? [];
  const iso = `${year}-${month}-${day}T${time}`;
  const epochMs = Date.parse(`${iso}Z`);
  // Date.parse accepts dates such as February 30 and hour 24, and rolls them over to the next day.
  if (!Number.isNaN(epochMs) && new Date(epochMs).toISOString().startsWith(iso)) {
    return { seconds: BigInt(epochMs) / 1000n, nanos: 0 };
  }
  throw new InvalidArgumentError(
    "Time string must be formatted as MM/dd/yyyy HH:mm:ss (ex. 02/05/2023 15:34:56)",
  );
}

function quoting<T>(text: string, parse: () => T): T {
  return parsing(parse, (error) => `${JSON.stringify(text)}: ${errorText(error)}`);
}
