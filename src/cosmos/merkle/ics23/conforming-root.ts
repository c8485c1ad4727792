import { Buffer } from "node:buffer";
import { hash as nodeHash } from "node:crypto";
import { encodeUvarint, latin1 } from "../../../platform/base/bytes.ts";
import { bad, good, type Result } from "../../../platform/base/errors.ts";
import {
  type ExistenceProof,
  type HashText,
  type InnerOp,
  type LeafOp,
  MAX_DEPTH,
  NO_HASH,
  type ProofSpec,
  SDK_SPECS,
  SHA256,
  VAR_PROTO,
} from "./proof-types.ts";
import { type AppliedStep, type CachedPath, createRootCache } from "./root-cache.ts";

/** Computes a proof's root; see {@link conformingRoot}. */
export type ComputeRoot = (proof: ExistenceProof, spec: ProofSpec) => Result<HashText, string>;

/**
 * Computes the root of an existence proof and checks the proof against the spec (ics23 `ExistenceProof.CheckAgainstSpec` and
 * `Calculate`, in one pass). A proof with an empty key or value is rejected. Error messages are the same as in Go.
 */
export function conformingRoot(proof: ExistenceProof, spec: ProofSpec): Result<HashText, string> {
  // Return the root that the decoder computed, because it has checked every step of the path.
  if (proof.iavlRoot !== undefined && spec.name === "iavl") return good(proof.iavlRoot);
  const { leaf, path } = proof;
  if (leaf === undefined) return bad("existence Proof needs defined LeafOp");
  const leafError = checkLeaf(proof, leaf, spec);
  if (leafError !== undefined) return bad(`leaf, ${leafError}`);
  if (path.length > MAX_DEPTH) return bad(`innerOps depth too long: ${path.length}`);
  if (proof.keyStart === proof.keyEnd) return bad("error calculating root, leaf, leaf op needs key");
  if (proof.valueStart === proof.valueEnd) return bad("error calculating root, leaf, leaf op needs value");
  let hash = sha256Leaf(proof, leaf);
  for (const [index, step] of path.entries()) {
    const height = checkStep(step, index + 1, spec);
    if (typeof height === "string") return bad(`inner, ${height}`);
    hash = sha256Step(step, hash);
  }
  return good(hash);
}

/*
 * Follows ics23/go v0.11 `LeafOp.CheckAgainstSpec` and `InnerOp.CheckAgainstSpec`, error texts included.
 *
 * A step hashes the prefix, the child hash and the suffix, and the proof itself determines the lengths of these parts. If all
 * lengths were accepted, an attacker could split a real node's preimage differently and present other bytes as the child hash.
 * For the preimage of a real node, the checks allow only two splits: at the left child and at the right child. Only leaf
 * prefixes start with 00, so a leaf cannot be presented as an inner node, or an inner node as a leaf.
 *
 * The npm package `@confio/ics23` lacks some of these checks: the numbers in an IAVL prefix, the length of the suffix, and the
 * limit of 128 steps.
 */

/**
 * Valid lengths of an IAVL inner prefix after its three numbers. If the child is on the left, 1 byte follows, the length of the
 * child's hash. If the child is on the right, the left sibling's length-prefixed hash comes before that byte, which makes 34 bytes.
 */
const IAVL_TAIL_BYTES: readonly number[] = [1, 34];

const MAX_VARINT_BYTES = 10;

/** Checks a leaf operation against the spec. Returns Go's error message, or undefined if the operation conforms. */
function checkLeaf(proof: ExistenceProof, leaf: LeafOp, spec: ProofSpec): string | undefined {
  if (spec.name === "iavl") {
    const numbers = readIavlNumbers(proof.bytes, leaf.prefixStart, leaf.prefixEnd);
    if (typeof numbers === "string") return numbers;
    if (numbers.end !== leaf.prefixEnd) return "invalid op";
  }
  if (leaf.hash !== SHA256) return `unexpected HashOp: ${leaf.hash}`;
  if (leaf.prehashKey !== NO_HASH) return `unexpected PrehashKey: ${leaf.prehashKey}`;
  if (leaf.prehashValue !== SHA256) return `unexpected PrehashValue: ${leaf.prehashValue}`;
  if (leaf.length !== VAR_PROTO) return `unexpected LengthOp: ${leaf.length}`;
  if (!startsWithZero(proof.bytes, leaf)) return "leaf Prefix doesn't start with 00";
  return undefined;
}

/**
 * Checks an inner operation. Returns Go's error message, or the height from the IAVL prefix, which is Infinity for the Tendermint
 * spec. `layer` counts from 1 at the leaf's parent. The node's height must be at least its layer.
 */
