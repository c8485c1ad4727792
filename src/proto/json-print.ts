import { type DescField, type DescMessage, fromBinary, ScalarType } from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  reflect,
  type ReflectMessage,
} from "@bufbuild/protobuf/reflect";
import { fromUtf8, toBase64, toHex } from "../base/bytes.ts";
import { errorText, unreachable } from "../base/errors.ts";
import { isRecord, type JsonObject, type JsonValue } from "../base/json.ts";
import { ProtoError } from "./errors.ts";
import { type FieldForm, formOf, jsonNameOf } from "./field-forms.ts";
import { numberToJson } from "./number-text.ts";
import { findMessageByTypeUrl } from "./registry.ts";
import { durationToText, GO_ZERO_TIME, type SecondsAndNanos, timestampToText } from "./time-text.ts";

/** Where the printer is: the chain whose type URLs it meets, and how deep it is. */
export interface PrintPlace {
  readonly chainName: string;
  readonly depth: number;
}

/** Deeper messages are refused: each Any starts a decoder of its own, so the decoder's own limit does not hold. */
const MAX_DEPTH = 100;

/** Prints a decoded message as `messageToJson` promises. */
export function printMessage(message: ReflectMessage, place: PrintPlace): JsonValue {
  if (place.depth > MAX_DEPTH) {
    throw new ProtoError({ code: "too-deep" }, `messages are nested more than ${MAX_DEPTH} deep`);
  }
  try {
    switch (message.desc.typeName) {
      case "google.protobuf.Any":
        return printAny(message, place);
      case "google.protobuf.Timestamp":
        return timestampToText(secondsAndNanos(message));
      case "google.protobuf.Duration":
        return durationToText(secondsAndNanos(message));
      default:
        return printFields(message, place);
    }
  } catch (thrown) {
    throw asProtoError(thrown, message.desc);
  }
}

function printFields(message: ReflectMessage, place: PrintPlace): JsonObject {
  const inner = { chainName: place.chainName, depth: place.depth + 1 };
  const entries: [string, JsonValue][] = [];
  for (const field of message.fields) {
    if (field.oneof !== undefined && message.oneofCase(field.oneof) !== field) continue;
    entries.push([field.name, printField(message, field, inner)]);
  }
  return Object.fromEntries(entries);
}

function printField(message: ReflectMessage, field: DescField, place: PrintPlace): JsonValue {
  const value: unknown = message.get(field);
  const form = formOf(field);
  if (isReflectList(value)) return [...value].map((item) => printValue(item, field, place));
  if (isReflectMap(value)) return printMap(value, field, place);
  if (isReflectMessage(value)) return printSubMessage(message, field, form, place);
  const absent = field.oneof === undefined && !message.isSet(field);
  if (absent && (form.nullWhenEmpty || (field.scalar === ScalarType.BYTES && nullWhenAbsent(form))))
    return null;
  return printValue(value, field, place);
}

/** Absent bytes are nil in Go, printed as null; hex text is printed by a method that a nil slice has, too. */
function nullWhenAbsent(form: FieldForm): boolean {
  return form.bytes !== "hex" && form.number === undefined;
}

function printSubMessage(
  message: ReflectMessage,
  field: DescField,
  form: FieldForm,
  place: PrintPlace,
): JsonValue {
  const value: unknown = message.get(field);
  if (!isReflectMessage(value)) return unreachable(`${field.name} is no message`);
  if (message.isSet(field)) return printMessage(value, place);
  if (!form.neverNull) return null;
  if (value.desc.typeName === "google.protobuf.Timestamp") return timestampToText(GO_ZERO_TIME);
  return printMessage(value, place);
}

function printMap(map: Iterable<[unknown, unknown]>, field: DescField, place: PrintPlace): JsonObject {
  const entries = [...map].map(([key, item]): [string, JsonValue] => [
    String(key),
    printValue(item, field, place),
  ]);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** One value: of a field, of an item of a list, or of an entry of a map. */
function printValue(value: unknown, field: DescField, place: PrintPlace): JsonValue {
  const form = formOf(field);
  if (isReflectMessage(value)) return printMessage(value, place);
  if (value instanceof Uint8Array) return printBytes(value, form);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return form.number === undefined ? value : numberToJson(value, form.number);
  if (typeof value === "boolean") return value;
  if (typeof value !== "number") return unreachable(`a value of type ${typeof value}`);
  const named = field.enum?.values.find((each) => each.number === value);
  return named === undefined ? value : jsonNameOf(named);
}

function printBytes(bytes: Uint8Array, form: FieldForm): JsonValue {
  if (form.number !== undefined) return numberToJson(fromUtf8(bytes), form.number);
  if (form.bytes === "hex") return toHex(bytes).toUpperCase();
  if (form.bytes === "raw") return rawJson(bytes);
  return toBase64(bytes);
}

function rawJson(bytes: Uint8Array): JsonValue {
  const value: JsonValue = JSON.parse(fromUtf8(bytes));
  return value;
}

function printAny(any: ReflectMessage, place: PrintPlace): JsonValue {
  const typeUrl = fieldValue(any, "type_url");
  const bytes = fieldValue(any, "value");
  if (typeof typeUrl !== "string" || !(bytes instanceof Uint8Array))
    return unreachable("an Any of another shape");
  if (typeUrl === "" && bytes.length === 0) return null;
  const desc = findMessageByTypeUrl(typeUrl, place.chainName);
  if (desc === undefined) {
    throw new ProtoError({ code: "unresolvable-type-url", typeUrl }, `unable to resolve type URL ${typeUrl}`);
  }
  const inner = printMessage(reflect(desc, fromBinary(desc, bytes)), { ...place, depth: place.depth + 1 });
  return { "@type": typeUrl, ...(isRecord(inner) ? inner : { value: inner }) };
}

function secondsAndNanos(message: ReflectMessage): SecondsAndNanos {
  const seconds = fieldValue(message, "seconds");
  const nanos = fieldValue(message, "nanos");
  if (typeof seconds !== "bigint" || typeof nanos !== "number") return unreachable("a time of another shape");
  return { seconds, nanos };
}

function fieldValue(message: ReflectMessage, name: string): unknown {
  const field = message.fields.find((each) => each.name === name) ?? unreachable(`no field ${name}`);
  return message.get(field);
}

function asProtoError(thrown: unknown, desc: DescMessage): ProtoError {
  if (thrown instanceof ProtoError) return thrown;
  const error = { code: "bad-bytes", typeName: desc.typeName } as const;
  return new ProtoError(error, `the bytes are no ${desc.typeName}: ${errorText(thrown)}`, { cause: thrown });
}
