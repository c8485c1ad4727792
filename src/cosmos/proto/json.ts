import { type DescField, type DescMessage, ScalarType, toBinary } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  reflect,
  type ReflectMessage,
} from "@bufbuild/protobuf/reflect";
import { fromUtf8, toBase64, toHex } from "../../platform/base/bytes.ts";
import { errorText, unreachable } from "../../platform/base/errors.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import { decodeByDescriptor } from "./wire-fields.ts";
import { ProtoError, requireMessage, requireMessageByTypeUrl, CANONICAL_CHAIN_NAME } from "./registry.ts";
import type { ProtoVariant } from "./variant.ts";
import {
  type FieldFormat,
  formatOf,
  isGoJson,
  jsonNameOf,
  numberToJson,
  durationToText,
  GO_ZERO_TIME,
  packedIn,
  timeIn,
  timestampToText,
} from "./field-formats.ts";
import { parseMessage, requireDepth } from "./json-parse.ts";

/**
 * Converts an encoded message to JSON as printed by a Go node's REST server. Prints every field under its original name, in
 * declaration order. 64-bit integers are strings, bytes are base64, enums are names, and decimals have 18 digits. Missing messages
 * and missing bytes are printed as null.
 *
 * `typeName` is a canonical name, but type URLs inside an Any use `chainName`. The bytes use the field numbers of `variant`, and
 * the JSON uses the variant's names. Throws ProtoError `bad-bytes`, `unresolvable-type-url`, `unknown-message` or `too-deep`.
 */
export function messageToJson(
  typeName: string,
  bytes: Uint8Array,
  chainName: string = CANONICAL_CHAIN_NAME,
  variant?: ProtoVariant,
): JsonValue {
  const desc = (variant?.message ?? requireMessage)(typeName);
  try {
    return printMessage(reflect(desc, decodeByDescriptor(desc, bytes)), { chainName, depth: 0 });
  } catch (thrown) {
    throw asProtoError(thrown, desc);
  }
}

/**
 * Encodes a message from proto JSON. Accepts field names in snake_case or lowerCamelCase, integers as numbers or strings, enums as
 * names or numbers, and null for missing values. Writes non-nullable messages (`relaywatch.never_null`) even if they are missing in
 * the JSON.
 *
 * `typeName` is a canonical name, but type URLs inside an Any use `chainName`. The JSON uses the names of `variant`, and the bytes
 * use the variant's field numbers. Throws ProtoError `bad-json` with the path of the field, `unresolvable-type-url`,
 * `unknown-message` or `too-deep`.
 */
export function messageFromJson(
  typeName: string,
  json: unknown,
  chainName: string = CANONICAL_CHAIN_NAME,
  variant?: ProtoVariant,
): Uint8Array {
  const desc = (variant?.message ?? requireMessage)(typeName);
  const message = parseMessage(desc, json, { chainName, depth: 0, path: "" });
  return toBinary(desc, message.message);
}

interface PrintContext {
  /** The chain name used in type URLs. */
  readonly chainName: string;
  /** Number of enclosing messages. */
  readonly depth: number;
  /** True if an enclosing message is printed by Go's `encoding/json`. */
  readonly asGo?: boolean;
}

/** Converts a decoded message to JSON as specified for `messageToJson`, with the same errors. */
function printMessage(message: ReflectMessage, context: PrintContext): JsonValue {
  // The nesting limit of `fromBinary` is not sufficient, because each Any is decoded in a separate call, which starts counting at zero.
  requireDepth(context.depth);
  try {
    switch (message.desc.typeName) {
      case "google.protobuf.Any":
        return printAny(message, context);
      case "google.protobuf.Timestamp":
        return timestampToText(timeIn(message));
      case "google.protobuf.Duration":
        return durationToText(timeIn(message));
      default:
        return printFields(message, context);
    }
  } catch (thrown) {
    throw asProtoError(thrown, message.desc);
  }
}

function printFields(message: ReflectMessage, context: PrintContext): JsonObject {
  const asGo = context.asGo === true || isGoJson(message.desc);
  const inner = { chainName: context.chainName, depth: context.depth + 1, asGo };
  const entries: [string, JsonValue][] = [];
  for (const field of message.fields) {
    // Go prints only the member of a oneof that is set, if any.
    if (field.oneof !== undefined && message.oneofCase(field.oneof) !== field) continue;
    if (asGo && isLeftOut(message, field)) continue;
    entries.push([field.name, printField(message, field, inner)]);
  }
  return Object.fromEntries(entries);
}

