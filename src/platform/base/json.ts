import { fromBase64 } from "./bytes.ts";
import { attempt } from "./errors.ts";
import { parseRfc3339Ns } from "./time.ts";

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

/** Returns true for an object that is neither null nor an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value at a path of member names and list indexes, or undefined if there is none. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      Array.isArray(inner) ? inner[Number(key)] : isRecord(inner) ? inner[String(key)] : undefined,
    value,
  );
}

/** Parses JSON, or returns undefined if the text is invalid. */
export function parseJson(text: string): unknown {
  return attempt((): unknown => JSON.parse(text));
}

/** Like `JSON.stringify`, but formats a bigint as a decimal string. */
export function stringifyJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, inner: unknown) => (typeof inner === "bigint" ? inner.toString() : inner),
    indent,
  );
}

/** Creates the error for an invalid field. `expected` describes a valid value, for example "a 64-bit integer". */
type FieldError = (path: string, expected: string) => Error;

const INT64_MAX = 0x7fff_ffff_ffff_ffffn;
const UINT64_MAX = 0xffff_ffff_ffff_ffffn;

/**
 * An unchecked value in a JSON document, with its path. The methods check the value and throw the error that `error` creates, whose
 * message should contain the path but never the value.
 */
export class JsonField {
  readonly value: unknown;
  /** Path from the document's root, for example `result.header.height` or `txs[3].hash`. */
  readonly path: string;
  readonly error: FieldError;

  /** `path` is the empty string for the document's root. */
  constructor(value: unknown, path: string, error: FieldError) {
    this.value = value;
    this.path = path;
    this.error = error;
  }

  /** Returns a member of an object; an absent member has the value undefined. Throws if this field is not an object. */
  member(name: string): JsonField {
    if (!isRecord(this.value)) throw this.error(this.path, "an object");
    const path = this.path === "" ? name : `${this.path}.${name}`;
    return new JsonField(this.value[name], path, this.error);
  }

  /** Returns true if the value is neither absent nor null. */
  isPresent(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  /** Returns this field, or throws if it is absent. (Other methods treat an absent field as Go's zero value.) */
  required(): JsonField {
    if (!this.isPresent()) throw this.error(this.path, "present");
    return this;
  }

  /** Returns this field, or an empty object if it is absent or null, because Go prints a nil pointer as null. */
  orEmpty(): JsonField {
    return this.isPresent() ? this : new JsonField({}, this.path, this.error);
  }

  /** Returns an array's elements; absent and null mean an empty array, since Go prints a nil slice as null. */
  elements(): readonly JsonField[] {
    if (!this.isPresent()) return [];
    if (!Array.isArray(this.value)) throw this.error(this.path, "a list");
    return this.value.map(
      (value: unknown, index) => new JsonField(value, `${this.path}[${index}]`, this.error),
    );
  }

  /** Returns a string; absent and null mean "". */
  asText(): string {
    if (!this.isPresent()) return "";
    if (typeof this.value !== "string") throw this.error(this.path, "a string");
    return this.value;
  }

  /** Returns a boolean; absent and null mean false. */
  asBoolean(): boolean {
    if (!this.isPresent()) return false;
    if (typeof this.value !== "boolean") throw this.error(this.path, "true or false");
    return this.value;
  }

  /** Returns a signed 64-bit integer from decimal text or from a number that represents it exactly; absent means 0. */
  asInt64(): bigint {
    return this.#asInteger(-INT64_MAX - 1n, INT64_MAX, "a 64-bit integer");
  }

  /** Returns a block height from decimal text or from a number that represents it exactly; absent means 0. */
  asHeight(): bigint {
    return this.#asInteger(0n, INT64_MAX, "a block height");
  }

  /** Returns an unsigned 64-bit integer from decimal text or from a number that represents it exactly; absent means 0. */
  asUint64(): bigint {
    return this.#asInteger(0n, UINT64_MAX, "an unsigned 64-bit integer");
  }

  /** Returns an unsigned 32-bit integer; absent means 0. */
  asUint32(): number {
    return Number(this.#asInteger(0n, 0xffff_ffffn, "a 32-bit unsigned integer"));
  }

  /** Decodes base64; absent and null mean empty. */
  asBase64(): Uint8Array {
    return this.#decoded("base64", fromBase64);
  }

  /** Parses an RFC 3339 time to nanoseconds since the Unix epoch, and throws if it is absent. */
  asTimeNs(): bigint {
    return this.#decoded("an RFC 3339 time", parseRfc3339Ns);
  }

  #asInteger(least: bigint, most: bigint, expected: string): bigint {
    const integer = this.isPresent() ? toInteger(this.value) : 0n;
    if (integer === undefined || integer < least || integer > most) throw this.error(this.path, expected);
    return integer;
  }

  #decoded<T>(expected: string, decode: (text: string) => T): T {
    const text = this.asText();
    try {
      return decode(text);
    } catch {
      throw this.error(this.path, expected);
    }
  }
}

/**
 * Converts a safe integer, a bigint, or decimal text of up to 20 digits (the length of 2^64). Returns undefined for all other
 * values.
 */
function toInteger(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "string") return /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}
