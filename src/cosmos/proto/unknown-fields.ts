import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { latin1 } from "../../platform/base/bytes.ts";
import { getOrCreate } from "../../platform/base/caches.ts";
import {
  decodeByDescriptor,
  contentOf,
  readTag,
  skipValue,
  canCarry,
  type FieldType,
  wireTypeName,
  wireTypeOf,
} from "./wire-fields.ts";
import {
  CANONICAL_CHAIN_NAME,
  ProtoError,
  requireMessage,
  requireMessageByTypeUrl,
  unresolvable,
} from "./registry.ts";
import { checkNumber, formatOf } from "./field-formats.ts";
import { goTypeName } from "./go-names.ts";

export interface UnknownFieldRules {
  /**
   * Accepts unknown non-critical fields, like the SDK in TxBody. Non-critical fields have field numbers with bit 11 set (1024 to
   * 2047, 3072 to 4095, …).
   */
  readonly allowNonCritical?: boolean;
  /** The chain name used in type URLs. Default: the canonical name. */
  readonly chainName?: string;
  /**
   * Returns true if an Any may contain this type URL as written in the transaction. By default, all defined messages are allowed.
   */
  readonly isRegistered?: (typeUrl: string) => boolean;
}

// Bit 11, counted from 1 as in the SDK.
const NON_CRITICAL_BIT = 1 << 10;
// Limits the recursion, because the bytes are untrusted.
const MAX_DEPTH = 100;

/**
 * Throws if an encoded message contains a field that its type does not declare, or digits that Go cannot decode. Checks nested
 * messages and the contents of every Any. The SDK rejects unknown fields (`codec/unknownproto`) before it decodes a transaction and
 * its numbers. The error messages are the same as in the SDK. Returns true if it accepted unknown non-critical fields.
 *
 * Throws ProtoError `unknown-field`, `wrong-wire-type`, `unresolvable-type-url`, `bad-bytes` or `too-deep`, and a plain `Error` for
 * invalid digits.
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
  let hasNonCritical = false;
  for (let at = 0; at < bytes.length; ) {
    const tag = readTag(bytes, at);
    if (typeof tag === "string") throw badBytes(desc.typeName, "invalid length");
    const { fieldNumber, wireType } = tag;
    const field = fieldsOf(desc).get(fieldNumber);
    if (field === undefined) {
      rejectUnknown(desc, fieldNumber, wireType, context.rules);
      hasNonCritical ||= isNonCritical(fieldNumber);
    } else {
      requireWireType(desc, field, wireType);
    }
    const value = skipValue(bytes, tag);
    if (typeof value === "string") throw badValue(desc, tag, value);
    at = value.end;
    const format = field === undefined ? undefined : formatOf(field).number;
    if (format !== undefined) checkNumber(latin1(contentOf(bytes, tag.end, at)), format);
    if (field?.message !== undefined && field.fieldKind !== "map") {
      // Call `checkNested` first, because `||` must not skip the check of a nested message.
      hasNonCritical = checkNested(field.message, contentOf(bytes, tag.end, at), context) || hasNonCritical;
    }
  }
  return hasNonCritical;
}

const fieldsByType = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

/** Returns a message's fields by number. The map is cached per type, since every transaction needs it. */
function fieldsOf(desc: DescMessage): ReadonlyMap<number, DescField> {
  return getOrCreate(fieldsByType, desc, () => new Map(desc.fields.map((field) => [field.number, field])));
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
    return decodeByDescriptor(AnySchema, bytes);
  } catch (thrown) {
    throw badBytes(AnySchema.typeName, "invalid length", thrown);
  }
}

function resolve(typeUrl: string, rules: UnknownFieldRules): DescMessage {
  if (rules.isRegistered?.(typeUrl) === false) return unresolvable(typeUrl);
  return requireMessageByTypeUrl(typeUrl, rules.chainName ?? CANONICAL_CHAIN_NAME);
}

function isNonCritical(fieldNumber: number): boolean {
  return (fieldNumber & NON_CRITICAL_BIT) !== 0;
}

function rejectUnknown(
  desc: DescMessage,
  fieldNumber: number,
  wireType: number,
  rules: UnknownFieldRules,
): void {
  if (isNonCritical(fieldNumber) && rules.allowNonCritical === true) return;
  throw new ProtoError(
    { code: "unknown-field", typeName: desc.typeName, fieldNumber },
    `errUnknownField "${goTypeName(desc)}": {TagNum: ${fieldNumber}, WireType:"${wireTypeName(wireType)}"}`,
  );
}

function requireWireType(desc: DescMessage, field: DescField, wireType: number): void {
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

function badValue(
  desc: DescMessage,
  tag: { readonly fieldNumber: number; readonly wireType: number },
  failure: string,
): ProtoError {
  const where = `tagNum: ${tag.fieldNumber}, wireType: "${wireTypeName(tag.wireType)}"`;
  return badBytes(desc.typeName, `could not consume field value for ${where}; ${failure}`);
}

function badBytes(typeName: string, text: string, cause?: unknown): ProtoError {
  return new ProtoError({ code: "bad-bytes", typeName }, text, { cause });
}