/** Returns true if Go omits the field: its value is zero, and it is neither a struct nor a list of structs. */
function isLeftOut(message: ReflectMessage, field: DescField): boolean {
  const { number, neverNull } = formatOf(field);
  const isStructs = field.fieldKind === "list" && field.listKind === "message";
  return !message.isSet(field) && number === undefined && !neverNull && !isStructs;
}

function printField(message: ReflectMessage, field: DescField, context: PrintContext): JsonValue {
  const value: unknown = message.get(field);
  const format = formatOf(field);
  if (isReflectList(value))
    return context.asGo && value.size === 0
      ? null
      : [...value].map((item) => printValue(item, field, context));
  if (isReflectMap(value)) return printMap(value, field, context);
  if (isReflectMessage(value)) return printSubMessage(message, field, format, context);
  const absent = field.oneof === undefined && !message.isSet(field);
  if (absent && (format.nullWhenEmpty || (field.scalar === ScalarType.BYTES && nullWhenAbsent(format))))
    return null;
  return printValue(value, field, context);
}

/**
 * Returns true if missing bytes are printed as null. Go prints a nil slice as null, but `HexBytes` and the number types have custom
 * methods that print nil as "" or "0".
 */
function nullWhenAbsent(format: FieldFormat): boolean {
  return format.bytes !== "hex" && format.number === undefined;
}

function printSubMessage(
  message: ReflectMessage,
  field: DescField,
  format: FieldFormat,
  context: PrintContext,
): JsonValue {
  const value: unknown = message.get(field);
  if (!isReflectMessage(value)) return unreachable(`${field.name} is not a message`);
  if (message.isSet(field)) return printMessage(value, context);
  if (!format.neverNull) return null;
  if (value.desc.typeName === "google.protobuf.Timestamp") return timestampToText(GO_ZERO_TIME);
  return printMessage(value, context);
}

function printMap(map: Iterable<[unknown, unknown]>, field: DescField, context: PrintContext): JsonObject {
  const entries = [...map].map(([key, item]): [string, JsonValue] => [
    String(key),
    printValue(item, field, context),
  ]);
  // Go prints maps sorted by key.
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** Prints one value of a field, a list item or a map entry. */
function printValue(value: unknown, field: DescField, context: PrintContext): JsonValue {
  const format = formatOf(field);
  if (isReflectMessage(value)) return printMessage(value, context);
  if (value instanceof Uint8Array) return printBytes(value, format);
  if (typeof value === "bigint") {
    // A JSON number would lose digits beyond 2^53.
    const isExact = BigInt.asIntN(53, value) === value;
    return context.asGo && isExact ? Number(value) : value.toString();
  }
  if (typeof value === "string")
    return format.number === undefined ? value : numberToJson(value, format.number);
  if (typeof value === "boolean") return value;
  if (typeof value !== "number") return unreachable(`a value of type ${typeof value}`);
  // An enum number without a name is printed as the number.
  const named = field.enum?.values.find((each) => each.number === value);
  return named === undefined ? value : jsonNameOf(named);
}

function printBytes(bytes: Uint8Array, format: FieldFormat): JsonValue {
  if (format.number !== undefined) return numberToJson(fromUtf8(bytes), format.number);
  if (format.bytes === "hex") return toHex(bytes).toUpperCase();
  if (format.bytes === "raw") return rawJson(bytes);
  return toBase64(bytes);
}

function rawJson(bytes: Uint8Array): JsonValue {
  const value: JsonValue = JSON.parse(fromUtf8(bytes));
  return value;
}

function printAny(any: ReflectMessage, context: PrintContext): JsonValue {
  const { typeUrl, value: bytes } = packedIn(any);
  // An empty Any has no type to resolve.
  if (typeUrl === "" && bytes.length === 0) return null;
  const desc = requireMessageByTypeUrl(typeUrl, context.chainName);
  const inner = printMessage(reflect(desc, decodeByDescriptor(desc, bytes)), {
    ...context,
    depth: context.depth + 1,
  });
  // Times and durations are printed as strings, and a nested Any has another "@type". Therefore, their JSON is the member "value"
  // (Go's `isWkt`).
  const isWellKnown = !isRecord(inner) || desc.typeName === "google.protobuf.Any";
  return { "@type": typeUrl, ...(isWellKnown ? { value: inner } : inner) };
}

function asProtoError(thrown: unknown, desc: DescMessage): ProtoError {
  if (thrown instanceof ProtoError) return thrown;
  const error = { code: "bad-bytes", typeName: desc.typeName } as const;
  return new ProtoError(error, `the bytes are not a ${desc.typeName}: ${errorText(thrown)}`, {
    cause: thrown,
  });
}
