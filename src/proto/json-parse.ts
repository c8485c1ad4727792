import { type DescEnum, type DescField, type DescMessage, ScalarType, toBinary } from "@bufbuild/protobuf";
import { isReflectList, isReflectMap, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { fromBase64, fromHex, utf8 } from "../base/bytes.ts";
import { errorText } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { ProtoError } from "./errors.ts";
import { type FieldForm, formOf, jsonNameOf } from "./field-forms.ts";
import { numberFromJson } from "./number-text.ts";
import { findMessageByTypeUrl } from "./registry.ts";
import { durationFromText, GO_ZERO_TIME, type SecondsAndNanos, timestampFromText } from "./time-text.ts";

/** Where the parser is: the chain whose type URLs it meets, how deep it is, and the path of the field for errors. */
export interface ParsePlace {
  readonly chainName: string;
  readonly depth: number;
  readonly path: string;
}

const MAX_DEPTH = 100;
const WELL_KNOWN = new Set(["google.protobuf.Any", "google.protobuf.Timestamp", "google.protobuf.Duration"]);

/** Builds a message from proto JSON as `messageFromJson` promises. */
export function parseMessage(desc: DescMessage, json: unknown, place: ParsePlace): ReflectMessage {
  if (place.depth > MAX_DEPTH) {
    throw new ProtoError({ code: "too-deep" }, `messages are nested more than ${MAX_DEPTH} deep`);
  }
  switch (desc.typeName) {
    case "google.protobuf.Any":
      return parseAny(desc, json, place);
    case "google.protobuf.Timestamp":
      return timeMessage(desc, parseText(json, timestampFromText, place));
    case "google.protobuf.Duration":
      return timeMessage(desc, parseText(json, durationFromText, place));
    default:
      return parseFields(desc, json, place);
  }
}

function parseFields(desc: DescMessage, json: unknown, place: ParsePlace): ReflectMessage {
  if (!isRecord(json)) throw badJson(place, `an object (${desc.typeName}) was expected`);
  const message = reflect(desc);
  for (const [name, value] of Object.entries(json)) {
    const field = desc.fields.find((each) => each.name === name || each.jsonName === name);
    if (field === undefined) throw badJson(at(place, name), `${desc.typeName} has no such field`);
    if (value !== null) parseField(message, field, value, at(place, name));
  }
  for (const field of desc.fields) fillHeldByValue(message, field);
  return message;
}

/** Go writes what it holds by value even when nobody set it: such a message with its defaults, such a number as "0". */
function fillHeldByValue(message: ReflectMessage, field: DescField): void {
  if (message.isSet(field)) return;
  const form = formOf(field);
  if (field.fieldKind === "scalar" && form.number !== undefined && !form.nullWhenEmpty) {
    message.set(field, field.scalar === ScalarType.BYTES ? utf8("0") : "0");
  }
  if (field.fieldKind !== "message" || !form.neverNull) return;
  const isTime = field.message.typeName === "google.protobuf.Timestamp";
  const inner = isTime ? timeMessage(field.message, GO_ZERO_TIME) : reflect(field.message);
  for (const each of field.message.fields) fillHeldByValue(inner, each);
  message.set(field, inner);
}

function parseField(message: ReflectMessage, field: DescField, json: unknown, place: ParsePlace): void {
  if (field.oneof !== undefined && message.oneofCase(field.oneof) !== undefined) {
    throw badJson(place, `another member of ${field.oneof.name} is set already`);
  }
  const target: unknown = message.get(field);
  if (isReflectList(target)) parseList(target, field, json, place);
  else if (isReflectMap(target)) parseMap(target, field, json, place);
  else message.set(field, parseValue(field, json, place));
}

function parseList(
  list: { add(item: unknown): unknown },
  field: DescField,
  json: unknown,
  place: ParsePlace,
): void {
  if (!Array.isArray(json)) throw badJson(place, "a list was expected");
  json.forEach((item: unknown, index) => {
    list.add(parseValue(field, item, { ...place, path: `${place.path}[${index}]` }));
  });
}

function parseMap(
  map: { set(key: unknown, item: unknown): unknown },
  field: DescField,
  json: unknown,
  place: ParsePlace,
): void {
  if (!isRecord(json) || field.fieldKind !== "map") throw badJson(place, "an object was expected");
  for (const [key, item] of Object.entries(json)) {
    map.set(parseScalar(field.mapKey, key, place), parseValue(field, item, at(place, key)));
  }
}

function parseValue(field: DescField, json: unknown, place: ParsePlace): unknown {
  if (field.message !== undefined)
    return parseMessage(field.message, json, { ...place, depth: place.depth + 1 });
  if (field.enum !== undefined) return parseEnum(field.enum, json, place);
  const form = formOf(field);
  if (field.scalar === ScalarType.BYTES) return parseBytes(json, form, place);
  const { number } = form;
  if (number !== undefined) return parseText(json, (text) => numberFromJson(text, number), place);
  return parseScalar(field.scalar, json, place);
}

function parseBytes(json: unknown, form: FieldForm, place: ParsePlace): Uint8Array {
  const { number } = form;
  if (form.bytes === "raw") return utf8(JSON.stringify(json));
  if (form.bytes === "hex") return parseText(json, fromHex, place);
  if (number !== undefined) return parseText(json, (text) => utf8(numberFromJson(text, number)), place);
  return parseText(json, fromBase64, place);
}

function parseEnum(desc: DescEnum, json: unknown, place: ParsePlace): number {
  if (typeof json === "number" && Number.isInteger(json) && json === (json | 0)) return json;
  const value = desc.values.find((each) => each.name === json || jsonNameOf(each) === json);
  if (value === undefined) throw badJson(place, `a ${desc.typeName} was expected`);
  return value.number;
}

function parseScalar(type: ScalarType, json: unknown, place: ParsePlace): unknown {
  switch (type) {
    case ScalarType.STRING:
      if (typeof json !== "string") throw badJson(place, "a text was expected");
      return json;
    case ScalarType.BOOL:
      if (typeof json === "boolean") return json;
      // Keys of a map are text in JSON.
      if (json === "true" || json === "false") return json === "true";
      throw badJson(place, "true or false was expected");
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return Number(parseInteger(json, { signed: true, bits: 32 }, place));
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return Number(parseInteger(json, { signed: false, bits: 32 }, place));
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return parseInteger(json, { signed: true, bits: 64 }, place);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return parseInteger(json, { signed: false, bits: 64 }, place);
    case ScalarType.BYTES:
      return parseText(json, fromBase64, place);
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      throw badJson(place, "a field of this type cannot be given in JSON");
  }
}

function parseInteger(
  json: unknown,
  type: { readonly signed: boolean; readonly bits: 32 | 64 },
  place: ParsePlace,
): bigint {
  // A JSON number beyond 2^53 has lost digits already: it must come as text.
  const text = typeof json === "number" && Number.isSafeInteger(json) ? String(json) : json;
  const value = typeof text === "string" && /^-?\d{1,20}$/.test(text) ? BigInt(text) : undefined;
  const wrap = (integer: bigint): bigint =>
    type.signed ? BigInt.asIntN(type.bits, integer) : BigInt.asUintN(type.bits, integer);
  if (value === undefined || wrap(value) !== value) {
    throw badJson(place, `${type.signed ? "an int" : "a uint"}${type.bits} was expected`);
  }
  return value;
}

function parseAny(desc: DescMessage, json: unknown, place: ParsePlace): ReflectMessage {
  if (!isRecord(json)) throw badJson(place, 'an object with "@type" was expected');
  const { "@type": typeUrl, ...rest } = json;
  if (typeof typeUrl !== "string") throw badJson(at(place, "@type"), "a type URL was expected");
  const inner = findMessageByTypeUrl(typeUrl, place.chainName);
  if (inner === undefined) {
    throw new ProtoError(
      { code: "unresolvable-type-url", typeUrl },
      `${at(place, "@type").path}: unable to resolve type URL ${typeUrl}`,
    );
  }
  const body = WELL_KNOWN.has(inner.typeName) ? rest["value"] : rest;
  const message = parseMessage(inner, body, { ...place, depth: place.depth + 1 });
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

function parseText<T>(json: unknown, parse: (text: string) => T, place: ParsePlace): T {
  if (typeof json !== "string") throw badJson(place, "a text was expected");
  try {
    return parse(json);
  } catch (thrown) {
    throw badJson(place, errorText(thrown));
  }
}

function at(place: ParsePlace, name: string): ParsePlace {
  return { ...place, path: place.path === "" ? name : `${place.path}.${name}` };
}

function badJson(place: ParsePlace, what: string): ProtoError {
  const path = place.path === "" ? "(the whole)" : place.path;
  return new ProtoError({ code: "bad-json", path: place.path }, `${path}: ${what}`);
}
