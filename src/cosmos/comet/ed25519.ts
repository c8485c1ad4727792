import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { concat, fromHex, toHex, sha256 } from "../../platform/base/bytes.ts";

/** Length of an ed25519 public key in bytes. */
export const PUBLIC_KEY_SIZE = 32;

/** Length of an address in bytes. */
export const ADDRESS_SIZE = 20;

/** DER of a `SubjectPublicKeyInfo` for ed25519, up to the key. */
const SPKI_PREFIX = fromHex("302a300506032b6570032100");

/**
 * Cache of imported keys, by hex, because the same validators sign every block. Undefined: OpenSSL refused the key. The
 * result of an import depends only on the key, so an entry cannot become wrong. The cache is cleared when it is full.
 */
const importedKeys = new Map<string, KeyObject | undefined>();
const MAX_IMPORTED_KEYS = 4096;

/** Returns the address of an ed25519 public key: the first 20 bytes of its SHA-256. */
export function ed25519Address(publicKey: Uint8Array): Uint8Array {
  return sha256(publicKey).slice(0, ADDRESS_SIZE);
}

/**
 * Whether a signature is valid under the ZIP-215 rules, which CometBFT uses.
 *
 * OpenSSL is tried first because it is much faster. It is also stricter: it checks the equation without the cofactor.
 * Every signature that satisfies this equation also satisfies the one with the cofactor, which ZIP-215 uses, so an
 * OpenSSL accept is final. After a reject, the ZIP-215 verifier decides: nodes that disagree on a signature would fork.
 *
 * The ZIP-215 verifier takes 1 to 2 ms, some 20 times as long as OpenSSL. `beforeSlow` runs before it and may throw.
 */
export function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
  beforeSlow?: () => void,
): boolean {
  if (publicKey.length !== PUBLIC_KEY_SIZE || signature.length !== 64) return false;
  const key = importedKey(publicKey);
  if (key !== undefined && verify(null, message, key, signature)) return true;
  beforeSlow?.();
  return verifyZip215(publicKey, message, signature);
}

function verifyZip215(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: true });
  } catch {
    return false; // noble throws if the key or the signature does not decode to a point
  }
}

function importedKey(publicKey: Uint8Array): KeyObject | undefined {
  const name = toHex(publicKey);
  if (importedKeys.has(name)) return importedKeys.get(name);
  if (importedKeys.size >= MAX_IMPORTED_KEYS) importedKeys.clear();
  const key = importKey(publicKey);
  importedKeys.set(name, key);
  return key;
}

function importKey(publicKey: Uint8Array): KeyObject | undefined {
  try {
    const der = concat(SPKI_PREFIX, publicKey);
    return createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" });
  } catch {
    return undefined; // OpenSSL refuses the key, so only the ZIP-215 verifier decides
  }
}
