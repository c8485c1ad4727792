import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concat } from "../../platform/base/bytes.ts";
import { unreachable } from "../../platform/base/errors.ts";
import { type SignedMessage, verifyFast, verifyZip215 } from "../../cosmos/comet/validator-key.ts";

/** Result codes that the crypto functions return to a contract (cosmwasm-crypto 2.3, `errors.rs`). */
export const CRYPTO_CODE = {
  valid: 0,
  invalid: 1,
  hashFormat: 3,
  signatureFormat: 4,
  publicKeyFormat: 5,
  recoveryParameter: 6,
  batch: 7,
  point: 8,
  hashFunction: 9,
  other: 10,
  pairingG1: 11,
  pairingG2: 12,
  pairingCounts: 13,
  noPoints: 14,
  pointBytes: 15,
} as const;

/** Lengths of compressed BLS12-381 points, in bytes. */
export const POINT_LENGTH = { G1: 48, G2: 96 } as const;

export type BlsGroup = keyof typeof POINT_LENGTH;

const NOTHING = new Uint8Array();

export type BytesOrCode = Uint8Array | number;

export type EcdsaCurve = "secp256k1" | "secp256r1";
const CURVES = { secp256k1, secp256r1: p256 } as const;

export interface EcdsaSignature {
  readonly hash: Uint8Array;
  /** The signature's r and s, 64 bytes in total. */
  readonly signature: Uint8Array;
}

/** Verifies an ECDSA signature of a hash, with a high or low s value. Returns 0 if valid, or an error code from {@link CRYPTO_CODE}. */
export function verifyEcdsa(
  curve: EcdsaCurve,
  { hash, signature }: EcdsaSignature,
  publicKey: Uint8Array,
): number {
  if (hash.length !== 32) return CRYPTO_CODE.hashFormat;
  if (signature.length !== 64) return CRYPTO_CODE.signatureFormat;
  const form = publicKey[0];
  const length = form === 2 || form === 3 ? 33 : form === 4 ? 65 : -1;
  if (publicKey.length !== length) return CRYPTO_CODE.publicKeyFormat;
  const { Point, Signature, verify } = CURVES[curve];
  try {
    Signature.fromBytes(signature, "compact");
    Point.fromBytes(publicKey);
  } catch {
    return CRYPTO_CODE.other;
  }
  return verify(signature, hash, publicKey, { prehash: false, lowS: false })
    ? CRYPTO_CODE.valid
    : CRYPTO_CODE.invalid;
}

/** Recovers the uncompressed public key of a signature. Recovery parameters 2 and 3 are valid only for secp256r1. */
export function recoverEcdsa(
  curve: EcdsaCurve,
  { hash, signature }: EcdsaSignature,
  parameter: number,
): BytesOrCode {
  if (hash.length !== 32) return CRYPTO_CODE.hashFormat;
  if (signature.length !== 64) return CRYPTO_CODE.signatureFormat;
  if (parameter > (curve === "secp256k1" ? 1 : 3)) return CRYPTO_CODE.recoveryParameter;
  try {
    return CURVES[curve].Signature.fromBytes(signature, "compact")
      .addRecoveryBit(parameter)
      .recoverPublicKey(hash)
      .toBytes(false);
  } catch {
    return CRYPTO_CODE.other;
  }
}

/** Verifies an ed25519 signature under the rules of ZIP-215. Returns 0 if it is valid, or an error code from {@link CRYPTO_CODE}. */
export function verifyEd25519(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): number {
  if (signature.length !== 64) return CRYPTO_CODE.signatureFormat;
  if (publicKey.length !== 32) return CRYPTO_CODE.publicKeyFormat;
  return isValid({ message, signature, publicKey }) ? CRYPTO_CODE.valid : CRYPTO_CODE.invalid;
}

/**
 * Verifies several ed25519 signatures, each with a separate message and key. A single message or key applies to all signatures.
 * Returns 0 if all signatures are valid, otherwise an error code from {@link CRYPTO_CODE}.
 */
