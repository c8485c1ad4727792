import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { concat, fromHex, sha256, toHex, upperHex } from "../../platform/base/bytes.ts";
import { createRecentCache } from "../../platform/base/caches.ts";

/*
 * Public keys of validators: ed25519 (32 bytes) or secp256k1 (33 bytes, compressed). The length tells the type.
 */

/** Length of an address in bytes. */
export const ADDRESS_SIZE = 20;
/** Length of an ed25519 public key in bytes. */
const ED25519_KEY_SIZE = 32;
/** Length of a compressed secp256k1 public key in bytes. */
export const SECP256K1_KEY_SIZE = 33;

interface KeyType {
  /** Name in CometBFT's error messages. */
  readonly goName: string;
  readonly size: number;
  /** Type name in RPC JSON. */
  readonly jsonType: string;
  /** Bytes that precede the key in a length-prefixed, encoded `PublicKey` that is field 1 of a `SimpleValidator`. */
  readonly hashPrefix: Uint8Array;
}

const ED25519: KeyType = {
  goName: "PubKeyEd25519",
  size: ED25519_KEY_SIZE,
  jsonType: "tendermint/PubKeyEd25519",
  hashPrefix: fromHex("0a220a20"),
};

const SECP256K1: KeyType = {
  goName: "PubKeySecp256k1",
  size: SECP256K1_KEY_SIZE,
  jsonType: "tendermint/PubKeySecp256k1",
  hashPrefix: fromHex("0a231221"),
};

/** Both types, by their names in protobuf's `PublicKey`. */
export const KEY_TYPES = { ed25519: ED25519, secp256k1: SECP256K1 } as const;

/** Returns the type of a public key. */
export function keyTypeOf(publicKey: Uint8Array): KeyType {
  return publicKey.length === SECP256K1_KEY_SIZE ? SECP256K1 : ED25519;
}

/** Returns the 20-byte address of a public key. */
export function addressOf(publicKey: Uint8Array): Uint8Array {
  return keyTypeOf(publicKey) === SECP256K1 ? secp256k1Address(publicKey) : ed25519Address(publicKey);
}

/** Formats a public key as in CometBFT's error messages. */
export function publicKeyText(publicKey: Uint8Array): string {
  return `${keyTypeOf(publicKey).goName}{${upperHex(publicKey)}}`;
}

/** A signature to verify. */
export interface SignedMessage {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** DER prefix of a `SubjectPublicKeyInfo` for ed25519. The key follows. */
const ED25519_SPKI_PREFIX = fromHex("302a300506032b6570032100");

/**
 * Cache of imported keys, by hex, because the same validators sign every block. Undefined means that OpenSSL refused the key.
 * Entries never go stale, because the result depends only on the key. The cache is cleared when it is full.
 */
const ed25519Keys = new Map<string, KeyObject | undefined>();
const MAX_ED25519_KEYS = 4096;

/** Returns the address of an ed25519 public key: the first 20 bytes of its SHA-256. */
export function ed25519Address(publicKey: Uint8Array): Uint8Array {
  return sha256(publicKey).slice(0, ADDRESS_SIZE);
}

/**
 * Verifies a signature with OpenSSL. Returns undefined if only {@link verifyZip215} can decide, which takes 1 to 2 ms, some 20
 * times as long.
 *
 * CometBFT uses the ZIP-215 rules. OpenSSL is stricter: it checks the equation without the cofactor. Every signature that
 * satisfies this equation also satisfies the cofactored equation that ZIP-215 uses, so if OpenSSL accepts, the result is final.
 * If it rejects, the ZIP-215 verifier decides: nodes that disagree on a signature would fork.
 */
export function verifyFast({ publicKey, message, signature }: SignedMessage): boolean | undefined {
  if (keyTypeOf(publicKey) === SECP256K1) return verifySecp256k1(publicKey, message, signature);
  if (publicKey.length !== ED25519_KEY_SIZE || signature.length !== 64) return false;
  const key = ed25519Key(publicKey);
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

function ed25519Key(publicKey: Uint8Array): KeyObject | undefined {
  const name = toHex(publicKey);
  if (ed25519Keys.has(name)) return ed25519Keys.get(name);
  if (ed25519Keys.size >= MAX_ED25519_KEYS) ed25519Keys.clear();
  const key = newEd25519Key(publicKey);
  ed25519Keys.set(name, key);
  return key;
}

function newEd25519Key(publicKey: Uint8Array): KeyObject | undefined {
  try {
    const der = concat(ED25519_SPKI_PREFIX, publicKey);
    return createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" });
  } catch {
    return undefined; // OpenSSL refuses the key, so only the ZIP-215 verifier decides
  }
}

/** DER prefix of a SubjectPublicKeyInfo for a compressed secp256k1 point. The 33 bytes of the point follow. */
const SECP256K1_SPKI_PREFIX = fromHex("3036301006072a8648ce3d020106052b8104000a032200");
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const SIGNATURE_BYTES = 64;

// Recently imported keys. An import costs about as much as a verification, and the same accounts and validators sign often.
const secp256k1Keys = createRecentCache<string, KeyObject>(512);

/** Returns the address for a compressed key: RIPEMD-160 of its SHA-256, 20 bytes. */
export function secp256k1Address(publicKey: Uint8Array): Uint8Array {
  return createHash("ripemd160").update(sha256(publicKey)).digest();
}

/**
 * Verifies a validator's signature (r and s, 32 bytes each, low s) over the SHA-256 of `message`. Like CometBFT, first reduces r
 * and s modulo the curve's order.
 */
function verifySecp256k1(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== SECP256K1_KEY_SIZE || signature.length !== SIGNATURE_BYTES) return false;
  const [r, s] = [scalar(signature.subarray(0, 32)), scalar(signature.subarray(32))];
  // The negated s would be a second valid signature.
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

/** Imports a compressed key for `node:crypto`. Returns undefined if the bytes are not a point on the curve. */
export function importSecp256k1(publicKey: Uint8Array): KeyObject | undefined {
  return secp256k1Keys.get(toHex(publicKey), () => newSecp256k1Key(publicKey));
}

function newSecp256k1Key(publicKey: Uint8Array): KeyObject | undefined {
  try {
    const der = Buffer.from(concat(SECP256K1_SPKI_PREFIX, publicKey));
    return createPublicKey({ key: der, format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}
