import type { ExistenceProof, InnerOp, LeafOp } from "./proof-types.ts";
import { NO_HASH, type ProofSpec, SHA256, VAR_PROTO } from "./proof-spec.ts";

/*
 * Follows ics23/go v0.11 `LeafOp.CheckAgainstSpec` and `InnerOp.CheckAgainstSpec`, error texts included.
 *
 * A step hashes prefix, child hash and suffix, and the proof itself says where these parts end. With free lengths an
 * attacker could cut the preimage of a real node at another place and present other bytes of it as the child hash. For
 * the preimage of a real node, the checks allow only two cuts: at the left child and at the right child. Leaf prefixes
 * start with 00 and inner prefixes do not, so a leaf cannot pass as an inner node, nor an inner node as a leaf.
 *
 * The npm package `@confio/ics23` lacks some of these checks: the numbers in an IAVL prefix, the length of the suffix,
 * and the limit of 128 steps.
 */

/**
 * Lengths of an IAVL inner prefix after its three numbers. Left child: 1 byte, the length of the child's hash. Right
 * child: 34 bytes, the left sibling's hash with its length, and the length of the child's hash.
 */
const IAVL_TAIL_BYTES: readonly number[] = [1, 34];

const MAX_VARINT_BYTES = 10;

/** Checks a leaf operation. Returns Go's error text, or undefined if the operation conforms to the spec. */
export function checkLeaf(proof: ExistenceProof, leaf: LeafOp, spec: ProofSpec): string | undefined {
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
 * Checks an inner operation. Returns Go's error text, or the height in the IAVL prefix (Infinity for the other spec).
 * `layer` counts from 1 at the parent of the leaf. A node at layer n has a height of at least n.
 */
export function checkStep(step: InnerOp, layer: number, spec: ProofSpec): number | string {
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

/** The height in an IAVL prefix, and the position after its three numbers. */
interface IavlNumbers {
  readonly height: number;
  readonly end: number;
}

/**
 * Reads height, size and version from the start of a prefix (ics23 `validateIavlOps`). They are zigzag varints and must
 * not be negative. Returns Go's error text if they are malformed. A height above 2^53 is rounded: it is compared with a
 * layer, which is at most 1024.
 */
function readIavlNumbers(bytes: Uint8Array, start: number, end: number): IavlNumbers | string {
  let at = start;
  let height = 0;
  for (let index = 0; index < 3; index++) {
    const length = varintLength(bytes, at, end);
    if (length === 0) return at >= end ? "EOF" : "unexpected EOF";
    if (length > MAX_VARINT_BYTES) return "binary: varint overflows a 64-bit integer";
    // Zigzag: the lowest bit is the sign.
    if (((bytes[at] ?? 0) & 1) === 1) return "wrong value in IAVL leaf op";
    if (index === 0) height = unsigned(bytes, at, length) / 2;
    at += length;
  }
  return { height, end: at };
}

/** Returns the length of the varint at `at`; 0 if it does not end before `end`, 11 if it does not fit in 64 bits. */
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
