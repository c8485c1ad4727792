import { fromBase64 } from "../../base/bytes.ts";
import { isRecord } from "../../base/json.ts";
import { parseRfc3339Ns } from "../../base/rfc3339.ts";
import { ClientError } from "../errors.ts";

const INT64_MAX = 0x7fff_ffff_ffff_ffffn;

/** A value out of an answer and where it stood: the readers below check it and throw `bad-answer` naming the place. */
export interface WireValue {
  readonly value: unknown;
  readonly where: string;
  readonly endpoint: string;
}

/** Starts reading an answer. */
export function wireValue(value: unknown, where: string, endpoint: string): WireValue {
  return { value, where, endpoint };
}

/** The field of an object; a missing one reads as undefined. */
export function field(parent: WireValue, name: string): WireValue {
  if (!isRecord(parent.value)) throw unfit(parent, "an object");
  return { value: parent.value[name], where: `${parent.where}.${name}`, endpoint: parent.endpoint };
}

/** Whether a field is there and not null. */
export function isPresent(wire: WireValue): boolean {
  return wire.value !== undefined && wire.value !== null;
}

/** The entries of a list; null and missing count as empty, as Go prints a nil slice. */
export function items(wire: WireValue): readonly WireValue[] {
  if (!isPresent(wire)) return [];
  if (!Array.isArray(wire.value)) throw unfit(wire, "a list");
  return wire.value.map((value: unknown, index) => ({
    value,
    where: `${wire.where}[${index}]`,
    endpoint: wire.endpoint,
  }));
}

/** A text; missing and null count as empty. */
export function text(wire: WireValue): string {
  if (!isPresent(wire)) return "";
  if (typeof wire.value !== "string") throw unfit(wire, "a text");
  return wire.value;
}

/** A truth value; missing counts as false. */
export function flag(wire: WireValue): boolean {
  if (!isPresent(wire)) return false;
  if (typeof wire.value !== "boolean") throw unfit(wire, "true or false");
  return wire.value;
}

/** A 64-bit integer, as text or as a number that holds it exactly; missing counts as 0, as Go omits zeros. */
export function int64(wire: WireValue): bigint {
  const { value } = wire;
  if (!isPresent(wire)) return 0n;
  const isInteger =
    (typeof value === "string" && /^-?\d{1,19}$/.test(value)) ||
    (typeof value === "number" && Number.isSafeInteger(value));
  const parsed = isInteger ? BigInt(value) : INT64_MAX + 1n;
  if (parsed > INT64_MAX || parsed < -INT64_MAX - 1n) throw unfit(wire, "a 64-bit integer");
  return parsed;
}

/** A 32-bit unsigned integer; missing counts as 0. */
export function uint32(wire: WireValue): number {
  const value = int64(wire);
  if (value < 0n || value > 0xffff_ffffn) throw unfit(wire, "a 32-bit unsigned integer");
  return Number(value);
}

/** Base64 text to bytes; missing and null count as empty. */
export function base64Bytes(wire: WireValue): Uint8Array {
  return decoded(wire, "base64", fromBase64);
}

/** An RFC 3339 time to nanoseconds since the epoch. */
export function timeNs(wire: WireValue): bigint {
  return decoded(wire, "an RFC 3339 time", parseRfc3339Ns);
}

function decoded<T>(wire: WireValue, expected: string, decode: (source: string) => T): T {
  const source = text(wire);
  try {
    return decode(source);
  } catch {
    throw unfit(wire, expected);
  }
}

/** The error of a field that is not `expected`; never shows the value. */
export function unfit(wire: WireValue, expected: string): ClientError {
  return new ClientError(
    { code: "bad-answer", endpoint: wire.endpoint, where: wire.where },
    `${wire.endpoint}: ${wire.where} is not ${expected}`,
  );
}
