import { type DescField, type DescMessage, ScalarType, toBinary } from "@bufbuild/protobuf";
import { isReflectList, isReflectMap, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import { requireMessage } from "../../../src/cosmos/proto/registry.ts";
import type { Random } from "../random.ts";

/** Values that fields of random messages receive, besides random ones. */
export interface FieldValues {
  readonly strings: readonly string[];
  readonly bytes: readonly Uint8Array[];
  /** Full names of messages that an Any may hold. */
  readonly packed: readonly string[];
  /** Address in most fields of a signer. */
  readonly signer: string;
  /** Type that an Any in a field of this name mostly holds. */
  readonly packedIn: Readonly<Record<string, string>>;
}

const MAX_DEPTH = 5;
const SIGNER_FIELD = /^(?:sender|signer|authority|creator|from_address)$/;
const INTEGERS: readonly bigint[] = [
  0n,
  1n,
  2n,
  7n,
  317n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 1n,
];

/** Draws one element. Throws for an empty list. */
export function pick<T>(random: Random, list: readonly T[]): T {
  const item = list[random.int(list.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

/** Encodes a message of a type with random fields: valid protobuf, mostly senseless. */
export function randomMessage(typeName: string, random: Random, values: FieldValues, depth = 0): Uint8Array {
  const desc = requireMessage(typeName);
  return toBinary(desc, fill(desc, { random, values, depth }).message);
}

interface Place {
  readonly random: Random;
  readonly values: FieldValues;
  readonly depth: number;
}

function fill(desc: DescMessage, place: Place): ReflectMessage {
  const { random, values, depth } = place;
  const message = reflect(desc);
  if (desc.typeName === "google.protobuf.Any") {
    const type = depth < MAX_DEPTH ? pick(random, values.packed) : "cosmos.base.v1beta1.Coin";
    return pack(message, type, place);
  }
  for (const field of desc.fields) {
    if (SIGNER_FIELD.test(field.name) && random.chance(0.9)) message.set(field, values.signer);
    else if (random.chance(field.oneof === undefined ? 0.85 : 0.4)) setField(message, field, place);
  }
  return message;
}

function pack(any: ReflectMessage, type: string, { random, values, depth }: Place): ReflectMessage {
  const [url, value] = any.desc.fields;
  if (url !== undefined) any.set(url, random.chance(0.95) ? `/${type}` : pick(random, values.strings));
  if (value !== undefined) any.set(value, randomMessage(type, random, values, depth + 1));
  return any;
}

function setField(message: ReflectMessage, field: DescField, place: Place): void {
  const target: unknown = message.get(field);
  if (isReflectMap(target)) return;
  if (!isReflectList(target)) {
    const value = valueOf(field, place);
    if (value !== undefined) message.set(field, value);
    return;
  }
  const count = place.random.chance(0.02) ? 200 : place.random.int(4);
  for (let index = 0; index < count; index++) {
    const value = valueOf(field, place);
    if (value !== undefined) target.add(value);
  }
}

function valueOf(field: DescField, place: Place): unknown {
  const { random, values, depth } = place;
  if (field.message !== undefined) {
    const packed = values.packedIn[field.name];
    if (packed !== undefined && field.message.typeName === "google.protobuf.Any" && random.chance(0.8))
      return pack(reflect(field.message), packed, place);
    return depth >= MAX_DEPTH ? undefined : fill(field.message, { ...place, depth: depth + 1 });
  }
  const { scalar } = field;
  if (scalar === ScalarType.STRING) return pick(random, values.strings);
  if (scalar === ScalarType.BYTES)
    return random.chance(0.7) ? pick(random, values.bytes) : randomBytes(random, random.int(70));
  if (scalar === ScalarType.BOOL) return random.chance(0.5);
  if (scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT) return random.next();
  return integerOf(field, random);
}

const UNSIGNED_64: ReadonlySet<ScalarType | undefined> = new Set([ScalarType.UINT64, ScalarType.FIXED64]);
const SIGNED_64: ReadonlySet<ScalarType | undefined> = new Set([
  ScalarType.INT64,
  ScalarType.SINT64,
  ScalarType.SFIXED64,
]);
const UNSIGNED_32: ReadonlySet<ScalarType | undefined> = new Set([ScalarType.UINT32, ScalarType.FIXED32]);

function integerOf({ scalar, enum: names }: DescField, random: Random): bigint | number {
  const value = pick(random, INTEGERS);
  if (UNSIGNED_64.has(scalar)) return value;
  if (SIGNED_64.has(scalar)) return BigInt.asIntN(64, value);
  if (UNSIGNED_32.has(scalar)) return Number(BigInt.asUintN(32, value));
  return Number(BigInt.asIntN(names === undefined ? 32 : 3, value));
}

/** Draws bytes. */
export function randomBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.int(256));
}

/** Damages bytes at one to three places: overwrites, deletes, inserts, repeats, or cuts the end off. */
export function damage(bytes: Uint8Array, random: Random): Uint8Array {
  let damaged = bytes;
  for (let count = 1 + random.int(3); count > 0; count--) damaged = damageOnce(damaged, random);
  return damaged;
}

function damageOnce(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.int(bytes.length + 1);
  const length = random.int(12);
  const [head, middle, tail] = [bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at)];
  const rest = bytes.subarray(at + length);
  switch (random.int(6)) {
    case 0:
      return join(head, Uint8Array.of((bytes[at] ?? 0) ^ (1 << random.int(8))), bytes.subarray(at + 1));
    case 1:
      return join(head, rest);
    case 2:
      return join(head, randomBytes(random, length), tail);
    case 3:
      return join(head, middle, middle, rest);
    case 4:
      return join(head, utf8(pick(random, ["\u0000", "\u00ff", "\ud83d", "{", '"', "1e999"])), tail);
    default:
      return random.chance(0.3) ? head : join(head, Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f), rest);
  }
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
