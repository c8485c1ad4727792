import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { concat, fromHex, toHex, sha256 } from "../../platform/base/bytes.ts";
import { createRecentCache } from "../../platform/base/caches.ts";

/** Length of a compressed secp256k1 public key in bytes. */
export const SECP256K1_KEY_SIZE = 33;

/** DER prefix of a SubjectPublicKeyInfo for a compressed secp256k1 point. The 33 bytes of the point follow. */
const SPKI_PREFIX = fromHex("3036301006072a8648ce3d020106052b8104000a032200");
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const SIGNATURE_BYTES = 64;

// Recently imported keys. An import costs about as much as a verification, and the same accounts and validators sign often.
const imported = createRecentCache<string, KeyObject>(512);

/** Returns the address of a compressed key: RIPEMD-160 of its SHA-256, 20 bytes. */
export function secp256k1Address(publicKey: Uint8Array): Uint8Array {
  return createHash("ripemd160").update(sha256(publicKey)).digest();
}

/**
 * Verifies a signature of a validator (r and s, 32 bytes each, low s) over the SHA-256 of `message`. Like CometBFT,
 * it reduces r and s modulo the order of the curve first.
 */
export function verifySecp256k1(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
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

/** Imports a compressed key for `node:crypto`. Returns undefined when the bytes are not a point of the curve. */
export function importSecp256k1(publicKey: Uint8Array): KeyObject | undefined {
  return imported.get(toHex(publicKey), () => importKey(publicKey));
}

function importKey(publicKey: Uint8Array): KeyObject | undefined {
  try {
    const der = Buffer.from(concat(SPKI_PREFIX, publicKey));
    return createPublicKey({ key: der, format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}
