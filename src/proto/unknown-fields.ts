import { type DescField, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { ProtoError } from "./errors.ts";
import { goTypeName } from "./go-names.ts";
import { findMessageByTypeUrl, requireMessage } from "./registry.ts";
import { CANONICAL_CHAIN_NAME } from "./type-urls.ts";
import { canCarry, type FieldType, wireTypeName, wireTypeOf } from "./wire-types.ts";

export interface UnknownFieldRules {
  /**
   * Accepts unknown non-critical fields: bit 11 of their number is set (1024 to 2047, 3072 to 4095, …). The SDK accepts them
   * in a TxBody.
   */
  readonly allowNonCritical?: boolean;
  /** The chain name in type URLs. Absent is the canonical name. */
  readonly chainName?: string;
  /** Whether an Any may hold this type URL, as written in the transaction. Absent allows every message of the definitions. */
  readonly isRegistered?: (typeUrl: string) => boolean;
}

// Bit 11 when counted from 1, as in the SDK.
const NON_CRITICAL_BIT = 1 << 10;
// Bounds the recursion: the bytes come from outside.
const MAX_DEPTH = 100;

/**
 * Throws if an encoded message has a field that its type does not declare. Checks nested messages and the content of every
 * Any. The SDK makes this check before it decodes a transaction (`codec/unknownproto`); the error texts are the SDK's.
 * Returns whether it accepted unknown non-critical fields.
 *
 * Throws ProtoError `unknown-field`, `wrong-wire-type`, `unresolvable-type-url`, `bad-bytes` or `too-deep`.
 */
export function rejectUnknownFields(
  typeName: string,
  bytes: Uint8Array,
  rules: UnknownFieldRules = {},
): boolean {
  return checkMessage(requireMessage(typeName), bytes, { rules, depth: 0 });
}

interface CheckContext {
  readonly rules: UnknownFieldRules;
  readonly depth: number;
}

function checkMessage(desc: DescMessage, bytes: Uint8Array, context: CheckContext): boolean {
  if (context.depth > MAX_DEPTH) throw new ProtoError({ code: "too-deep" }, "recursion limit reached");
  const reader = new BinaryReader(bytes);
  let hasNonCritical = false;
  while (reader.pos < reader.len) {
    const [fieldNumber, wireType] = readTag(reader, desc);
    const field = fieldsOf(desc).get(fieldNumber);
    if (field === undefined) {
      rejectUnknown(desc, fieldNumber, wireType, context.rules);
      hasNonCritical ||= isNonCritical(fieldNumber);
    } else {
      requireWireType(desc, field, wireType);
    }
    const value = readValue(reader, desc, fieldNumber, wireType);
    if (field?.message !== undefined && field.fieldKind !== "map") {
      // Call first: `||` must not skip the check of a nested message.
      hasNonCritical = checkNested(field.message, value, context) || hasNonCritical;
    }
  }
  return hasNonCritical;
}

const fieldsByType = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

/** Returns the fields by number. Built once per type, since every transaction needs the map again. */
function fieldsOf(desc: DescMessage): ReadonlyMap<number, DescField> {
  const cached = fieldsByType.get(desc);
  if (cached !== undefined) return cached;
  const fields = new Map(desc.fields.map((field) => [field.number, field]));
  fieldsByType.set(desc, fields);
  return fields;
}

function checkNested(desc: DescMessage, value: Uint8Array, context: CheckContext): boolean {
  const inner = { rules: context.rules, depth: context.depth + 1 };
  const hasNonCritical = checkMessage(desc, value, inner);
  if (desc.typeName !== AnySchema.typeName) return hasNonCritical;
  const any = decodeAny(value);
  return checkMessage(resolve(any.typeUrl, context.rules), any.value, inner) || hasNonCritical;
}

function decodeAny(bytes: Uint8Array): { readonly typeUrl: string; readonly value: Uint8Array } {
  try {
    return fromBinary(AnySchema, bytes);
  } catch (thrown) {
    throw badBytes(AnySchema.typeName, "invalid length", thrown);
  }
}

function resolve(typeUrl: string, rules: UnknownFieldRules): DescMessage {
  const desc = findMessageByTypeUrl(typeUrl, rules.chainName ?? CANONICAL_CHAIN_NAME);
  if (desc === undefined || rules.isRegistered?.(typeUrl) === false) {
    throw new ProtoError({ code: "unresolvable-type-url", typeUrl }, `unable to resolve type URL ${typeUrl}`);
  }
  return desc;
}

function isNonCritical(fieldNumber: number): boolean {
  return (fieldNumber & NON_CRITICAL_BIT) !== 0;
}

function rejectUnknown(
  desc: DescMessage,
  fieldNumber: number,
  wireType: WireType,
  rules: UnknownFieldRules,
): void {
  if (isNonCritical(fieldNumber) && rules.allowNonCritical === true) return;
  throw new ProtoError(
    { code: "unknown-field", typeName: desc.typeName, fieldNumber },
    `errUnknownField "${goTypeName(desc)}": {TagNum: ${fieldNumber}, WireType:"${wireTypeName(wireType)}"}`,
  );
}

function requireWireType(desc: DescMessage, field: DescField, wireType: WireType): void {
  const type = fieldType(field);
  if (canCarry(wireType, type)) return;
  const [got, want] = [wireTypeName(wireType), wireTypeName(wireTypeOf(type))];
  throw new ProtoError(
    { code: "wrong-wire-type", typeName: desc.typeName, fieldNumber: field.number },
    `Mismatched "${goTypeName(desc)}": {TagNum: ${field.number}, GotWireType: "${got}" != WantWireType: "${want}"}`,
  );
}

function fieldType(field: DescField): FieldType {
  if (field.fieldKind === "map" || field.message !== undefined) return "message";
  return field.scalar ?? "enum";
}

function readTag(reader: BinaryReader, desc: DescMessage): [number, WireType] {
  try {
    return reader.tag();
  } catch (thrown) {
    throw badBytes(desc.typeName, "invalid length", thrown);
  }
}

/** Reads the value after a tag. For a length-delimited value returns the content without the length. */
function readValue(
  reader: BinaryReader,
  desc: DescMessage,
  fieldNumber: number,
  wireType: WireType,
): Uint8Array {
  try {
    return wireType === WireType.LengthDelimited ? reader.bytes() : reader.skip(wireType, fieldNumber);
  } catch (thrown) {
    const where = `tagNum: ${fieldNumber}, wireType: "${wireTypeName(wireType)}"`;
    throw badBytes(desc.typeName, `could not consume field value for ${where}; unexpected EOF`, thrown);
  }
}

function badBytes(typeName: string, text: string, cause: unknown): ProtoError {
  return new ProtoError({ code: "bad-bytes", typeName }, text, { cause });
}