function checkStep(step: InnerOp, layer: number, spec: ProofSpec): number | string {
  if (step.hash !== SHA256) return `unexpected HashOp: ${step.hash}`;
  let height = Number.POSITIVE_INFINITY;
  if (spec.name === "iavl") {
    const numbers = readIavlNumbers(step.bytes, step.prefixStart, step.prefixEnd);
    if (typeof numbers === "string") return numbers;
    if (numbers.height < layer) return "wrong value in IAVL leaf op";
    if (!IAVL_TAIL_BYTES.includes(step.prefixEnd - numbers.end)) return "invalid op";
    height = numbers.height;
  }
  return checkPadding(step, spec) ?? height;
}

function checkPadding(step: InnerOp, spec: ProofSpec): string | undefined {
  const length = step.prefixEnd - step.prefixStart;
  if (startsWithZero(step.bytes, step)) return "inner Prefix starts with 00";
  if (length < spec.minPrefix) return `innerOp prefix too short (${length})`;
  if (length > spec.maxPrefix + spec.childSize) return `innerOp prefix too long (${length})`;
  if ((step.suffixEnd - step.suffixStart) % spec.childSize !== 0) return "InnerOp suffix malformed";
  return undefined;
}

function startsWithZero(
  bytes: Uint8Array,
  op: { readonly prefixStart: number; readonly prefixEnd: number },
): boolean {
  return op.prefixEnd > op.prefixStart && bytes[op.prefixStart] === 0;
}

/** Result of parsing an IAVL prefix: the node's height, and the position after the prefix's three numbers. */
interface IavlNumbers {
  readonly height: number;
  readonly end: number;
}

/**
 * Reads height, size and version from the start of a prefix (ics23 `validateIavlOps`). The three numbers are zigzag varints and
 * must not be negative. Returns Go's error message if they are malformed. A height above 2^53 is rounded, which is safe because it
 * is only compared with a layer of at most 1024.
 */
function readIavlNumbers(bytes: Uint8Array, start: number, end: number): IavlNumbers | string {
  let at = start;
  let height = 0;
  for (let index = 0; index < 3; index++) {
    const length = varintLength(bytes, at, end);
    if (length === 0) return at >= end ? "EOF" : "unexpected EOF";
    if (length > MAX_VARINT_BYTES) return "binary: varint overflows a 64-bit integer";
    // In zigzag encoding, the lowest bit is the sign, so an odd first byte means a negative number.
    if (((bytes[at] ?? 0) & 1) === 1) return "wrong value in IAVL leaf op";
    if (index === 0) height = unsigned(bytes, at, length) / 2;
    at += length;
  }
  return { height, end: at };
}

/** Returns the length of the varint at `at`. Returns 0 if the bytes end within the varint, and 11 if the varint exceeds 64 bits. */
function varintLength(bytes: Uint8Array, at: number, end: number): number {
  for (let length = 1; length <= MAX_VARINT_BYTES; length++) {
    if (at + length > end) return 0;
    const byte = bytes[at + length - 1] ?? 0;
    if (byte < 0x80) return length === MAX_VARINT_BYTES && byte > 1 ? MAX_VARINT_BYTES + 1 : length;
  }
  return MAX_VARINT_BYTES + 1;
}

function unsigned(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = length - 1; index >= 0; index--) value = value * 0x80 + ((bytes[at + index] ?? 0) & 0x7f);
  return value;
}

/**
 * Buffer for hash preimages. One buffer is enough, because all functions that use it are synchronous and compute the digest before
 * they return.
 */
const SCRATCH = Buffer.alloc(512);
/**
 * `VIEWS[n]` is a view of the first n bytes of `SCRATCH`. The views are created in advance, because creating a view takes a third
 * as long as computing a hash.
 */
const VIEWS: readonly Buffer[] = Array.from({ length: SCRATCH.length + 1 }, (_, length) =>
  SCRATCH.subarray(0, length),
);
const HASH_BYTES = 32;
/**
 * Maximum size of a leaf's prefix and key in `SCRATCH`, leaving space for the value's hash and two lengths (10 bytes and 1 byte).
 */
const MAX_LEAF_BYTES = SCRATCH.length - HASH_BYTES - 11;
const NOTHING = Buffer.alloc(0);
/** Number of bytes up to which a JavaScript loop compares or copies faster than a `Buffer` method. */
const SHORT = 64;

export function toHashText(bytes: Uint8Array): HashText {
  return latin1(bytes);
}

export function fromHashText(text: HashText): Buffer {
  return Buffer.from(text, "latin1");
}

function sha256Range(bytes: Buffer, start: number, end: number): HashText {
  const length = end - start;
  if (length > SCRATCH.length) return digest(bytes.subarray(start, end));
  copyRange(bytes, start, end, 0);
  return digest(viewOf(length));
}

