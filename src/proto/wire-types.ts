import { ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";

/** What a field is on the wire: its declared type, or one of two kinds that are no scalar. */
export type FieldType = ScalarType | "enum" | "message";

const NAMES = ["varint", "fixed64", "bytes", "start_group", "end_group", "fixed32"];

/** The name of a wire type as the SDK prints it. */
export function wireTypeName(wireType: WireType): string {
  return NAMES[wireType] ?? `unknown type: ${wireType}`;
}

/** The wire type in which one value of this type is written, unpacked. */
export function wireTypeOf(type: FieldType): WireType {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
    case "message":
      return WireType.LengthDelimited;
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
    case ScalarType.DOUBLE:
      return WireType.Bit64;
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
    case ScalarType.FLOAT:
      return WireType.Bit32;
    case ScalarType.INT32:
    case ScalarType.INT64:
    case ScalarType.UINT32:
    case ScalarType.UINT64:
    case ScalarType.SINT32:
    case ScalarType.SINT64:
    case ScalarType.BOOL:
    case "enum":
      return WireType.Varint;
  }
}

/** Whether the SDK takes this wire type for the type: its own, or a length-delimited (packed) one for any type. */
export function canCarry(wireType: WireType, type: FieldType): boolean {
  return wireType === WireType.LengthDelimited || wireType === wireTypeOf(type);
}
