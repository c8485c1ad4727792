import { type DescEnum, type DescField, type DescMessage, ScalarType, toBinary } from "@bufbuild/protobuf";
import { isReflectList, isReflectMap, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { fromBase64, fromHex, utf8 } from "../../platform/base/bytes.ts";
import { errorText } from "../../platform/base/errors.ts";
import { isRecord } from "../../platform/base/json.ts";
import { ProtoError, requireMessageByTypeUrl } from "./registry.ts";
import {
  type FieldFormat,
  formatOf,
  jsonNameOf,
  numberFromJson,
  durationFromText,
  GO_ZERO_TIME,
  type SecondsAndNanos,
  timestampFromText,
} from "./field-formats.ts";

export interface ParseContext {
  /** The chain name used in type URLs. */
  readonly chainName: string;
  /** Number of enclosing messages. */
  readonly depth: number;
  /** Path of the value for error messages, such as `keys[0].path`, or "" for the outermost message. */
  readonly path: string;
}

// Limits the recursion, because the JSON is untrusted.
const MAX_DEPTH = 100;
/** Messages with a special JSON format. Inside an Any, this JSON is the member "value". */
const WELL_KNOWN = new Set(["google.protobuf.Any", "google.protobuf.Timestamp", "google.protobuf.Duration"]);

/** Throws ProtoError `too-deep` if a message is nested too deeply. */
export function requireDepth(depth: number): void {
  if (depth <= MAX_DEPTH) return;
  throw new ProtoError({ code: "too-deep" }, `messages are nested more than ${MAX_DEPTH} levels deep`);
}

/** Builds a message from proto JSON as specified for `messageFromJson`, with the same errors. */
export function parseMessage(desc: DescMessage, json: unknown, context: ParseContext): ReflectMessage {
  requireDepth(context.depth);
  switch (desc.typeName) {
    case "google.protobuf.Any":
      return parseAny(desc, json, context);
    case "google.protobuf.Timestamp":
      return timeMessage(desc, parseText(json, timestampFromText, context));
    case "google.protobuf.Duration":
      return timeMessage(desc, parseText(json, durationFromText, context));
    default:
      return parseFields(desc, json, context);
  }
}

function parseFields(desc: DescMessage, json: unknown, context: ParseContext): ReflectMessage {
  if (!isRecord(json)) throw badJson(context, `expected an object (${desc.typeName})`);
  const message = reflect(desc);
  for (const [name, value] of Object.entries(json)) {
    const field = desc.fields.find((each) => each.name === name || each.jsonName === name);
    if (field === undefined) throw badJson(at(context, name), `${desc.typeName} has no such field`);
    if (value !== null) parseField(message, field, value, at(context, name));
  }
  for (const field of desc.fields) fillNonNullable(message, field);
  return message;
}

/** Sets a missing field that Go always writes. A non-nullable message is set to its defaults, and a non-nullable number to "0". */
function fillNonNullable(message: ReflectMessage, field: DescField): void {
  if (message.isSet(field)) return;
  const format = formatOf(field);
  if (field.fieldKind === "scalar" && format.number !== undefined && !format.nullWhenEmpty) {
    message.set(field, field.scalar === ScalarType.BYTES ? utf8("0") : "0");
  }
  if (field.fieldKind !== "message" || !format.neverNull) return;
  // Go's zero time is in the year 1, while an empty Timestamp is 1970.
  const isTime = field.message.typeName === "google.protobuf.Timestamp";
  const inner = isTime ? timeMessage(field.message, GO_ZERO_TIME) : reflect(field.message);
  for (const each of field.message.fields) fillNonNullable(inner, each);
  message.set(field, inner);
}

function parseField(message: ReflectMessage, field: DescField, json: unknown, context: ParseContext): void {
  if (field.oneof !== undefined && message.oneofCase(field.oneof) !== undefined) {
    throw badJson(context, `another member of ${field.oneof.name} is already set`);
  }
  const target: unknown = message.get(field);
  if (isReflectList(target)) parseList(target, field, json, context);
  else if (isReflectMap(target)) parseMap(target, field, json, context);
  else message.set(field, parseValue(field, json, context));
}

function parseList(
  list: { add(item: unknown): unknown },
  field: DescField,
  json: unknown,
  context: ParseContext,
): void {
  if (!Array.isArray(json)) throw badJson(context, "expected a list");
  json.forEach((item: unknown, index) => {
    // Go reads null in a list of messages as a message without fields.
    const value = item === null && field.message !== undefined ? {} : item;
    list.add(parseValue(field, value, { ...context, path: `${context.path}[${index}]` }));
  });
}

function parseMap(
  map: { set(key: unknown, item: unknown): unknown },
  field: DescField,
  json: unknown,
  context: ParseContext,
): void {
  if (!isRecord(json) || field.fieldKind !== "map") throw badJson(context, "expected an object");
  for (const [key, item] of Object.entries(json)) {
    map.set(parseScalar(field.mapKey, key, context), parseValue(field, item, at(context, key)));
  }
}

function parseValue(field: DescField, json: unknown, context: ParseContext): unknown {
  if (field.message !== undefined)
    return parseMessage(field.message, json, { ...context, depth: context.depth + 1 });
  if (field.enum !== undefined) return parseEnum(field.enum, json, context);
  const format = formatOf(field);
  if (field.scalar === ScalarType.BYTES) return parseBytes(json, format, context);
  const { number } = format;
  if (number !== undefined) return parseText(json, (text) => numberFromJson(text, number), context);
  return parseScalar(field.scalar, json, context);
}

function parseBytes(json: unknown, format: FieldFormat, context: ParseContext): Uint8Array {
  const { number } = format;
  if (format.bytes === "raw") return utf8(JSON.stringify(json));
  if (format.bytes === "hex") return parseText(json, fromHex, context);
  if (number !== undefined) return parseText(json, (text) => utf8(numberFromJson(text, number)), context);
  return parseText(json, fromBase64, context);
}

function parseEnum(desc: DescEnum, json: unknown, context: ParseContext): number {
  // Proto3 enums are open: every int32 is valid, and `json | 0` keeps exactly the int32 numbers.
  if (typeof json === "number" && Number.isInteger(json) && json === (json | 0)) return json;
  const value = desc.values.find((each) => each.name === json || jsonNameOf(each) === json);
  if (value === undefined) throw badJson(context, `expected a ${desc.typeName}`);
  return value.number;
}

function parseScalar(type: ScalarType, json: unknown, context: ParseContext): unknown {
  switch (type) {
    case ScalarType.STRING:
      if (typeof json !== "string") throw badJson(context, "expected a string");
      return json;
    case ScalarType.BOOL:
      if (typeof json === "boolean") return json;
      // Map keys are always strings in JSON.
      if (json === "true" || json === "false") return json === "true";
      throw badJson(context, "expected true or false");
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return Number(parseInteger(json, { signed: true, bits: 32 }, context));
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return Number(parseInteger(json, { signed: false, bits: 32 }, context));
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return parseInteger(json, { signed: true, bits: 64 }, context);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return parseInteger(json, { signed: false, bits: 64 }, context);
    case ScalarType.BYTES:
      return parseText(json, fromBase64, context);
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      throw badJson(context, "fields of this type have no JSON format");
  }
}

function parseInteger(
  json: unknown,
  type: { readonly signed: boolean; readonly bits: 32 | 64 },
  context: ParseContext,
): bigint {
  // A JSON number beyond 2^53 has lost digits in JSON.parse, so it must be given as a string.
  const text = typeof json === "number" && Number.isSafeInteger(json) ? String(json) : json;
  const value = typeof text === "string" && /^-?\d{1,20}$/.test(text) ? BigInt(text) : undefined;
  // The value is in range if wrapping it to the width of the type does not change it.
  const wrap = (integer: bigint): bigint =>
    type.signed ? BigInt.asIntN(type.bits, integer) : BigInt.asUintN(type.bits, integer);
  if (value === undefined || wrap(value) !== value) {
    throw badJson(context, `expected ${type.signed ? "an int" : "a uint"}${type.bits}`);
  }
  return value;
}

function parseAny(desc: DescMessage, json: unknown, context: ParseContext): ReflectMessage {
  if (!isRecord(json)) throw badJson(context, 'expected an object with "@type"');
  const { "@type": typeUrl, ...rest } = json;
  if (typeof typeUrl !== "string") throw badJson(at(context, "@type"), "expected a type URL");
  const inner = requireMessageByTypeUrl(typeUrl, context.chainName, at(context, "@type").path);
  const body = WELL_KNOWN.has(inner.typeName) ? rest["value"] : rest;
  const message = parseMessage(inner, body, { ...context, depth: context.depth + 1 });
  return build(desc, { type_url: typeUrl, value: toBinary(inner, message.message) });
}

function timeMessage(desc: DescMessage, time: SecondsAndNanos): ReflectMessage {
  return build(desc, { seconds: time.seconds, nanos: time.nanos });
}

function build(desc: DescMessage, values: Readonly<Record<string, unknown>>): ReflectMessage {
  const message = reflect(desc);
  for (const field of desc.fields) message.set(field, values[field.name]);
  return message;
}

function parseText<T>(json: unknown, parse: (text: string) => T, context: ParseContext): T {
  if (typeof json !== "string") throw badJson(context, "expected a string");
  try {
    return parse(json);
  } catch (thrown) {
    throw badJson(context, errorText(thrown));
  }
}

function at(context: ParseContext, name: string): ParseContext {
  return { ...context, path: context.path === "" ? name : `${context.path}.${name}` };
}

function badJson(context: ParseContext, problem: string): ProtoError {
  const path = context.path === "" ? "(root)" : context.path;
  return new ProtoError({ code: "bad-json", path: context.path }, `${path}: ${problem}`);
}
