import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { HashText } from "./hash-text.ts";
import type { ExistenceProof, InnerOp, LeafOp } from "./proof-types.ts";

const SCRATCH = Buffer.alloc(512);
/** `VIEWS[n]` is the first n bytes of `SCRATCH`: making a view each time would cost a third of the hash. */
const VIEWS: readonly Buffer[] = Array.from({ length: SCRATCH.length + 1 }, (_, length) =>
  SCRATCH.subarray(0, length),
);
const HASH_BYTES = 32;
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
  copyRange(bytes, start, end, SCRATCH, 0);
  return digest(viewOf(length));
}

/** SHA-256 of the step's prefix, the child's hash of 32 bytes, and the step's suffix. */
export function sha256Step(step: InnerOp, child: HashText): HashText {
  const { bytes } = step;
  const childAt = step.prefixEnd - step.prefixStart;
  const suffixAt = childAt + HASH_BYTES;
  const length = suffixAt + step.suffixEnd - step.suffixStart;
  if (length > SCRATCH.length) return digest(joinStep(step, child));
  copyRange(bytes, step.prefixStart, step.prefixEnd, SCRATCH, 0);
  writeHash(child, SCRATCH, childAt);
  copyRange(bytes, step.suffixStart, step.suffixEnd, SCRATCH, suffixAt);
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
  const value = sha256Range(proof.bytes, proof.valueStart, proof.valueEnd);
  const keyBytes = proof.keyEnd - proof.keyStart;
  const prefixBytes = leaf.prefixEnd - leaf.prefixStart;
  const length = prefixBytes + uvarintLength(keyBytes) + keyBytes + 1 + HASH_BYTES;
  const target = length > SCRATCH.length ? Buffer.alloc(length) : SCRATCH;
  copyRange(proof.bytes, leaf.prefixStart, leaf.prefixEnd, target, 0);
  const keyAt = writeUvarint(keyBytes, target, prefixBytes);
  copyRange(proof.bytes, proof.keyStart, proof.keyEnd, target, keyAt);
  target[keyAt + keyBytes] = HASH_BYTES;
  writeHash(value, target, keyAt + keyBytes + 1);
  return digest(target === SCRATCH ? viewOf(length) : target);
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

/** Short ranges are copied by hand: calling into the runtime costs more than 64 bytes do. */
function copyRange(bytes: Buffer, start: number, end: number, target: Buffer, targetStart: number): void {
  if (end - start > 64) {
    bytes.copy(target, targetStart, start, end);
    return;
  }
  for (let from = start, to = targetStart; from < end; from++, to++) target[to] = bytes[from] ?? 0;
}

/** Writes a hash of 32 bytes; by hand, for the same reason. */
function writeHash(text: HashText, target: Buffer, start: number): void {
  for (let at = 0; at < HASH_BYTES; at++) target[start + at] = text.charCodeAt(at);
}

function uvarintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length += 1;
  return length;
}

/** Writes an unsigned varint, and gives the position behind it. */
function writeUvarint(value: number, target: Buffer, start: number): number {
  let at = start;
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) target[at++] = (rest % 0x80) + 0x80;
  target[at++] = rest;
  return at;
}
