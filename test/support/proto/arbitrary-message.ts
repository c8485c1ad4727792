import { type DescField, type DescMessage, ScalarType, toBinary } from "@bufbuild/protobuf";
import { isReflectList, isReflectMap, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import fc from "fast-check";
import { formatOf } from "../../../src/cosmos/proto/field-formats.ts";

const MAX_DEPTH = 3;

/** Generates 64-bit integers from `min` to `max`. */
export type Integers = (min: bigint, max: bigint) => fc.Arbitrary<bigint>;

const allIntegers: Integers = (min, max) => fc.bigInt({ min, max });

/** Leaves out 2^31 to 2^32-1: cosmjs-types 0.11.0 loses bits of these. */
export const integersForCosmjs: Integers = (min, max) =>
  fc.bigInt({ min, max }).filter((value) => value < 2n ** 31n || value >= 2n ** 32n);

/** Generates encoded messages of a type with arbitrary fields. Non-nullable fields are always set. */
export function arbitraryBytes(
  desc: DescMessage,
  integers: Integers = allIntegers,
): fc.Arbitrary<Uint8Array> {
  return arbitraryMessage(desc, { depth: 0, integers }).map((message) => toBinary(desc, message.message));
}

interface Place {
  readonly depth: number;
  readonly integers: Integers;
}

function arbitraryMessage(desc: DescMessage, place: Place): fc.Arbitrary<ReflectMessage> {
  if (desc.typeName === "google.protobuf.Timestamp") {
    return timeMessage(desc, place.integers(-62_135_596_800n, 253_402_300_799n));
  }
  if (desc.typeName === "google.protobuf.Duration")
    return timeMessage(desc, place.integers(0n, 315_576_000_000n));
  const fields = desc.fields.map((field) => arbitraryField(field, place));
  return fc.tuple(...fields).map((values) => {
    const message = reflect(desc);
    desc.fields.forEach((field, index) => setField(message, field, values[index]));
    return message;
  });
}

function timeMessage(desc: DescMessage, seconds: fc.Arbitrary<bigint>): fc.Arbitrary<ReflectMessage> {
  return fc.record({ seconds, nanos: fc.integer({ min: 0, max: 999_999_999 }) }).map((time) => {
    const message = reflect(desc);
    for (const field of desc.fields) message.set(field, field.name === "seconds" ? time.seconds : time.nanos);
    return message;
  });
}

function setField(message: ReflectMessage, field: DescField, value: unknown): void {
  if (value === undefined) return;
  if (field.oneof !== undefined && message.oneofCase(field.oneof) !== undefined) return;
  const target: unknown = message.get(field);
  if (isReflectList(target) && Array.isArray(value)) for (const item of value) target.add(item);
  else if (isReflectMap(target) && Array.isArray(value))
    for (const [key, item] of value) target.set(key, item);
  else message.set(field, value);
}

/** Generates a value of the field, or undefined for an absent field. */
function arbitraryField(field: DescField, place: Place): fc.Arbitrary<unknown> {
  const format = formatOf(field);
  const number = field.fieldKind === "scalar" && format.number !== undefined && !format.nullWhenEmpty;
  if (number || (field.fieldKind === "message" && format.neverNull)) return arbitraryValue(field, place);
  if (field.message !== undefined && place.depth >= MAX_DEPTH) return fc.constant(undefined);
  return fc.option(arbitraryPresent(field, place), { nil: undefined });
}

function arbitraryPresent(field: DescField, place: Place): fc.Arbitrary<unknown> {
  const value = arbitraryValue(field, place);
  if (field.fieldKind === "list") return fc.array(value, { maxLength: 3 });
  // At most one entry: the wire format does not fix the order of map entries.
  if (field.fieldKind === "map")
    return fc.array(fc.tuple(scalar(field.mapKey, place), value), { maxLength: 1 });
  return value;
}

function arbitraryValue(field: DescField, place: Place): fc.Arbitrary<unknown> {
  if (field.message !== undefined)
    return arbitraryMessage(field.message, { ...place, depth: place.depth + 1 });
  if (field.enum !== undefined) return fc.constantFrom(...field.enum.values.map((value) => value.number));
  if (formatOf(field).number !== undefined) return digits(field.scalar === ScalarType.BYTES);
  return scalar(field.scalar ?? ScalarType.BYTES, place);
}

function digits(asBytes: boolean): fc.Arbitrary<unknown> {
  const text = fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String);
  return asBytes ? text.map((each) => new TextEncoder().encode(each)) : text;
}

function scalar(type: ScalarType, { integers }: Place): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.STRING:
      return fc.string({ maxLength: 8, unit: "grapheme" });
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 8 });
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return fc.integer();
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.integer({ min: 0, max: 0xffff_ffff });
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return integers(-(2n ** 63n), 2n ** 63n - 1n);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return integers(0n, 2n ** 64n - 1n);
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      throw new Error("the definitions have no floating-point field");
  }
}
