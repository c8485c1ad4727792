import { type DescField, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { ProtoError } from "./errors.ts";
import { goTypeName } from "./go-names.ts";
import { findMessageByTypeUrl, requireMessage } from "./registry.ts";
import { CANONICAL_CHAIN_NAME } from "./type-urls.ts";
import { canCarry, type FieldType, wireTypeName, wireTypeOf } from "./wire-types.ts";

/** How {@link rejectUnknownFields} judges. */
export interface UnknownFieldRules {
  /** Tolerates unknown fields whose number has bit 11 set (1024 … 2047, 3072 … 4095, …): the SDK does in a TxBody. */
  readonly allowNonCritical?: boolean;
  /** The name of the chain, for type URLs of its own modules. */
  readonly chainName?: string;
  /** Narrows the messages that an Any may hold to those that the app has registered; by type URL as written. */
  readonly isRegistered?: (typeUrl: string) => boolean;
}

const NON_CRITICAL_BIT = 1 << 10;
const MAX_DEPTH = 100;

/**
 * Refuses bytes that hold a field which the message, or one nested in it, does not declare, as the SDK does before it
 * decodes a transaction (`codec/unknownproto`); descends into every Any. The text of the error is the SDK's. Returns
 * whether unknown non-critical fields were tolerated.
 *
 * Throws ProtoError: `unknown-field`, `wrong-wire-type`, `unresolvable-type-url`, `bad-bytes`, `too-deep`.
 */
export function rejectUnknownFields(
  typeName: string,
  bytes: Uint8Array,
  rules: UnknownFieldRules = {},
): boolean {
  return checkMessage(requireMessage(typeName), bytes, { rules, depth: 0 });
}

interface Place {
  readonly rules: UnknownFieldRules;
  readonly depth: number;
}

function checkMessage(desc: DescMessage, bytes: Uint8Array, place: Place): boolean {
  if (place.depth > MAX_DEPTH) throw new ProtoError({ code: "too-deep" }, "recursion limit reached");
  const reader = new BinaryReader(bytes);
  let tolerated = false;
  while (reader.pos < reader.len) {
    const [fieldNumber, wireType] = readTag(reader, desc);
    const field = fieldsOf(desc).get(fieldNumber);
    if (field === undefined) {
      refuseUnknown(desc, fieldNumber, wireType, place.rules);
      tolerated ||= isNonCritical(fieldNumber);
    } else {
      requireWireType(desc, field, wireType);
    }
    const value = readValue(reader, desc, fieldNumber, wireType);
    if (field?.message !== undefined && field.fieldKind !== "map") {
      tolerated = checkNested(field.message, value, place) || tolerated;
    }
  }
  return tolerated;
}

const fieldsByType = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

/** Fields by number, put together once for every type: each transaction asks again. */
function fieldsOf(desc: DescMessage): ReadonlyMap<number, DescField> {
  const known = fieldsByType.get(desc);
  if (known !== undefined) return known;
  const fields = new Map(desc.fields.map((field) => [field.number, field]));
  fieldsByType.set(desc, fields);
  return fields;
}

function checkNested(desc: DescMessage, value: Uint8Array, place: Place): boolean {
  const inner = { rules: place.rules, depth: place.depth + 1 };
  const tolerated = checkMessage(desc, value, inner);
  if (desc.typeName !== AnySchema.typeName) return tolerated;
  const any = decodeAny(value);
  return checkMessage(resolve(any.typeUrl, place.rules), any.value, inner) || tolerated;
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

function refuseUnknown(
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

/** The value after a tag; of a length-delimited one what is inside. */
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