export function verifyEd25519Batch(
  messages: readonly Uint8Array[],
  signatures: readonly Uint8Array[],
  publicKeys: readonly Uint8Array[],
): number {
  const count = signatures.length;
  const hasAll = messages.length === count && publicKeys.length === count;
  const hasOneMessage = messages.length === 1 && publicKeys.length === count;
  const hasOneKey = publicKeys.length === 1 && messages.length === count;
  if (!hasAll && !hasOneMessage && !hasOneKey) return CRYPTO_CODE.batch;
  const signed = signatures.map((signature, at) => ({
    signature,
    message: (hasAll || hasOneKey ? messages[at] : messages[0]) ?? NOTHING,
    publicKey: (hasAll || hasOneMessage ? publicKeys[at] : publicKeys[0]) ?? NOTHING,
  }));
  // Check all items first, because the deployed VM reports a malformed item before verifying any signature.
  for (const { signature, publicKey } of signed) {
    if (signature.length !== 64) return CRYPTO_CODE.signatureFormat;
    if (publicKey.length !== 32) return CRYPTO_CODE.publicKeyFormat;
  }
  return signed.every(isValid) ? CRYPTO_CODE.valid : CRYPTO_CODE.invalid;
}

function isValid(signed: SignedMessage): boolean {
  return verifyFast(signed) ?? verifyZip215(signed);
}

const { G1, G2, fields } = bls12_381;
type G1Point = typeof G1.Point.BASE;
type G2Point = typeof G2.Point.BASE;

/** Flag bits in the first byte of a compressed point. */
const COMPRESSED = 0x80;
const INFINITY = 0x40;

/**
 * Decodes a compressed point. If the infinity flag is set, ignores all other bytes. Returns undefined if the bytes are invalid or
 * the point is not in the subgroup.
 */
function decodePoint<P extends { assertValidity(): void }>(
  bytes: Uint8Array,
  length: number,
  group: { readonly ZERO: P; fromBytes(bytes: Uint8Array): P },
): P | undefined {
  const flags = bytes[0] ?? 0;
  if (bytes.length !== length || (flags & COMPRESSED) === 0) return undefined;
  if ((flags & INFINITY) !== 0) return group.ZERO;
  try {
    const point = group.fromBytes(bytes);
    point.assertValidity();
    return point;
  } catch {
    return undefined;
  }
}

function chunks(bytes: Uint8Array, length: number): Uint8Array[] {
  return Array.from({ length: bytes.length / length }, (_, at) =>
    bytes.subarray(at * length, (at + 1) * length),
  );
}

/** Called before each point in a long list. The function can throw to stop the computation. */
type BeforePoint = () => void;

function addPoints<
  P extends { assertValidity(): void; add(other: P): P; toBytes(isCompressed: boolean): Uint8Array },
>(
  chunked: readonly Uint8Array[],
  group: { readonly ZERO: P; fromBytes(bytes: Uint8Array): P },
  before: BeforePoint,
): BytesOrCode {
  let total = group.ZERO;
  for (const chunk of chunked) {
    before();
    const point = decodePoint(chunk, chunk.length, group);
    if (point === undefined) return CRYPTO_CODE.point;
    total = total.add(point);
  }
  return total.toBytes(true);
}

export function aggregate(group: BlsGroup, points: Uint8Array, before: BeforePoint): BytesOrCode {
  const length = POINT_LENGTH[group];
  if (points.length === 0) return CRYPTO_CODE.noPoints;
  if (points.length % length !== 0) return CRYPTO_CODE.pointBytes;
  const chunked = chunks(points, length);
  return group === "G1"
    ? addPoints<G1Point>(chunked, G1.Point, before)
    : addPoints<G2Point>(chunked, G2.Point, before);
}

export interface PairingEquality {
  readonly ps: Uint8Array;
  readonly qs: Uint8Array;
  readonly r: Uint8Array;
  readonly s: Uint8Array;
}

/** Maximum number of pairings to compute in one batch. */
const PAIRS = 16;

