import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { encodeUvarint } from "../varint.ts";
import type { HashText } from "./hash-text.ts";
import type { ExistenceProof, InnerOp, LeafOp } from "./proof-types.ts";

const SCRATCH = Buffer.alloc(512);
/** `VIEWS[n]` is the first n bytes of `SCRATCH`: making a view each time would cost a third of the hash. */
const VIEWS: readonly Buffer[] = Array.from({ length: SCRATCH.length + 1 }, (_, length) =>
  SCRATCH.subarray(0, length),
);
const HASH_BYTES = 32;
/** A leaf whose prefix and key have more bytes than this does not fit in `SCRATCH` with its lengths and its value's hash. */
const LONG_LEAF = SCRATCH.length - HASH_BYTES - 11;
const NOTHING = Buffer.alloc(0);

/** The bytes as a hash text. */
export function toHashText(bytes: Uint8Array): HashText {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** The bytes of a hash text. */
export function fromHashText(text: HashText): Buffer {
  return Buffer.from(text, "latin1");
}

/** SHA-256 of a range. */
function sha256Range(bytes: Buffer, start: number, end: number): HashText {
  const length = end - start;
  if (length > SCRATCH.length) return digest(bytes.subarray(start, end));
  copyRange(bytes, start, end, 0);
  return digest(viewOf(length));
}

/** SHA-256 of the step's prefix, the child's hash of 32 bytes, and the step's suffix. */
export function sha256Step(step: InnerOp, child: HashText): HashText {
  const { bytes } = step;
  const childAt = step.prefixEnd - step.prefixStart;
  const suffixAt = childAt + HASH_BYTES;
  const length = suffixAt + step.suffixEnd - step.suffixStart;
  if (length > SCRATCH.length) return digest(joinStep(step, child));
  copyRange(bytes, step.prefixStart, step.prefixEnd, 0);
  writeHash(child, childAt);
  copyRange(bytes, step.suffixStart, step.suffixEnd, suffixAt);
  return digest(viewOf(length));
}

/** Prefix, child and suffix of a step, in a fresh Buffer. */
export function joinStep(step: InnerOp, child: HashText): Buffer {
  const { bytes } = step;
  const prefix = bytes.subarray(step.prefixStart, step.prefixEnd);
  return Buffer.concat([prefix, fromHashText(child), bytes.subarray(step.suffixStart, step.suffixEnd)]);
}

/** SHA-256 of a leaf with both specs' operations: prefix, key and the value's SHA-256, the last two with their lengths. */
export function sha256Leaf(proof: ExistenceProof, leaf: LeafOp): HashText {
  const { bytes, keyStart, keyEnd } = proof;
  const value = sha256Range(bytes, proof.valueStart, proof.valueEnd);
  const prefixBytes = leaf.prefixEnd - leaf.prefixStart;
  if (prefixBytes + keyEnd - keyStart > LONG_LEAF) return digest(joinLeaf(proof, leaf, value));
  copyRange(bytes, leaf.prefixStart, leaf.prefixEnd, 0);
  const keyAt = writeUvarint(keyEnd - keyStart, prefixBytes);
  copyRange(bytes, keyStart, keyEnd, keyAt);
  const valueAt = keyAt + keyEnd - keyStart;
  SCRATCH[valueAt] = HASH_BYTES;
  writeHash(value, valueAt + 1);
  return digest(viewOf(valueAt + 1 + HASH_BYTES));
}

/** What a leaf hashes, in a fresh Buffer. */
function joinLeaf({ bytes, keyStart, keyEnd }: ExistenceProof, leaf: LeafOp, value: HashText): Buffer {
  return Buffer.concat([
    bytes.subarray(leaf.prefixStart, leaf.prefixEnd),
    encodeUvarint(keyEnd - keyStart),
    bytes.subarray(keyStart, keyEnd),
    Uint8Array.of(HASH_BYTES),
    fromHashText(value),
  ]);
}

/** Whether a hash text is these bytes. */
export function isHashText(
  text: HashText,
  bytes: Uint8Array,
  start = 0,
  end: number = bytes.length,
): boolean {
  if (text.length !== end - start) return false;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) !== bytes[start + at]) return false;
  return true;
}

function digest(bytes: Uint8Array): HashText {
  return hash("sha256", bytes, "binary");
}

function viewOf(length: number): Buffer {
  return VIEWS[length] ?? NOTHING;
}

/** Copies a range to `SCRATCH`; a short one by hand: calling into the runtime costs more than 64 bytes do. */
function copyRange(bytes: Buffer, start: number, end: number, target: number): void {
  if (end - start > 64) {
    bytes.copy(SCRATCH, target, start, end);
    return;
  }
  for (let from = start, to = target; from < end; from++, to++) SCRATCH[to] = bytes[from] ?? 0;
}

/** Writes a hash of 32 bytes to `SCRATCH`; by hand, for the same reason. */
function writeHash(text: HashText, target: number): void {
  for (let at = 0; at < HASH_BYTES; at++) SCRATCH[target + at] = text.charCodeAt(at);
}

/** Writes an unsigned varint to `SCRATCH`, and gives the position behind it. */
function writeUvarint(value: number, target: number): number {
  let at = target;
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) SCRATCH[at++] = (rest & 0x7f) | 0x80;
  SCRATCH[at++] = rest;
  return at;
}
