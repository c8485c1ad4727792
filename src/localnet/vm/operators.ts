import type { ByteReader } from "./byte-reader.ts";
import { moduleError } from "./errors.ts";

/** Encoded value types. `UNKNOWN` is the type of a value popped from an empty stack in unreachable code. */
export const I32 = 0x7f;
export const I64 = 0x7e;
export const F32 = 0x7d;
export const F64 = 0x7c;
export const UNKNOWN = 0;

/** Type of a block without parameters and results. */
export const EMPTY_BLOCK = 0x40;

/** Opcodes used by name in the validator and rewriter. For an opcode with prefix 0xfc, `SATURATING` is added to its number. */
export const OP = {
  unreachable: 0x00,
  nop: 0x01,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  brTable: 0x0e,
  return: 0x0f,
  call: 0x10,
  callIndirect: 0x11,
  drop: 0x1a,
  select: 0x1b,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  memorySize: 0x3f,
  memoryGrow: 0x40,
  i32Const: 0x41,
  i64Const: 0x42,
  f32Const: 0x43,
  f64Const: 0x44,
} as const;

/** Offset that the tables below add to the numbers of saturating conversions, which have the prefix 0xfc. */
const SATURATING = 0x100;

/** Opcode ranges with a fixed signature, in which i and I stand for 32-bit and 64-bit integers, and f and F for floats. */
const SIGNATURES: readonly (readonly [from: number, to: number, params: string, result: string])[] = [
  ...loadsAndStores(),
  [0x41, 0x41, "", "i"],
  [0x42, 0x42, "", "I"],
  [0x43, 0x43, "", "f"],
  [0x44, 0x44, "", "F"],
  [0x45, 0x45, "i", "i"],
  [0x46, 0x4f, "ii", "i"],
  [0x50, 0x50, "I", "i"],
  [0x51, 0x5a, "II", "i"],
  [0x5b, 0x60, "ff", "i"],
  [0x61, 0x66, "FF", "i"],
  [0x67, 0x69, "i", "i"],
  [0x6a, 0x78, "ii", "i"],
  [0x79, 0x7b, "I", "I"],
  [0x7c, 0x8a, "II", "I"],
  [0x8b, 0x91, "f", "f"],
  [0x92, 0x98, "ff", "f"],
  [0x99, 0x9f, "F", "F"],
  [0xa0, 0xa6, "FF", "F"],
  [0xa7, 0xa7, "I", "i"],
  [0xa8, 0xa9, "f", "i"],
  [0xaa, 0xab, "F", "i"],
  [0xac, 0xad, "i", "I"],
  [0xae, 0xaf, "f", "I"],
  [0xb0, 0xb1, "F", "I"],
  [0xb2, 0xb3, "i", "f"],
  [0xb4, 0xb5, "I", "f"],
  [0xb6, 0xb6, "F", "f"],
  [0xb7, 0xb8, "i", "F"],
  [0xb9, 0xba, "I", "F"],
  [0xbb, 0xbb, "f", "F"],
  [0xbc, 0xbc, "f", "i"],
  [0xbd, 0xbd, "F", "I"],
  [0xbe, 0xbe, "i", "f"],
  [0xbf, 0xbf, "I", "F"],
  [0xc0, 0xc1, "i", "i"],
  [0xc2, 0xc4, "I", "I"],
  [SATURATING, SATURATING + 1, "f", "i"],
  [SATURATING + 2, SATURATING + 3, "F", "i"],
  [SATURATING + 4, SATURATING + 5, "f", "I"],
  [SATURATING + 6, SATURATING + 7, "F", "I"],
];

function loadsAndStores(): [number, number, string, string][] {
  const loads = "iIfFiiiiIIIIII"
    .split("")
    .map((result, at) => [0x28 + at, 0x28 + at, "i", result] as [number, number, string, string]);
  const stores = "iIfFiiIII"
    .split("")
    .map((value, at) => [0x36 + at, 0x36 + at, `i${value}`, ""] as [number, number, string, string]);
  return [...loads, ...stores];
}

const TYPE_OF_LETTER: Readonly<Record<string, number>> = { i: I32, I: I64, f: F32, F: F64 };

export interface Signature {
  readonly params: readonly number[];
  readonly result: number | undefined;
}

/** Operator signatures, indexed by opcode, or undefined for operators without a fixed signature. */
export const SIGNATURE_OF: readonly (Signature | undefined)[] = (() => {
  const table: (Signature | undefined)[] = Array.from({ length: SATURATING + 8 });
  for (const [from, to, params, result] of SIGNATURES) {
    const signature = {
      params: params.split("").map((letter) => TYPE_OF_LETTER[letter] ?? I32),
      result: TYPE_OF_LETTER[result],
    };
    for (let opcode = from; opcode <= to; opcode++) table[opcode] = signature;
  }
  return table;
})();

/** Maximum alignment exponents of loads and stores, for opcodes 0x28 to 0x3e. */
const MAX_ALIGNMENTS = [2, 3, 2, 3, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 3, 2, 3, 0, 1, 0, 1, 2];
const MAX_BR_TABLE_SIZE = 128 * 1024;

/** Returns the name of an opcode's feature if the deployed VM disables that feature. */
function disabledFeature(opcode: number): string | undefined {
  if ((opcode >= 0x06 && opcode <= 0x0a) || opcode === 0x18 || opcode === 0x19 || opcode === 0x1f)
    return "exceptions";
  if (opcode === 0x12 || opcode === 0x13) return "tail calls";
  if (opcode === 0x14 || opcode === 0x15 || (opcode >= 0xd4 && opcode <= 0xd6)) return "function references";
  if (opcode === 0x1c || opcode === 0x25 || opcode === 0x26 || (opcode >= 0xd0 && opcode <= 0xd2))
    return "reference types";
  if (opcode === 0xd3 || opcode === 0xfb) return "gc";
  if (opcode === 0xfd) return "SIMD";
  if (opcode === 0xfe) return "threads";
  return undefined;
}

