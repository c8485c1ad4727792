import { type DescField, type DescMessage, getOption, ScalarType } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  reflect,
  type ReflectMessage,
} from "@bufbuild/protobuf/reflect";
import { Buffer } from "node:buffer";
import { compareBytes, fromUtf8, toBase64, utf8 } from "../../platform/base/bytes.ts";
import { errorText } from "../../platform/base/errors.ts";
import { type GoJson, parseGoJson } from "../../platform/base/go-json.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import { decodeByDescriptor } from "./wire-fields.ts";
import {
  extensionOf,
  ProtoError,
  requireMessage,
  requireMessageByTypeUrl,
  CANONICAL_CHAIN_NAME,
  typeNameOf,
} from "./registry.ts";
import {
  formatOf,
  numberToJson,
  packedIn,
  type PackedMessage,
  type SecondsAndNanos,
  timeIn,
  timestampToText,
} from "./field-formats.ts";

/**
 * Maximum nesting depth, including the contents of Any. The decoder's limit is not sufficient, because the decoder starts counting
 * again for each Any.
 */
const MAX_DEPTH = 100;
/** Maximum duration, because Go stores durations as int64 nanoseconds. */
const MAX_DURATION_SECONDS = 9_223_372_035n;

interface AminoContext {
  readonly chainName: string;
  readonly depth: number;
}

/**
 * Converts an encoded message to the value that the SDK signs in SIGN_MODE_LEGACY_AMINO_JSON (`x/tx/signing/aminojson`), according
 * to the `amino` options in the definitions. Omits fields with their default value, unless `dont_omitempty` is set. 64-bit integers
 * are strings, enums are numbers, and durations are in nanoseconds. Throws ProtoError `no-amino-json` for messages that the SDK
 * cannot sign, i.e. messages with a map, a oneof without amino names, or a missing message with `dont_omitempty`.
 */
export function messageToAminoJson(
  typeName: string,
  bytes: Uint8Array,
  chainName: string = CANONICAL_CHAIN_NAME,
): JsonObject {
  return printBytesOf(requireMessage(typeName), bytes, { chainName, depth: 0 });
}

function printBytesOf(desc: DescMessage, bytes: Uint8Array, context: AminoContext): JsonObject {
  const { typeName } = desc;
  try {
    return printFields(reflect(desc, decodeByDescriptor(desc, bytes)), context);
  } catch (thrown) {
    if (thrown instanceof ProtoError) throw thrown;
    throw noAminoJson(typeName, errorText(thrown));
  }
}

/**
 * Converts an Any to `{"type": …, "value": …}`, where the type is the amino name or the type URL. Throws the same errors as
 * {@link messageToAminoJson}.
 */
export function anyToAminoJson(any: PackedMessage, chainName: string = CANONICAL_CHAIN_NAME): JsonObject {
  return printPacked(any, { chainName, depth: 0 });
}

function printPacked(any: PackedMessage, context: AminoContext): JsonObject {
  const desc = requireMessageByTypeUrl(any.typeUrl, context.chainName);
  const name = getOption(desc, extensionOf("amino.name"));
  return {
    type: typeof name === "string" && name !== "" ? name : `/${typeNameOf(any.typeUrl)}`,
    value: printBytesOf(desc, any.value, context),
  };
}

function printFields(message: ReflectMessage, context: AminoContext): JsonObject {
  if (context.depth > MAX_DEPTH) throw noAminoJson(message.desc.typeName, "messages are nested too deeply");
  const inner = { ...context, depth: context.depth + 1 };
  const entries: [string, JsonValue][] = [];
  for (const field of message.fields) {
    // The SDK requires an amino name for every member of a oneof, and no message with a handler sets this option.
    if (field.oneof !== undefined) throw noAminoJson(message.desc.typeName, `${field.name} is in a oneof`);
    const { name, always } = formatOf(field).amino;
    if (!message.isSet(field) && !always) continue;
    entries.push([name, printField(message, field, inner)]);
  }
  return Object.fromEntries(entries);
}

