import { fromBase64 } from "./bytes.ts";
import { parseRfc3339Ns } from "./time.ts";

/** Any JSON value. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Whether a value is an object, and neither null nor an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `JSON.stringify` that formats a bigint as a decimal string. */
export function stringifyJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, inner: unknown) => (typeof inner === "bigint" ? inner.toString() : inner),
    indent,
  );
}

const INT64_MAX = 0x7fff_ffff_ffff_ffffn;
const UINT64_MAX = 0xffff_ffff_ffff_ffffn;

/** Creates the error for a field: `path` names it, `expected` says what it should be ("a 64-bit integer"). */
type FieldError = (path: string, expected: string) => Error;

/**
 * An unchecked value from a JSON document, with its path. The functions below check it and throw the error that `error`
 * creates; that error should name the path and never the value.
 */
export interface JsonField {
  readonly value: unknown;
  /** Path from the document's root: `result.header.height`, `txs[3].hash`. */
  readonly path: string;
  readonly error: FieldError;
}

/** Returns a member of an object; an absent member has the value undefined. Throws when `parent` is not an object. */
export function member(parent: JsonField, name: string): JsonField {
  if (!isRecord(parent.value)) throw parent.error(parent.path, "an object");
  const path = parent.path === "" ? name : `${parent.path}.${name}`;
  return { value: parent.value[name], path, error: parent.error };
}

/** Whether a field is neither absent nor null. */
export function isPresent(field: JsonField): boolean {
  return field.value !== undefined && field.value !== null;
}

/** Returns the field when it is present. The functions below treat an absent field as Go's zero value. */
export function required(field: JsonField): JsonField {
  if (!isPresent(field)) throw field.error(field.path, "present");
  return field;
}

/** Returns the elements of an array. Absent and null mean empty, since Go prints a nil slice as null. */
export function elements(field: JsonField): readonly JsonField[] {
  if (!isPresent(field)) return [];
  if (!Array.isArray(field.value)) throw field.error(field.path, "a list");
  return field.value.map((value: unknown, index) => ({
    value,
    path: `${field.path}[${index}]`,
    error: field.error,
  }));
}

/** Returns a string; absent and null mean "". */
export function asText(field: JsonField): string {
  if (!isPresent(field)) return "";
  if (typeof field.value !== "string") throw field.error(field.path, "a string");
  return field.value;
}

/** Returns a boolean; absent and null mean false. */
export function asBoolean(field: JsonField): boolean {
  if (!isPresent(field)) return false;
  if (typeof field.value !== "boolean") throw field.error(field.path, "true or false");
  return field.value;
}

/** Returns a signed 64-bit integer, from decimal text or from a number that holds it exactly; absent means 0. */
export function asInt64(field: JsonField): bigint {
  const parsed = asInteger(field);
  if (parsed === undefined || parsed > INT64_MAX || parsed < -INT64_MAX - 1n)
    throw field.error(field.path, "a 64-bit integer");
  return parsed;
}

/** Returns an unsigned 64-bit integer, from decimal text or from a number that holds it exactly; absent means 0. */
export function asUint64(field: JsonField): bigint {
  const parsed = asInteger(field);
  if (parsed === undefined || parsed < 0n || parsed > UINT64_MAX)
    throw field.error(field.path, "an unsigned 64-bit integer");
  return parsed;
}

/** Returns an unsigned 32-bit integer; absent means 0. */
export function asUint32(field: JsonField): number {
  const parsed = asInteger(field);
  if (parsed === undefined || parsed < 0n || parsed > 0xffff_ffffn)
    throw field.error(field.path, "a 32-bit unsigned integer");
  return Number(parsed);
}

/** Decodes base64; absent and null mean empty. */
export function asBase64(field: JsonField): Uint8Array {
  return decoded(field, "base64", fromBase64);
}

/** Parses an RFC 3339 time to nanoseconds since the Unix epoch. Throws when it is absent. */
export function asTimeNs(field: JsonField): bigint {
  return decoded(field, "an RFC 3339 time", parseRfc3339Ns);
}

/** The integer, 0 when absent, or undefined when the value is none. At most 20 digits, the length of 2^64. */
function asInteger(field: JsonField): bigint | undefined {
  const { value } = field;
  if (!isPresent(field)) return 0n;
  if (typeof value === "string") return /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

function decoded<T>(field: JsonField, expected: string, decode: (text: string) => T): T {
  const text = asText(field);
  try {
    return decode(text);
  } catch {
    throw field.error(field.path, expected);
  }
}
