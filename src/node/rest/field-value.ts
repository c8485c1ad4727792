import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { parseGoBool, parseGoInteger } from "../../base/go-numbers.ts";
import { formOf } from "../../proto/field-forms.ts";
import { goBase64Decode } from "../rpc/go-decoding.ts";

/** The value of a field, parsed from a path or query. */
export type FieldValue = string | number | bigint | boolean | Uint8Array;

/**
 * Parses the text of one value as grpc-gateway 1.16 does: integers in all of Go's notations (0x10, 0b1, 010, 1_000), enums
 * only as numbers, bytes in either base64 alphabet. Throws a plain error with Go's text.
 */
export function parseFieldValue(field: DescField, text: string): FieldValue {
  if (field.enum !== undefined) return int32(text);
  // Fields with a Go type of their own, such as math.Int, have no form in a query.
  if (field.scalar === undefined || formOf(field).number !== undefined) throw notSupported();
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
