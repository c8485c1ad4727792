import { type DescEnum, type DescField, ScalarType } from "@bufbuild/protobuf";
import { parseGoBool, parseGoInteger } from "../../../platform/base/integers.ts";
import { formOf, numberFromJson } from "../../../cosmos/proto/field-formats.ts";
import { goName } from "../../../cosmos/proto/go-names.ts";
import { goBase64Decode } from "../rpc/go-decoding.ts";

/** The value of a field, parsed from a path or query. */
export type FieldValue = string | number | bigint | boolean | Uint8Array;

/** The part of a request that a value comes from. The gateway parses enums differently in each. */
export type ValueSource = "path" | "query";

/**
 * Parses the text of one value as grpc-gateway 1.16 does: integers in all of Go's notations (0x10, 0b1, 010, 1_000), enums
 * by name and number, bytes in either base64 alphabet. Throws a plain error with Go's text.
 */
export function parseFieldValue(field: DescField, text: string, source: ValueSource = "query"): FieldValue {
  if (field.enum !== undefined) return parseEnum(field.enum, text, source);
  if (field.scalar === undefined) throw notSupported();
  const { number } = formOf(field);
  // Go has no form for these numbers in a query. The estimates of the dex module are of no use without one.
  if (number !== undefined && field.scalar === ScalarType.STRING) return numberFromJson(text, number);
  return parseScalar(field.scalar, text);
}

/** The error for a field whose type has no form in a query. The odd text is what Go prints for the type. */
export function notSupported(): Error {
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

/** Parses the name or number of an enum value. A path takes Go's notations of integers, a query only decimals. */
function parseEnum(desc: DescEnum, text: string, source: ValueSource): number {
  // In a query, the gateway knows an enum only if its Go code is in Go's own registry. The enums of the SDK are, the enums of
  // the chain's modules are not: recordings refuse `hook_type` and `order_type` by name.
  if (source === "query" && !desc.typeName.startsWith("cosmos.")) return int32(text);
  const named = desc.values.find(({ name }) => name === text);
  const number = named?.number ?? enumNumber(text, source);
  if (desc.values.some((value) => value.number === number)) return number;
  throw new Error(source === "path" ? `${text} is not valid` : `${text} is not a valid ${goName(desc)}`);
}

/** Returns NaN, which no enum value has, for a text that is not an integer. */
function enumNumber(text: string, source: ValueSource): number {
  try {
    if (source === "path") return int32(text);
    // Go parses 64 bits here and cuts them to 32 without a check.
    return Number(BigInt.asIntN(32, parseGoInteger(text, { signed: true, bits: 64, base: 10 })));
  } catch {
    return Number.NaN;
  }
}

function int32(text: string): number {
  return Number(parseGoInteger(text, { signed: true, bits: 32, base: 0 }));
}

/** Decodes standard base64, else base64 in the URL alphabet. Like the gateway, it reports the second error. */
function parseBytes(text: string): Uint8Array {
  try {
    return goBase64Decode(text);
  } catch {
    return goBase64Decode(fromUrlAlphabet(text));
  }
}

/** Converts the URL alphabet to the standard one. `+` and `/`, invalid there, become a letter that fails at its place. */
function fromUrlAlphabet(text: string): string {
  return text.replaceAll(/[+/]/g, "!").replaceAll("-", "+").replaceAll("_", "/");
}
