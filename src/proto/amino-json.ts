import { type DescField, fromBinary, ScalarType } from "@bufbuild/protobuf";
import { isReflectList, isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { toBase64 } from "../base/bytes.ts";
import { unreachable } from "../base/errors.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { formOf } from "./field-forms.ts";
import { requireMessage } from "./registry.ts";
import { timestampToText } from "./time-text.ts";

/**
 * Converts an encoded message to the JSON that the SDK signs in SIGN_MODE_LEGACY_AMINO_JSON (`x/tx/signing/aminojson`).
 * Leaves out fields with their default value, except non-nullable messages (`relaywatch.never_null`). 64-bit integers are
 * strings, enums are numbers, and decimals are the digits on the wire. Messages with an Any, a map or a oneof are not supported.
 */
export function messageToAminoJson(typeName: string, bytes: Uint8Array): JsonObject {
  const desc = requireMessage(typeName);
  return printFields(reflect(desc, fromBinary(desc, bytes)));
}

function printFields(message: ReflectMessage): JsonObject {
  const entries = message.fields
    .filter((field) => message.isSet(field) || formOf(field).neverNull)
    .map((field): [string, JsonValue] => [field.name, printField(message, field)]);
  return Object.fromEntries(entries);
}

function printField(message: ReflectMessage, field: DescField): JsonValue {
  const value: unknown = message.get(field);
  return isReflectList(value) ? [...value].map((item) => printValue(item, field)) : printValue(value, field);
}

function printValue(value: unknown, field: DescField): JsonValue {
  if (isReflectMessage(value)) return printMessage(value);
  if (value instanceof Uint8Array) return toBase64(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && field.scalar !== ScalarType.DOUBLE) return value;
  return unreachable(`${field.name} has no amino JSON`);
}

function printMessage(message: ReflectMessage): JsonValue {
  if (message.desc.typeName !== "google.protobuf.Timestamp") return printFields(message);
  const [seconds, nanos] = message.fields.map((field): unknown => message.get(field));
  if (typeof seconds !== "bigint" || typeof nanos !== "number") return unreachable("a time without seconds");
  // Go trims the zeros at the end of the fraction here.
  return timestampToText({ seconds, nanos }).replace(/(\.\d*[1-9])0+Z$/, "$1Z");
}
