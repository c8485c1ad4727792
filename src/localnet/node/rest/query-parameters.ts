import { type DescField, fromBinary } from "@bufbuild/protobuf";
import { isReflectList, isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { utf8 } from "../../../platform/base/bytes.ts";
import { goTypeName } from "../../../cosmos/proto/go-names.ts";
import { formOf } from "../../../cosmos/proto/field-formats.ts";
import { parseMessage } from "../../../cosmos/proto/json-parse.ts";
import { CANONICAL_CHAIN_NAME } from "../../../cosmos/proto/type-urls.ts";
import { type FieldValue, notSupported, parseFieldValue } from "./field-value.ts";
import type { FormValues } from "./form.ts";
import { parseBody } from "./request-body.ts";

const ROOT = { chainName: CANONICAL_CHAIN_NAME, depth: 0, path: "" };
const INDEXED = /^(.*)\[(.*)\]$/;

/**
 * Sets the fields that query parameters name, as grpc-gateway 1.16's `PopulateQueryParameters` does. A parameter has the
 * original or the lowerCamel name of its field; dots lead into messages. A repeated field takes all values, another field
 * the first one. Ignores unknown names and path variables. Throws a plain error with the gateway's text.
 */
export function setQueryParameters(
  message: ReflectMessage,
  form: FormValues,
  pathVariables: readonly string[],
): void {
  for (const [name, values] of form) {
    // `name[key]=value` is the gateway's form for map fields. For other fields it treats the key as the first value.
    const indexed = INDEXED.exec(name);
    const path = (indexed?.[1] ?? name).split(".");
    if (isPathVariable(message, path, pathVariables)) continue;
    setAt(message, path, indexed === null ? values : [indexed[2] ?? "", ...values]);
  }
}

function isPathVariable(
  message: ReflectMessage,
  path: readonly string[],
  pathVariables: readonly string[],
): boolean {
  const [first = ""] = path;
  return pathVariables.includes(findField(message, first)?.name ?? first);
}

function findField(message: ReflectMessage, name: string): DescField | undefined {
  return message.fields.find((each) => each.name === name || each.jsonName === name);
}

function setAt(message: ReflectMessage, path: readonly string[], values: readonly string[]): void {
  const [name = "", ...inner] = path;
  const field = findField(message, name);
  if (field === undefined) return;
  const target: unknown = field.fieldKind === "list" ? message.get(field) : undefined;
  if (isReflectList(target)) {
    if (inner.length > 0) throw new Error(`unexpected repeated field in ${path.join(".")}`);
    const items = formOf(field).queryJson
      ? values.map((value) => parseQueryJson(field, value))
      : listValues(field, values);
    for (const item of items) target.add(item);
  } else if (field.fieldKind === "message") {
    setMessage(message, field, inner, values);
  } else if (inner.length > 0) {
    throw new Error(`unexpected nested field ${inner[0]} in ${name}`);
  } else {
    message.set(field, parseFieldValue(field, values[0] ?? ""));
  }
}

function listValues(field: DescField, values: readonly string[]): readonly FieldValue[] {
  if (field.message !== undefined) {
    const name = goTypeName(field.message);
    throw new Error(`unsupported field type ${formOf(field).neverNull ? name.slice(1) : name}`);
  }
  return values.map((value) => parseFieldValue(field, value));
}

function setMessage(
  message: ReflectMessage,
  field: DescField & { readonly fieldKind: "message" },
  inner: readonly string[],
  values: readonly string[],
): void {
  const value: unknown = message.isSet(field) ? message.get(field) : reflect(field.message);
  if (inner.length === 0 && formOf(field).queryJson) {
    message.set(field, parseQueryJson(field, values[0] ?? ""));
    return;
  }
  if (inner.length === 0 || !isReflectMessage(value)) throw notSupported();
  setAt(value, inner, values);
  message.set(field, value);
}

/** Reads a message from the proto JSON in a parameter; a time is the bare text. Only fields with the option `query_json` take it. */
function parseQueryJson({ message }: DescField, text: string): ReflectMessage {
  if (message === undefined) throw notSupported();
  if (message.typeName === "google.protobuf.Timestamp") return parseMessage(message, text, ROOT);
  return reflect(message, fromBinary(message, parseBody(message.typeName, utf8(text), CANONICAL_CHAIN_NAME)));
}
