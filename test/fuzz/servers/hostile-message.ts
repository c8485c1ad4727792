import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Random } from "../random.ts";
import { damagedBytes, hostileBytes, hostileNumber, hostileText, several } from "./hostile-values.ts";

const MAX_DEPTH = 4;
const WIDTH_64: ReadonlySet<ScalarType> = new Set([
  ScalarType.DOUBLE,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);
const WIDTH_32: ReadonlySet<ScalarType> = new Set([
  ScalarType.FLOAT,
  ScalarType.FIXED32,
  ScalarType.SFIXED32,
]);

/** Draws an encoded message of this type. It often decodes; a part is damaged. */
export function hostileMessage(random: Random, type: DescMessage): Uint8Array {
  const bytes = encode(random, type, 0);
  return random.chance(0.2) ? damagedBytes(random, bytes) : bytes;
}

function encode(random: Random, type: DescMessage, depth: number): Uint8Array {
  const fields = type.fields.filter(() => random.chance(0.7));
  const parts = fields.flatMap((field) => {
    const isMany = field.fieldKind === "list" || field.fieldKind === "map" || random.chance(0.03);
    return isMany
      ? several(random, 4, () => fieldBytes(random, field, depth))
      : [fieldBytes(random, field, depth)];
  });
  return Buffer.concat(parts);
}

function fieldBytes(random: Random, field: DescField, depth: number): Uint8Array {
  const message = field.fieldKind === "message" || field.fieldKind === "list" ? field.message : undefined;
  if (message !== undefined) {
    return delimited(field, depth < MAX_DEPTH ? encode(random, message, depth + 1) : new Uint8Array());
  }
  if (field.fieldKind === "map") return delimited(field, hostileBytes(random));
  const scalar = field.scalar ?? ScalarType.INT64;
  if (scalar === ScalarType.STRING) return delimited(field, Buffer.from(hostileText(random)));
  if (scalar === ScalarType.BYTES) return delimited(field, hostileBytes(random));
  if (WIDTH_64.has(scalar)) return Buffer.concat([tag(field, 1), Buffer.alloc(8, random.int(256))]);
  if (WIDTH_32.has(scalar)) return Buffer.concat([tag(field, 5), Buffer.alloc(4, random.int(256))]);
  return Buffer.concat([tag(field, 0), varint(hostileInteger(random))]);
}

function hostileInteger(random: Random): bigint {
  const text = hostileNumber(random);
  return /^-?\d+$/.test(text) ? BigInt.asUintN(64, BigInt(text)) : 0n;
}

function delimited(field: DescField, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([tag(field, 2), varint(BigInt(bytes.length)), bytes]);
}

function tag(field: DescField, wireType: number): Uint8Array {
  return varint((BigInt(field.number) << 3n) | BigInt(wireType));
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Uint8Array.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}
