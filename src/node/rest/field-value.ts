import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { parseGoBool, parseGoInteger } from "../../base/go-numbers.ts";
import { formOf } from "../../proto/field-forms.ts";
import { numberFromJson } from "../../proto/number-text.ts";
import { goBase64Decode } from "../rpc/go-decoding.ts";

/** What one text of a path or query gives for a field. */
export type FieldValue = string | number | bigint | boolean | Uint8Array;

/**
 * Reads the text of one value as grpc-gateway 1.16 does: integers in any of Go's notations, enums as numbers only, bytes in
 * either base64 alphabet. Throws a plain error with the text of Go.
 */
export function parseFieldValue(field: DescField, text: string): FieldValue {
  if (field.enum !== undefined) return int32(text);
  if (field.scalar === undefined) throw notSupported();
  const { number } = formOf(field);
  // Go has no form for these numbers in a query. The estimates of the dex module are of no use without one.
  if (number !== undefined && field.scalar === ScalarType.STRING) return numberFromJson(text, number);
  return parseScalar(field.scalar, text);
}

/** The error of a field whose type has no form in a query. The words are those of Go's reflection. */
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

/** Standard base64, or else the URL alphabet, whose error counts. */
function parseBytes(text: string): Uint8Array {
  try {
    return goBase64Decode(text);
  } catch {
    return goBase64Decode(fromUrlAlphabet(text));
  }
}

/** Standard letters for those of the URL alphabet; what only the standard one has becomes a bad letter at its place. */
function fromUrlAlphabet(text: string): string {
  return text.replaceAll(/[+/]/g, "!").replaceAll("-", "+").replaceAll("_", "/");
}
