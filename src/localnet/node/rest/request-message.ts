import {
  type DescEnum,
  type DescField,
  type DescMessage,
  fromBinary,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { isReflectList, isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { formatOf, numberFromJson } from "../../../cosmos/proto/field-formats.ts";
import { goName, goTypeName } from "../../../cosmos/proto/go-names.ts";
import { parseMessage } from "../../../cosmos/proto/json-parse.ts";
import { messageFromJson } from "../../../cosmos/proto/json.ts";
import { CANONICAL_CHAIN_NAME, requireMessage, toChainTypeUrl } from "../../../cosmos/proto/registry.ts";
import { fromUtf8, utf8 } from "../../../platform/base/bytes.ts";
import { unreachable } from "../../../platform/base/errors.ts";
import { goJsonSyntaxError } from "../../../platform/base/go-json-syntax.ts";
import { parseGoBool, parseGoInteger } from "../../../platform/base/integers.ts";
import { isRecord } from "../../../platform/base/json.ts";
import { goBase64Decode, goKind } from "../base/go-decoding.ts";
import type { FoundRoute, Route } from "./route-table.ts";
import { Buffer } from "node:buffer";

export interface RequestSource {
  /**
   * Parses the form values. Called only if the route takes query parameters, so that malformed values do not fail requests to other routes.
   */
  readonly form: () => FormValues;
  readonly body: Uint8Array;
  readonly chainName: string;
}

/** Encodes the gRPC request for a REST call. Throws an `Error` with the gateway's InvalidArgument message. */
export function buildRequest({ route, variables }: FoundRoute, source: RequestSource): Uint8Array {
  if (route.body === "*") return parseBody(route.requestType, source.body, source.chainName);
  const desc = requireMessage(route.requestType);
  const message = reflect(desc);
  setVariables(message, variables);
  if (takesQuery(route)) setQueryParameters(message, source.form(), route.template.variables);
  return toBinary(desc, message.message);
}

/**
 * Returns true if a route takes query parameters. As in grpc-gateway, a route takes query parameters unless its path sets all
 * request fields.
 */
function takesQuery({ requestType, template }: Route): boolean {
  return requireMessage(requestType).fields.some(({ name }) => !template.variables.includes(name));
}

function setVariables(message: ReflectMessage, variables: ReadonlyMap<string, string>): void {
  for (const [name, text] of variables) {
    const field =
      message.fields.find((each) => each.name === name) ??
      unreachable(`${message.desc.typeName} has no field ${name} for its path`);
    try {
      // Split a repeated field's value at commas, which separate values in a path, but not in a query.
      const list: unknown = field.fieldKind === "list" ? message.get(field) : undefined;
      if (isReflectList(list))
        for (const part of text.split(",")) list.add(parseFieldValue(field, part, "path"));
      else message.set(field, parseFieldValue(field, text, "path"));
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : "unreadable";
      throw new Error(`type mismatch, parameter: ${name}, error: ${reason}`, { cause: thrown });
    }
  }
}

const ROOT = { chainName: CANONICAL_CHAIN_NAME, depth: 0, path: "" };
const INDEXED = /^(.*)\[(.*)\]$/;

/**
 * Sets fields from query parameters, like `PopulateQueryParameters` in grpc-gateway 1.16. A parameter is named after its field, in
 * the original or lowerCamel spelling. Dots select fields of nested messages. Repeated fields take all values, and other fields
 * only the first value. Unknown names and path variables are ignored. Throws an `Error` with the gateway's message.
 */
function setQueryParameters(
  message: ReflectMessage,
  form: FormValues,
  pathVariables: readonly string[],
): void {
  for (const [name, values] of form) {
    // `name[key]=value` is the gateway's syntax for map fields. For any other field, the gateway treats the key as the first
    // value.
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
    const items = formatOf(field).queryJson
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
    throw new Error(`unsupported field type ${formatOf(field).neverNull ? name.slice(1) : name}`);
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
  if (inner.length === 0 && formatOf(field).queryJson) {
    message.set(field, parseQueryJson(field, values[0] ?? ""));
    return;
  }
  if (inner.length === 0 || !isReflectMessage(value)) throw notSupported();
  setAt(value, inner, values);
  message.set(field, value);
}

/** Parses a message from proto JSON in a parameter, for fields with the option `query_json`. A timestamp may be unquoted. */
function parseQueryJson({ message }: DescField, text: string): ReflectMessage {
  if (message === undefined) throw notSupported();
  if (message.typeName === "google.protobuf.Timestamp") return parseMessage(message, text, ROOT);
  return reflect(message, fromBinary(message, parseBody(message.typeName, utf8(text), CANONICAL_CHAIN_NAME)));
}

const NOTHING = new Uint8Array(0);
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Converts a JSON body to an encoded message. A blank body is an empty request. Throws an `Error`, with Go's message if known. */
function parseBody(typeName: string, body: Uint8Array, chainName: string): Uint8Array {
  if (body.every((byte) => BLANKS.has(byte))) return NOTHING;
  const syntaxError = goJsonSyntaxError(body);
  if (syntaxError !== undefined) {
    // If the input ends unexpectedly, the gateway's json.Decoder returns io.ErrUnexpectedEOF.
    throw new Error(syntaxError === "unexpected end of JSON input" ? "unexpected EOF" : syntaxError);
  }
  const json: unknown = JSON.parse(fromUtf8(body));
  if (json === null) return NOTHING;
  refuseAsGo(requireMessage(typeName), json, chainName);
  return messageFromJson(typeName, json, chainName);
}

/**
 * Throws the errors that Go's `jsonpb` reports for a message's top-level fields. `messageFromJson` reports errors in nested
 * messages.
 */
function refuseAsGo(desc: DescMessage, json: unknown, chainName: string): void {
  if (!isRecord(json)) {
    throw new Error(
      `json: cannot unmarshal ${goKind(json)} into Go value of type map[string]json.RawMessage`,
    );
  }
  const known = new Set<string>();
  for (const field of desc.fields) {
    known.add(field.name).add(field.jsonName);
    const value = json[field.name] ?? json[field.jsonName];
    if (field.fieldKind === "scalar" && field.scalar === ScalarType.BYTES && typeof value === "string") {
      goBase64Decode(value);
    }
    if (field.fieldKind === "enum" && typeof value === "string") {
      if (field.enum.values.some(({ name }) => name === value)) continue;
      const name = toChainTypeUrl(field.enum.typeName, chainName);
      throw new Error(`unknown value ${JSON.stringify(value)} for enum ${name}`);
    }
  }
  const unknown = Object.keys(json).find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new Error(`unknown field ${JSON.stringify(unknown)} in ${goTypeName(desc).slice(1)}`);
  }
}

/** A field's value, parsed from a path or query. */
type FieldValue = string | number | bigint | boolean | Uint8Array;

/** The part of a request that contains a value. grpc-gateway parses enums in a path differently from enums in a query. */
type ValueSource = "path" | "query";

/**
 * Parses a value as grpc-gateway 1.16 does. Integers may have any Go notation (0x10, 0b1, 010, 1_000), enums are names or numbers,
 * and bytes may be in either base64 alphabet. For an invalid value, throws an `Error` with Go's message.
 */
export function parseFieldValue(field: DescField, text: string, source: ValueSource = "query"): FieldValue {
  if (field.enum !== undefined) return parseEnum(field.enum, text, source);
  if (field.scalar === undefined) throw notSupported();
  const { number } = formatOf(field);
  // Unlike the Go gateway, accept plain decimals for decimal fields, because the dex module's simulations need them.
  if (number !== undefined && field.scalar === ScalarType.STRING) return numberFromJson(text, number);
  return parseScalar(field.scalar, text);
}

/** Returns the gateway's error for a field whose type is not supported in a query. Go reports each such type as `*reflect.rtype`. */
function notSupported(): Error {
  return new Error("field type *reflect.rtype is not supported in query parameters");
}

function parseScalar(type: ScalarType, text: string): FieldValue {
  switch (type) {
    case ScalarType.STRING:
      return text;
    case ScalarType.BOOL:
      return parseGoBool(text);
    case ScalarType.BYTES:
      return parseBytes(text);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return int32(text);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return Number(parseGoInteger(text, { signed: false, bits: 32, base: 0 }));
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return parseGoInteger(text, { signed: true, bits: 64, base: 0 });
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return parseGoInteger(text, { signed: false, bits: 64, base: 0 });
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      throw notSupported();
  }
}

/** Parses an enum value's name or number. Numbers may have any Go notation in a path, but only decimal notation in a query. */
function parseEnum(desc: DescEnum, text: string, source: ValueSource): number {
  // In a query, the gateway only accepts enum names from Go's own registry, which contains the SDK's enums but not the enums in the
  // chain's modules. The recorded gateway therefore rejects the names of `hook_type` and `order_type` values.
  if (source === "query" && !desc.typeName.startsWith("cosmos.")) return int32(text);
  const named = desc.values.find(({ name }) => name === text);
  const number = named?.number ?? enumNumber(text, source);
  if (desc.values.some((value) => value.number === number)) return number;
  throw new Error(source === "path" ? `${text} is not valid` : `${text} is not a valid ${goName(desc)}`);
}

/** Parses the number of an enum value. Returns NaN, which matches no enum value, if the text is not an integer. */
function enumNumber(text: string, source: ValueSource): number {
  try {
    if (source === "path") return int32(text);
    // Go parses 64 bits and then truncates to 32 bits without a check.
    return Number(BigInt.asIntN(32, parseGoInteger(text, { signed: true, bits: 64, base: 10 })));
  } catch {
    return Number.NaN;
  }
}

function int32(text: string): number {
  return Number(parseGoInteger(text, { signed: true, bits: 32, base: 0 }));
}

/** Decodes base64 in the standard or URL alphabet. Like grpc-gateway, throws the error for the URL alphabet if neither alphabet fits. */
function parseBytes(text: string): Uint8Array {
  try {
    return goBase64Decode(text);
  } catch {
    return goBase64Decode(fromUrlAlphabet(text));
  }
}

/**
 * Converts base64 from the URL alphabet to the standard alphabet. Replaces `+` and `/` with an invalid character, because the URL
 * alphabet does not contain them.
 */
function fromUrlAlphabet(text: string): string {
  return text.replaceAll(/[+/]/g, "!").replaceAll("-", "+").replaceAll("_", "/");
}

/** Values of form fields or query parameters, keyed by name, in order of occurrence. */
export type FormValues = ReadonlyMap<string, readonly string[]>;

/** Parses a query string or form body like Go's `url.ParseQuery`, and throws an `Error` with Go's message for invalid text. */
export function parseForm(text: string): FormValues {
  const values = new Map<string, string[]>();
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    // Reject semicolons like Go 1.17 and later, which no longer treat semicolons as separators.
    if (pair.includes(";")) throw new Error("invalid semicolon separator in query");
    const equals = pair.indexOf("=");
    const name = goUnescape(equals < 0 ? pair : pair.slice(0, equals), true);
    const value = goUnescape(equals < 0 ? "" : pair.slice(equals + 1), true);
    const list = values.get(name);
    if (list === undefined) values.set(name, [value]);
    else list.push(value);
  }
  return values;
}

/** Joins two forms. If both forms contain a name, the first form's values come first. */
export function joinForms(first: FormValues, second: FormValues): FormValues {
  const joined = new Map(first);
  for (const [name, values] of second) joined.set(name, [...(joined.get(name) ?? []), ...values]);
  return joined;
}

/** Decodes %XX and, with `plusIsSpace`, + as a space. Invalid UTF-8 becomes U+FFFD. An invalid escape throws Go's error. */
export function goUnescape(text: string, plusIsSpace: boolean): string {
  const spaced = plusIsSpace ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  const bad = /%(?![0-9a-fA-F]{2})/.exec(spaced);
  if (bad !== null) {
    throw new Error(`invalid URL escape ${JSON.stringify(spaced.slice(bad.index, bad.index + 3))}`);
  }
  return spaced.replaceAll(/(?:%[0-9a-fA-F]{2})+/g, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"),
  );
}