/** A decoded operator, i.e. its opcode (saturating conversions start at 0x100) and all immediates that checks need. */
export interface Operator {
  opcode: number;
  /** Offset of the operator's opcode. */
  start: number;
  /** Index or branch depth. A `br_table` has the default depth here, and a block its type index, or -1 if `blockType` applies. */
  index: number;
  /** Result type of a block that has no type index, or `EMPTY_BLOCK`. */
  blockType: number;
  /** Branch depths in a `br_table`, without the default depth. */
  targets: number[];
}

export function newOperator(): Operator {
  return { opcode: 0, start: 0, index: 0, blockType: 0, targets: [] };
}

/** Reads an operator into `into`, which is reused for speed. Throws if the operator is malformed, unknown or disabled. */
export function readOperator(reader: ByteReader, into: Operator): void {
  const start = reader.position;
  const opcode = reader.u8();
  into.start = start;
  into.opcode = opcode;
  if (opcode >= 0x45 && opcode <= 0xc4) return;
  if (opcode >= 0x28 && opcode <= 0x3e) readMemoryArgument(reader, opcode, into);
  else if (opcode >= 0x20 && opcode <= 0x24) into.index = reader.varU32();
  else readOther(reader, into);
}

function readOther(reader: ByteReader, into: Operator): void {
  switch (into.opcode) {
    case OP.unreachable:
    case OP.nop:
    case OP.else:
    case OP.end:
    case OP.return:
    case OP.drop:
    case OP.select:
      return;
    case OP.block:
    case OP.loop:
    case OP.if:
      readBlockType(reader, into);
      return;
    case OP.br:
    case OP.brIf:
    case OP.call:
      into.index = reader.varU32();
      return;
    case OP.brTable:
      readBranchTable(reader, into);
      return;
    case OP.callIndirect:
      into.index = reader.varU32();
      requireZeroByte(reader, into, "reference-types");
      return;
    case OP.memorySize:
    case OP.memoryGrow:
      requireZeroByte(reader, into, "multi-memory");
      return;
    case OP.i32Const:
      into.index = reader.varI32();
      return;
    case OP.i64Const:
      reader.skipSigned(64);
      return;
    case OP.f32Const:
      reader.skip(4);
      return;
    case OP.f64Const:
      reader.skip(8);
      return;
    case 0xfc:
      readSaturating(reader, into);
      return;
    default:
      refuseOpcode(into);
  }
}

function refuseOpcode({ opcode, start }: Operator): never {
  const feature = disabledFeature(opcode);
  if (feature !== undefined) throw moduleError(`${feature} support is not enabled`, start);
  throw moduleError(`illegal opcode: 0x${opcode.toString(16)}`, start);
}

function readMemoryArgument(reader: ByteReader, opcode: number, into: Operator): void {
  const position = reader.position;
  let flags = reader.varU32();
  let memory = 0;
  if ((flags & 0x40) !== 0) {
    flags ^= 0x40;
    memory = reader.varU32();
  }
  if (flags >= 0x40) throw moduleError("alignment too large", position);
  reader.varU32();
  into.index = memory;
  if (memory !== 0) throw moduleError(`unknown memory ${memory}`, into.start);
  if (flags > (MAX_ALIGNMENTS[opcode - 0x28] ?? 0))
    throw moduleError("alignment must not be larger than natural", into.start);
}

function readBlockType(reader: ByteReader, into: Operator): void {
  const byte = reader.peek();
  into.index = -1;
  into.blockType = byte;
  if (byte === EMPTY_BLOCK || (byte >= F64 && byte <= I32)) reader.position++;
  else if (byte === 0x7b) throw moduleError("SIMD support is not enabled", into.start);
  else if (byte >= 0x63 && byte <= 0x73)
    throw moduleError("reference types support is not enabled", into.start);
  else into.index = readTypeIndex(reader);
}

/** Reads a type index, which is encoded as a signed 33-bit integer to distinguish it from value types. */
function readTypeIndex(reader: ByteReader): number {
  const start = reader.position;
  reader.skipSigned(33);
  let result = 0;
  let factor = 1;
  for (let at = start; at < reader.position; at++, factor *= 128)
    result += ((reader.bytes[at] ?? 0) & 0x7f) * factor;
  const last = reader.bytes[reader.position - 1] ?? 0;
  if ((last & 0x40) !== 0) throw moduleError("invalid function type", reader.position);
  return result;
}

function readBranchTable(reader: ByteReader, into: Operator): void {
  const count = reader.size(MAX_BR_TABLE_SIZE, "br_table");
  into.targets = [];
  for (let at = 0; at < count; at++) into.targets.push(reader.varU32());
  into.index = reader.varU32();
}

function requireZeroByte(reader: ByteReader, into: Operator, feature: string): void {
  const byte = reader.peek();
  reader.varU32();
  if (byte !== 0) throw moduleError(`${feature} not enabled: zero byte expected`, into.start);
}

function readSaturating(reader: ByteReader, into: Operator): void {
  const number = reader.varU32();
  into.opcode = SATURATING + number;
  if (number < 8) return;
  if (number < 15) throw moduleError("bulk memory support is not enabled", into.start);
  if (number < 18) throw moduleError("reference types support is not enabled", into.start);
  if (number === 18) throw moduleError("memory control support is not enabled", into.start);
  throw moduleError(`unknown 0xfc subopcode: 0x${number.toString(16)}`, into.start);
}
