import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { concat, fromHex, sha256, toHex, upperHex } from "../../platform/base/bytes.ts";
import { attempt } from "../../platform/base/errors.ts";
import { createRecentCache } from "../../platform/base/caches.ts";

/* Public keys of validators: ed25519 (32 bytes) or secp256k1 (33 bytes, compressed). The length identifies the type. */

/** Length of a validator address in bytes. */
export const ADDRESS_SIZE = 20;
/** Length of an ed25519 public key in bytes. */
const ED25519_KEY_SIZE = 32;
/** Length of a compressed secp256k1 public key in bytes. */
export const SECP256K1_KEY_SIZE = 33;

/** Returns a key type's constants. `hashPrefix` is the hex of the bytes that precede the key in an encoded `SimpleValidator`. */
function keyType(name: string, size: number, hashPrefix: string) {
  // CometBFT's name for the type in errors (`goName`) differs from its name in RPC JSON.
  return {
    goName: `PubKey${name}`,
    jsonType: `tendermint/PubKey${name}`,
    size,
    hashPrefix: fromHex(hashPrefix),
  };
}

/** Both key types, keyed by field name in protobuf's `PublicKey`. */
export const KEY_TYPES = {
  ed25519: keyType("Ed25519", ED25519_KEY_SIZE, "0a220a20"),
  secp256k1: keyType("Secp256k1", SECP256K1_KEY_SIZE, "0a231221"),
} as const;

export function keyTypeOf(publicKey: Uint8Array) {
  return publicKey.length === SECP256K1_KEY_SIZE ? KEY_TYPES.secp256k1 : KEY_TYPES.ed25519;
}

/** Returns the 20-byte address of a public key. */
export function addressOf(publicKey: Uint8Array): Uint8Array {
  return keyTypeOf(publicKey) === KEY_TYPES.secp256k1
    ? secp256k1Address(publicKey)
    : ed25519Address(publicKey);
}

/** Formats a public key as in CometBFT's error messages. */
export function publicKeyText(publicKey: Uint8Array): string {
  return `${keyTypeOf(publicKey).goName}{${upperHex(publicKey)}}`;
}

export interface SignedMessage {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** Returns the address of an ed25519 public key: the first 20 bytes of its SHA-256. */
export function ed25519Address(publicKey: Uint8Array): Uint8Array {
  return sha256(publicKey).slice(0, ADDRESS_SIZE);
}

/**
 * Verifies a signature with OpenSSL. Returns undefined if only {@link verifyZip215} can decide, which takes 1 to 2 ms, about 20 times
 * as long.
 *
 * CometBFT uses the ZIP-215 rules for ed25519. OpenSSL is stricter, because it checks the verification equation without the cofactor.
 * A signature that satisfies the stricter equation also satisfies ZIP-215's cofactored equation, so a signature that OpenSSL accepts
 * is valid. The ZIP-215 verifier decides on all other signatures, because nodes that disagree on a signature would fork.
 */
export function verifyFast({ publicKey, message, signature }: SignedMessage): boolean | undefined {
  if (keyTypeOf(publicKey) === KEY_TYPES.secp256k1) return verifySecp256k1(publicKey, message, signature);
  if (publicKey.length !== ED25519_KEY_SIZE || signature.length !== 64) return false;
  const key = importKey(publicKey, ED25519_SPKI_PREFIX);
  return key !== undefined && verify(null, message, key, signature) ? true : undefined;
}

/** Verifies an ed25519 signature under the ZIP-215 rules. */
export function verifyZip215({ publicKey, message, signature }: SignedMessage): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: true });
  } catch {
    return false; // noble throws if the key or the signature does not decode to a point
  }
}

// DER prefixes of a `SubjectPublicKeyInfo`, before the 32 bytes of an ed25519 key or the 33 bytes of a compressed point.
const ED25519_SPKI_PREFIX = fromHex("302a300506032b6570032100");
const SECP256K1_SPKI_PREFIX = fromHex("3036301006072a8648ce3d020106052b8104000a032200");

// Cache of recently imported keys, keyed by the key's hex. The cache saves time, because an import takes about as long as a
// verification, and the same accounts and validators sign often. Entries never expire, because the result depends only on the key,
// whose length identifies its type.
const keys = createRecentCache<string, KeyObject>(4096);

/** Imports a public key for `node:crypto`. Returns undefined if OpenSSL rejects the key, e.g. because the point is not on the curve. */
function importKey(publicKey: Uint8Array, prefix: Uint8Array): KeyObject | undefined {
  const importDer = (): KeyObject =>
    createPublicKey({ key: Buffer.from(concat(prefix, publicKey)), format: "der", type: "spki" });
  return keys.get(toHex(publicKey), () => attempt(importDer));
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const SIGNATURE_BYTES = 64;

/** Returns the 20-byte address for a compressed key, which is the RIPEMD-160 hash of the key's SHA-256. */
export function secp256k1Address(publicKey: Uint8Array): Uint8Array {
  return createHash("ripemd160").update(sha256(publicKey)).digest();
}

/**
 * Verifies a validator's signature (r and s, 32 bytes each, low s) over the SHA-256 of `message`. Like CometBFT, reduces r and s
 * modulo the curve's order first.
 */
function verifySecp256k1(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== SECP256K1_KEY_SIZE || signature.length !== SIGNATURE_BYTES) return false;
  const [r, s] = [scalar(signature.subarray(0, 32)), scalar(signature.subarray(32))];
  // Reject a high s, because the negated s would otherwise be a second valid signature.
  if (r === 0n || s === 0n || s > ORDER / 2n) return false;
  const key = importSecp256k1(publicKey);
  const reduced = concat(scalarBytes(r), scalarBytes(s));
  return key !== undefined && verify("sha256", message, { key, dsaEncoding: "ieee-p1363" }, reduced);
}

function scalar(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes)}`) % ORDER;
}

function scalarBytes(value: bigint): Uint8Array {
  return fromHex(value.toString(16).padStart(64, "0"));
}

/** Imports a compressed secp256k1 public key for `node:crypto`. Returns undefined if the bytes are not a point on the curve. */
export function importSecp256k1(publicKey: Uint8Array): KeyObject | undefined {
  return importKey(publicKey, SECP256K1_SPKI_PREFIX);
}