/** Computes a node's hash from a path step and the child's hash. The hash is the SHA-256 of the prefix, the child's hash and the suffix. */
function sha256Step(step: InnerOp, child: HashText): HashText {
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

/** Returns a step's prefix, child and suffix in a new Buffer. */
export function joinStep(step: InnerOp, child: HashText): Buffer {
  const { bytes } = step;
  const prefix = bytes.subarray(step.prefixStart, step.prefixEnd);
  return Buffer.concat([prefix, fromHashText(child), bytes.subarray(step.suffixStart, step.suffixEnd)]);
}

/**
 * Computes a leaf's hash. In both specs, the hash is the SHA-256 of the prefix, the length-prefixed key and the length-prefixed
 * SHA-256 of the value.
 */
function sha256Leaf(proof: ExistenceProof, leaf: LeafOp): HashText {
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

/** Returns a leaf's preimage in a new Buffer. */
function joinLeaf({ bytes, keyStart, keyEnd }: ExistenceProof, leaf: LeafOp, value: HashText): Buffer {
  return Buffer.concat([
    bytes.subarray(leaf.prefixStart, leaf.prefixEnd),
    encodeUvarint(keyEnd - keyStart),
    bytes.subarray(keyStart, keyEnd),
    Uint8Array.of(HASH_BYTES),
    fromHashText(value),
  ]);
}

/** Returns true if a hash (as text) equals the bytes from `start` to `end`. */
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

/** Returns true if `part` equals `bytes` from `start` to `end`. */
export function equalRange(part: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (part.length !== end - start) return false;
  if (part.length > SHORT) return Buffer.compare(part, bytes.subarray(start, end)) === 0;
  for (let at = 0; at < part.length; at++) if (part[at] !== bytes[start + at]) return false;
  return true;
}

function digest(bytes: Uint8Array): HashText {
  return nodeHash("sha256", bytes, "binary");
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

/** Writes an unsigned varint to `SCRATCH` and returns the position after it. */
function writeUvarint(value: number, target: number): number {
  let at = target;
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) SCRATCH[at++] = (rest & 0x7f) | 0x80;
  SCRATCH[at++] = rest;
  return at;
}

const [IAVL_SPEC] = SDK_SPECS;

/** Follows one proof's path while the decoder reads it. */
export interface PathRun {
  /** Returns the cached path that equals the bytes from `start` to the end of the proof, or undefined if there is none. */
  readonly findCached: (start: number) => CachedPath | undefined;
  /** Checks and hashes a decoded step, or returns false if the step does not conform to the spec. */
  readonly apply: (step: InnerOp) => boolean;
  /** Returns the root and adds the path to the cache, or returns undefined if the path is too long. */
  readonly finish: () => HashText | undefined;
}

/**
 * Starts following an IAVL proof's path once its leaf has been read, so that the decoder does not have to read cached steps.
 * Returns undefined if the leaf does not conform to the spec, in which case `conformingRoot` later returns the error.
 */
export type PathFollower = (proof: ExistenceProof) => PathRun | undefined;

/** Creates a follower with an empty cache of computed roots. */
export function createPathFollower(): PathFollower {
  const cache = createRootCache();
  return (proof) => {
    const leafHash = hashLeaf(proof);
    if (leafHash === undefined) return undefined;
    const applied: AppliedStep[] = [];
    let hash: HashText = leafHash;
    let cached: CachedPath | undefined;
    return {
      findCached: (start) => {
        const layer = applied.length + 1;
        const found = cache.find(hash, { bytes: proof.bytes, start, end: proof.end }, layer);
        // Check the total depth, because the steps so far and the cached path together may exceed the limit.
        if (found === undefined || applied.length + found.path.length - found.from > MAX_DEPTH)
          return undefined;
        cached = found;
        return found;
      },
      apply: (step) => {
        const height = checkStep(step, applied.length + 1, IAVL_SPEC);
        if (typeof height === "string") return false;
        applied.push({ child: hash, height });
        hash = sha256Step(step, hash);
        return true;
      },
      finish: () => {
        if (proof.path.length > MAX_DEPTH) return undefined;
        const above = cached ?? { root: hash, highestLayer: Number.POSITIVE_INFINITY };
        cache.add({ path: proof.path, end: proof.end, applied, above });
        return above.root;
      },
    };
  };
}

function hashLeaf(proof: ExistenceProof): HashText | undefined {
  const { leaf } = proof;
  if (leaf === undefined || checkLeaf(proof, leaf, IAVL_SPEC) !== undefined) return undefined;
  if (proof.keyStart === proof.keyEnd || proof.valueStart === proof.valueEnd) return undefined;
  return sha256Leaf(proof, leaf);
}
