import { ScalarType } from "@bufbuild/protobuf";

/** Wire types. 6 and 7 are reserved. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

/** Declared type of a field: a scalar type, an enum or a message. */
export type FieldType = ScalarType | "enum" | "message";

// In the order of their numbers on the wire, with the names of the SDK's `codec/unknownproto`.
const NAMES = ["varint", "fixed64", "bytes", "start_group", "end_group", "fixed32"];

/** Returns the name of a wire type as the SDK prints it. */
export function wireTypeName(wireType: number): string {
  return NAMES[wireType] ?? `unknown type: ${wireType}`;
}

/** Returns the wire type of a single, unpacked value. */
export function wireTypeOf(type: FieldType): number {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
    case "message":
      return WIRE.bytes;
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
    case ScalarType.DOUBLE:
      return WIRE.fixed64;
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
    case ScalarType.FLOAT:
      return WIRE.fixed32;
    case ScalarType.INT32:
    case ScalarType.INT64:
    case ScalarType.UINT32:
    case ScalarType.UINT64:
    case ScalarType.SINT32:
    case ScalarType.SINT64:
    case ScalarType.BOOL:
    case "enum":
      return WIRE.varint;
  }
}

/**
 * Returns whether the SDK accepts this wire type for a field of this type. It accepts length-delimited bytes for every type,
 * since a packed list has that form.
 */
export function canCarry(wireType: number, type: FieldType): boolean {
  return wireType === WIRE.bytes || wireType === wireTypeOf(type);
}
