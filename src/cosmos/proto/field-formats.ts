import {
  type DescEnumValue,
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { getOrCreate } from "../../platform/base/caches.ts";
import {
  formatDec18,
  formatPrecDec,
  parseDec18,
  parsePrecDec,
  parseWirePrecDec,
} from "../../platform/base/decimal.ts";
import { unreachable } from "../../platform/base/errors.ts";
import { parseGoBigInt, parseInt256 } from "../../platform/base/integers.ts";
import { extensionOf } from "./registry.ts";

/** The properties of a field's JSON format that do not follow from its wire type. */
export interface FieldFormat {
  /** Format of the number in a string or bytes field, or undefined if the field does not contain a number. */
  readonly number: NumberFormat | undefined;
  /** How bytes are printed: "hex" is upper-case hex, "raw" is the JSON text that the bytes contain, and undefined is base64. */
  readonly bytes: "hex" | "raw" | undefined;
  /**
   * True if the Go field is not a pointer (`gogoproto.nullable = false`). In this case, a missing message is printed and written
   * with its defaults.
   */
  readonly neverNull: boolean;
  /** The format for amino signing (`amino` options). */
  readonly amino: AminoFormat;
  /** True if the Go field is a pointer to a number. In this case, a missing number is printed as null instead of "0". */
  readonly nullWhenEmpty: boolean;
  /** True if a query parameter contains the message as proto JSON. */
  readonly queryJson: boolean;
}

interface AminoFormat {
  /** `amino.field_name`, or the field's name. */
  readonly name: string;
  /** The option `amino.encoding`, such as "legacy_coins". */
  readonly encoding: string | undefined;
  /** `amino.dont_omitempty`: the field is written even with its default value. */
  readonly always: boolean;
}

/** Number formats by the value of `cosmos_proto.scalar`. */
const NUMBER_FORMATS: Readonly<Record<string, NumberFormat>> = { "cosmos.Dec": "dec", "cosmos.Int": "int" };
/** Values of `relaywatch.JsonForm` in the definitions. */
const JSON_FORM_HEX = 1;
const JSON_FORM_RAW = 2;
// Cache of field formats. Each read of an option decodes it again, so each field's format is read only once.
const formats = new WeakMap<DescField, FieldFormat>();

/** Returns the format declared by a field's options. */
export function formatOf(field: DescField): FieldFormat {
  return getOrCreate(formats, field, readFormat);
}

const goJson = new WeakMap<DescMessage, boolean>();

/** Returns true if Go's `encoding/json` prints a message and everything in it. */
export function isGoJson(message: DescMessage): boolean {
  return getOrCreate(goJson, message, () => isMarked(message, "go_json"));
}

export function jsonNameOf(value: DescEnumValue): string {
  const name = optionOf(value, "relaywatch.json_name");
  return typeof name === "string" && name !== "" ? name : value.name;
}

function readFormat(field: DescField): FieldFormat {
  const scalar = optionOf(field, "cosmos_proto.scalar");
  const isPrecDec = isMarked(field, "prec_dec");
  const jsonFormat = optionOf(field, "relaywatch.json_form");
  return {
    number: isPrecDec ? "prec-dec" : typeof scalar === "string" ? NUMBER_FORMATS[scalar] : undefined,
    bytes: jsonFormat === JSON_FORM_HEX ? "hex" : jsonFormat === JSON_FORM_RAW ? "raw" : undefined,
    amino: readAmino(field),
    neverNull: isMarked(field, "never_null"),
    nullWhenEmpty: isMarked(field, "null_when_empty"),
    queryJson: isMarked(field, "query_json"),
  };
}

function isMarked(described: DescField | DescMessage, name: string): boolean {
  return optionOf(described, `relaywatch.${name}`) === true;
}

/**
 * Returns an option's value, or undefined if the option is not set. First checks whether the option is set. Few options are set,
 * and `getOption` would build a message for each default value.
 */
function optionOf(described: DescEnumValue | DescField | DescMessage, name: string): unknown {
  const option = extensionOf(name);
  return hasOption(described, option) ? getOption(described, option) : undefined;
}

function readAmino(field: DescField): AminoFormat {
  const [name, encoding] = [optionOf(field, "amino.field_name"), optionOf(field, "amino.encoding")];
  return {
    name: typeof name === "string" && name !== "" ? name : field.name,
    encoding: typeof encoding === "string" && encoding !== "" ? encoding : undefined,
    always: optionOf(field, "amino.dont_omitempty") === true,
  };
}

/** How digits on the wire encode a number: "dec" is the decimal × 10^18, "prec-dec" × 10^27, "int" the integer itself. */
type NumberFormat = "dec" | "prec-dec" | "int";

/** Maximum number of bits in the SDK's `LegacyDec`. */
const MAX_DEC_BITS = 315;

/** Throws an `Error` with Go's message if Go's number types cannot decode the digits on the wire. */
export function checkNumber(wire: string, format: NumberFormat): void {
  if (wire === "") return;
  if (format === "int") parseInt256(wire);
  else if (format === "prec-dec") parseWirePrecDec(wire);
  else {
    const value = parseGoBigInt(wire);
    const bits = (value < 0n ? -value : value).toString(2).length;
    if (bits > MAX_DEC_BITS) throw new Error(`decimal out of range; got: ${bits}, max: ${MAX_DEC_BITS}`);
  }
}

/**
 * Converts digits on the wire to a JSON string: `500000000000000000` as "dec" becomes "0.500000000000000000", and empty input "0".
 * Integers may use Go's notations, so "010" is 8. Throws if the input is not an integer.
 */
export function numberToJson(wire: string, format: NumberFormat): string {
  if (wire === "") return "0";
  const value = integerOf(wire);
  if (format === "dec") return formatDec18(value);
  return format === "prec-dec" ? formatPrecDec(value) : value.toString();
}

/** Converts a JSON string to digits on the wire. Throws if the string is not a number in this format. */
export function numberFromJson(text: string, format: NumberFormat): string {
  if (format === "dec") return parseDec18(text).toString();
  if (format === "prec-dec") return parsePrecDec(text).toString();
  return integerOf(text).toString();
}

function integerOf(text: string): bigint {
  try {
    return parseGoBigInt(text);
  } catch {
    throw new Error(`not an integer: ${JSON.stringify(text.slice(0, 80))}`);
  }
}

/**
 * The value of a Timestamp or Duration. A Timestamp is the seconds since 1970 plus `nanos`, which is never negative. In a
 * Duration, both parts have the same sign.
 */
export interface SecondsAndNanos {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** Returns the content of a Timestamp or Duration. */
export function timeIn(message: ReflectMessage): SecondsAndNanos {
  const [seconds, nanos] = [fieldValue(message, "seconds"), fieldValue(message, "nanos")];
  if (typeof seconds === "bigint" && typeof nanos === "number") return { seconds, nanos };
  return unreachable("a time without seconds and nanos");
}

/** An Any with its type URL as written by the chain. */
export interface PackedMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** Returns the type URL and the bytes in an Any. */
export function packedIn(message: ReflectMessage): PackedMessage {
  const [typeUrl, value] = [fieldValue(message, "type_url"), fieldValue(message, "value")];
  if (typeof typeUrl === "string" && value instanceof Uint8Array) return { typeUrl, value };
  return unreachable("an Any without type_url and value");
}

export function fieldValue(message: ReflectMessage, name: string): unknown {
  return message.get(message.fields.find((each) => each.name === name) ?? unreachable(`no field ${name}`));
}

/** 0001-01-01T00:00:00Z: the zero value of Go's `time.Time` and the earliest Timestamp. */
export const GO_ZERO_TIME: SecondsAndNanos = { seconds: -62_135_596_800n, nanos: 0 };

// Limits and formats of google/protobuf/timestamp.proto and duration.proto: 9999-12-31T23:59:59Z, and ±10,000 years.
const LAST_SECOND = 253_402_300_799n;
const MAX_DURATION_SECONDS = 315_576_000_000n;
const RFC3339 = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/;
const SECONDS = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;

/**
 * Formats a timestamp like Go's proto JSON: RFC 3339 in UTC with 0, 3, 6 or 9 fractional digits. Throws outside the years 1 to
 * 9999.
 */
export function timestampToText(time: SecondsAndNanos): string {
  if (time.seconds < GO_ZERO_TIME.seconds || time.seconds > LAST_SECOND || !isFraction(time.nanos)) {
    throw new Error("not a timestamp: outside the years 1 to 9999");
  }
  const whole = new Date(Number(time.seconds) * 1000).toISOString().slice(0, 19);
  return `${whole}${fraction(time.nanos)}Z`;
}

/** Parses an RFC 3339 time with any UTC offset and at most nine fractional digits. Throws for any other format. */
export function timestampFromText(text: string): SecondsAndNanos {
  const match = RFC3339.exec(text);
  const zone = match?.[4]?.toUpperCase() ?? "";
  // Parse the fraction separately, because Date has only millisecond precision.
  const epochMs = match === null ? Number.NaN : Date.parse(`${match[1]}T${match[2]}${zone}`);
  if (match === null || Number.isNaN(epochMs)) throw new Error("not a timestamp: expected RFC 3339");
  return { seconds: BigInt(epochMs / 1000), nanos: Number((match[3] ?? "").padEnd(9, "0")) };
}

/**
 * Formats a duration like Go's proto JSON: seconds with 0, 3, 6 or 9 decimals, then "s". Throws beyond ±10,000 years and if the two
 * parts have different signs.
 */
export function durationToText(duration: SecondsAndNanos): string {
  const { seconds, nanos } = duration;
  const negative = seconds < 0n || nanos < 0;
  const magnitude = negative ? { seconds: -seconds, nanos: -nanos } : duration;
  if (magnitude.seconds < 0n || magnitude.seconds > MAX_DURATION_SECONDS || !isFraction(magnitude.nanos)) {
    throw new Error("not a duration: out of range, or seconds and nanoseconds have different signs");
  }
  return `${negative ? "-" : ""}${magnitude.seconds}${fraction(magnitude.nanos)}s`;
}

const UNITS_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  ms: 1_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const WHOLE_UNITS = /^(\d{1,12}(?:ns|us|µs|ms|h|m|s))+$/;

/** Parses a duration of whole numbers with Go's units, such as "1h30m". Returns undefined for any other format. */
function durationFromUnits(text: string): SecondsAndNanos | undefined {
  if (!WHOLE_UNITS.test(text)) return undefined;
  let sum = 0n;
  for (const [, count = "", unit = ""] of text.matchAll(/(\d+)(\D+)/g))
    sum += BigInt(count) * (UNITS_NS[unit] ?? 1_000_000_000n);
  return { seconds: sum / 1_000_000_000n, nanos: Number(sum % 1_000_000_000n) };
}

/**
 * Parses a duration, which is either a number of seconds with at most nine fractional digits and the suffix "s" or, as in Go, whole
 * numbers with units, such as "1h30m". Throws on any other format and beyond ±10,000 years.
 */
export function durationFromText(text: string): SecondsAndNanos {
  const match = SECONDS.exec(text);
  const units = match === null ? durationFromUnits(text) : undefined;
  if (units !== undefined && units.seconds <= MAX_DURATION_SECONDS) return units;
  const seconds = BigInt(match?.[2] ?? "0");
  if (match === null || seconds > MAX_DURATION_SECONDS)
    throw new Error('not a duration: expected the form "1.5s"');
  const nanos = Number((match[3] ?? "").padEnd(9, "0"));
  // Use `0 - nanos` instead of `-nanos`, because zero must not become -0.
  return match[1] === "-" ? { seconds: -seconds, nanos: 0 - nanos } : { seconds, nanos };
}

function isFraction(nanos: number): boolean {
  return nanos >= 0 && nanos < 1_000_000_000;
}

function fraction(nanos: number): string {
  if (nanos === 0) return "";
  return `.${nanos
    .toString()
    .padStart(9, "0")
    .replace(/(?:000){1,2}$/, "")}`;
}