/** Returns 0 if the product of the pairings (ps, qs) equals the pairing (r, s), otherwise an error code from {@link CRYPTO_CODE}. */
export function pairingEquality({ ps, qs, r, s }: PairingEquality, before: BeforePoint): number {
  if (ps.length % POINT_LENGTH.G1 !== 0) return CRYPTO_CODE.pairingG1;
  if (qs.length % POINT_LENGTH.G2 !== 0) return CRYPTO_CODE.pairingG2;
  if (ps.length / POINT_LENGTH.G1 !== qs.length / POINT_LENGTH.G2) return CRYPTO_CODE.pairingCounts;
  const g1s = [...chunks(ps, POINT_LENGTH.G1), r].map((bytes) => {
    before();
    return decodePoint<G1Point>(bytes, POINT_LENGTH.G1, G1.Point);
  });
  const g2s = [...chunks(qs, POINT_LENGTH.G2), s].map((bytes) => {
    before();
    return decodePoint<G2Point>(bytes, POINT_LENGTH.G2, G2.Point);
  });
  const pairs: { g1: G1Point; g2: G2Point }[] = [];
  for (const [at, g1] of g1s.entries()) {
    const g2 = g2s[at];
    if (g1 === undefined || g2 === undefined) return CRYPTO_CODE.point;
    // Skip a pairing with the point at infinity, because the pairing equals one.
    if (!g1.is0() && !g2.is0()) pairs.push({ g1: at === g1s.length - 1 ? g1.negate() : g1, g2 });
  }
  if (pairs.length === 0) return CRYPTO_CODE.valid;
  let product = fields.Fp12.ONE;
  for (let at = 0; at < pairs.length; at += PAIRS) {
    before();
    product = fields.Fp12.mul(product, bls12_381.pairingBatch(pairs.slice(at, at + PAIRS)));
  }
  return fields.Fp12.eql(product, fields.Fp12.ONE) ? CRYPTO_CODE.valid : CRYPTO_CODE.invalid;
}

function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}

const OVERSIZE_DST = Buffer.from("H2C-OVERSIZE-DST-");

/** Implements RFC 9380's `expand_message_xmd` with SHA-256 but, like the deployed chain, accepts an empty domain separation tag. */
function expandMessage(message: Uint8Array, tag: Uint8Array, length: number): Uint8Array {
  const dst = tag.length > 255 ? sha256(OVERSIZE_DST, tag) : tag;
  const suffix = concat(dst, Uint8Array.of(dst.length));
  const first = sha256(new Uint8Array(64), message, Uint8Array.of(length >> 8, length & 0xff, 0), suffix);
  const blocks = [sha256(first, Uint8Array.of(1), suffix)];
  while (blocks.length * 32 < length) {
    const last = blocks[blocks.length - 1] ?? first;
    const mixed = first.map((byte, at) => byte ^ (last[at] ?? 0));
    blocks.push(sha256(mixed, Uint8Array.of(blocks.length + 1), suffix));
  }
  return concat(...blocks).subarray(0, length);
}

/** Returns `count` field elements, each of which is reduced from 64 uniform bytes. */
function hashToField(message: Uint8Array, tag: Uint8Array, count: number): bigint[] {
  return chunks(expandMessage(message, tag, count * 64), 64).map(
    (bytes) => BigInt(`0x${Buffer.from(bytes).toString("hex")}`) % fields.Fp.ORDER,
  );
}

/** Narrows the library's mapped point to a point object, because the library declares an affine point. */
function mappedPoint<P>(mapped: unknown, group: new (...coordinates: never[]) => P): P {
  return mapped instanceof group ? mapped : unreachable("a mapped element is not a point");
}

/** Hashes a message to a compressed point in G1 (RFC 9380, BLS12381G1_XMD:SHA-256_SSWU_RO_). */
export function hashToG1(message: Uint8Array, tag: Uint8Array): Uint8Array {
  // Override the library's type, which declares a list of elements, because for G1 it expects a single bigint.
  const map: (element: never) => unknown = G1.mapToCurve;
  const points = hashToField(message, tag, 2).map((element) =>
    mappedPoint<G1Point>(Reflect.apply(map, G1, [element]), G1.Point),
  );
  return points.reduce((sum, point) => sum.add(point)).toBytes(true);
}

/** Hashes a message to a compressed point in G2 (RFC 9380, BLS12381G2_XMD:SHA-256_SSWU_RO_). */
export function hashToG2(message: Uint8Array, tag: Uint8Array): Uint8Array {
  const elements = hashToField(message, tag, 4);
  const points = [elements.slice(0, 2), elements.slice(2)].map((pair) =>
    mappedPoint<G2Point>(G2.mapToCurve(pair), G2.Point),
  );
  return points.reduce((sum, point) => sum.add(point)).toBytes(true);
}
