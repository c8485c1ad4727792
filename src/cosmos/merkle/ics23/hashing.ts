import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { encodeUvarint } from "../varint.ts";
import type { ExistenceProof, HashText, InnerOp, LeafOp } from "./proof-types.ts";

/** Buffer for preimages. One is enough: the functions are synchronous and compute the digest before they return. */
const SCRATCH = Buffer.alloc(512);
/** `VIEWS[n]` is a view of the first n bytes of `SCRATCH`. Creating a view takes a third of the time of a hash. */
const VIEWS: readonly Buffer[] = Array.from({ length: SCRATCH.length + 1 }, (_, length) =>
  SCRATCH.subarray(0, length),
);
const HASH_BYTES = 32;
/**
 * Maximum size of a leaf's prefix and key in `SCRATCH`. The value's hash and two lengths (10 bytes and 1 byte) fit too.
 */
const MAX_LEAF_BYTES = SCRATCH.length - HASH_BYTES - 11;
const NOTHING = Buffer.alloc(0);
/** Up to this length, a loop is faster than a call into the runtime. */
const SHORT = 64;

/** Converts bytes to a {@link HashText}. */
export function toHashText(bytes: Uint8Array): HashText {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** Converts a {@link HashText} to bytes. */
export function fromHashText(text: HashText): Buffer {
  return Buffer.from(text, "latin1");
}

function sha256Range(bytes: Buffer, start: number, end: number): HashText {
  const length = end - start;
  if (length > SCRATCH.length) return digest(bytes.subarray(start, end));
  copyRange(bytes, start, end, 0);
  return digest(viewOf(length));
}

/** Computes the hash of a node from a step and the hash of its child: SHA-256 of prefix, child and suffix. */
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

/** Returns prefix, child and suffix of a step in a new Buffer. */
export function joinStep(step: InnerOp, child: HashText): Buffer {
  const { bytes } = step;
  const prefix = bytes.subarray(step.prefixStart, step.prefixEnd);
  return Buffer.concat([prefix, fromHashText(child), bytes.subarray(step.suffixStart, step.suffixEnd)]);
}

/**
 * Computes the hash of a leaf with the operations that both specs require: SHA-256 of the prefix, the key and the
 * SHA-256 of the value. Key and value hash follow their lengths.
 */
export function sha256Leaf(proof: ExistenceProof, leaf: LeafOp): HashText {
  const { bytes, keyStart, keyEnd } = proof;
  const value = sha256Range(bytes, proof.valueStart, proof.valueEnd);
  const prefixBytes = leaf.prefixEnd - leaf.prefixStart;
  if (prefixBytes + keyEnd - keyStart > MAX_LEAF_BYTES) return digest(joinLeaf(proof, leaf, value));
  copyRange(bytes, leaf.prefixStart, leaf.prefixEnd, 0);
  const keyAt = writeUvarint(keyEnd - keyStart, prefixBytes);
  copyRange(bytes, keyStart, keyEnd, keyAt);
  const valueAt = keyAt + keyEnd - keyStart;
  SCRATCH[valueAt] = HASH_BYTES;
  writeHash(value, valueAt + 1);
  return digest(viewOf(valueAt + 1 + HASH_BYTES));
}

/** Returns the preimage of a leaf in a new Buffer. */
function joinLeaf({ bytes, keyStart, keyEnd }: ExistenceProof, leaf: LeafOp, value: HashText): Buffer {
  return Buffer.concat([
    bytes.subarray(leaf.prefixStart, leaf.prefixEnd),
    encodeUvarint(keyEnd - keyStart),
    bytes.subarray(keyStart, keyEnd),
    Uint8Array.of(HASH_BYTES),
    fromHashText(value),
  ]);
}

/** Whether a hash equals `bytes` from `start` to `end`. */
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

/** Whether `part` equals `bytes` from `start` to `end`. */
export function equalRange(part: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (part.length !== end - start) return false;
  if (part.length > SHORT) return Buffer.compare(part, bytes.subarray(start, end)) === 0;
  for (let at = 0; at < part.length; at++) if (part[at] !== bytes[start + at]) return false;
  return true;
}

function digest(bytes: Uint8Array): HashText {
  return hash("sha256", bytes, "binary");
}

function viewOf(length: number): Buffer {
  return VIEWS[length] ?? NOTHING;
}

function copyRange(bytes: Buffer, start: number, end: number, target: number): void {
  if (end - start > SHORT) {
    bytes.copy(SCRATCH, target, start, end);
    return;
  }
  for (let from = start, to = target; from < end; from++, to++) SCRATCH[to] = bytes[from] ?? 0;
}

function writeHash(text: HashText, target: number): void {
  for (let at = 0; at < HASH_BYTES; at++) SCRATCH[target + at] = text.charCodeAt(at);
}

/** Writes an unsigned varint to `SCRATCH`. Returns the position after it. */
function writeUvarint(value: number, target: number): number {
  let at = target;
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) SCRATCH[at++] = (rest & 0x7f) | 0x80;
  SCRATCH[at++] = rest;
  return at;
}