function printField(message: ReflectMessage, field: DescField, context: AminoContext): JsonValue {
  const value: unknown = message.get(field);
  if (isReflectMap(value)) throw noAminoJson(message.desc.typeName, `${field.name} is a map`);
  if (isReflectList(value)) {
    const items = [...value].map((item) => printValue(item, field, context));
    return items.length === 0 && formatOf(field).amino.encoding !== "legacy_coins" ? null : items;
  }
  if (isReflectMessage(value) && !message.isSet(field))
    throw noAminoJson(message.desc.typeName, `${field.name} is absent`);
  return printValue(value, field, context);
}

function printValue(value: unknown, field: DescField, context: AminoContext): JsonValue {
  if (isReflectMessage(value)) return printMessage(value, context);
  if (value instanceof Uint8Array) return printBytes(value, field);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return printString(value, field);
  if (typeof value === "boolean") return value;
  if (typeof value === "number" && field.scalar !== ScalarType.DOUBLE && field.scalar !== ScalarType.FLOAT)
    return value;
  throw noAminoJson(field.parent.typeName, `${field.name} has no format`);
}

/**
 * Prints a string field. Like Go, prints integers and 27-digit decimals as on the wire, but 18-digit decimals with a decimal point.
 */
function printString(value: string, field: DescField): string {
  const { number } = formatOf(field);
  if (number === "dec") return numberToJson(value, number);
  return number === "int" && value === "" && field.fieldKind === "scalar" ? "0" : value;
}

function printBytes(value: Uint8Array, field: DescField): JsonValue {
  const { number, amino } = formatOf(field);
  if (number !== undefined) return numberToJson(fromUtf8(value), number);
  if (amino.encoding !== "inline_json") return toBase64(value);
  return toJsonValue(parseGoJson(fromUtf8(value)));
}

/**
 * Converts inline JSON. As in Go, long integers lose digits, because they become floats. If a name occurs several times, only the
 * last member remains.
 */
function toJsonValue(value: GoJson): JsonValue {
  switch (value.kind) {
    case "null":
      return null;
    case "number":
      return finite(Number(value.text));
    case "array":
      return value.items.map(toJsonValue);
    case "object":
      return Object.fromEntries(value.members.map(([name, member]) => [name, toJsonValue(member)]));
    case "bool":
    case "string":
      return value.value;
  }
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new Error("a number in the inline JSON is out of range");
}

function printMessage(message: ReflectMessage, context: AminoContext): JsonValue {
  switch (message.desc.typeName) {
    case "google.protobuf.Timestamp":
      // Go trims trailing zeros from the fraction here.
      return timestampToText(timeIn(message)).replace(/(\.\d*[1-9])0+Z$/, "$1Z");
    case "google.protobuf.Duration":
      return printDuration(timeIn(message));
    case "google.protobuf.Any":
      return printPacked(packedIn(message), context);
    default:
      return printFields(message, context);
  }
}

function printDuration({ seconds, nanos }: SecondsAndNanos): string {
  if (seconds > MAX_DURATION_SECONDS) throw new Error(`${seconds} seconds exceed the range of a duration`);
  return BigInt.asIntN(64, seconds * 1_000_000_000n + BigInt(nanos)).toString();
}

function noAminoJson(typeName: string, reason: string): ProtoError {
  return new ProtoError({ code: "no-amino-json", typeName }, `${typeName} has no amino JSON: ${reason}`);
}

/** Prints amino-sorted JSON like Go: names in byte order, no white space, and `<`, `>`, `&`, U+2028 and U+2029 escaped. */
export function stringifyAminoJson(value: JsonValue): string {
  return stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function stringify(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => stringify(item)).join(",")}]`;
  if (isJsonObject(value)) {
    const members = Object.entries(value).toSorted(([a], [b]) => compareBytes(utf8(a), utf8(b)));
    return `{${members.map(([name, member]) => `${quote(name)}:${stringify(member)}`).join(",")}}`;
  }
  if (typeof value === "string") return quote(value);
  return Object.is(value, -0) ? "-0" : JSON.stringify(value);
}

/** Quotes a string and, like Go, replaces unpaired surrogates with U+FFFD. */
function quote(text: string): string {
  return JSON.stringify(Buffer.from(text).toString());
}

function isJsonObject(value: JsonValue): value is JsonObject {
  return isRecord(value);
}
