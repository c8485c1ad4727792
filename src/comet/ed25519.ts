import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { concat, fromHex, toHex } from "../base/bytes.ts";
import { sha256 } from "../base/sha256.ts";

/** Length of an ed25519 public key in bytes. */
export const PUBLIC_KEY_SIZE = 32;

/** Length of an address in bytes. */
export const ADDRESS_SIZE = 20;

const SPKI_PREFIX = fromHex("302a300506032b6570032100");

/** Prepared keys by hex; validators sign again and again. Dropped as a whole when full: it holds no truth, only work done. */
const prepared = new Map<string, KeyObject | undefined>();
const PREPARED_LIMIT = 4096;

/** CometBFT's address of an ed25519 public key: the first 20 bytes of its SHA-256. */
export function addressOf(publicKey: Uint8Array): Uint8Array {
  return sha256(publicKey).slice(0, ADDRESS_SIZE);
}

/**
 * Whether the signature holds under the ZIP-215 rules that CometBFT uses. OpenSSL, which is much faster, is stricter;
 * so its yes is final and its no is asked again of a ZIP-215 verifier.
 */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== PUBLIC_KEY_SIZE || signature.length !== 64) return false;
  const key = preparedKey(publicKey);
  if (key !== undefined && verify(null, message, key, signature)) return true;
  return verifyZip215(publicKey, message, signature);
}

function verifyZip215(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: true });
  } catch {
    return false; // noble throws on bytes that are no point: such a signature does not hold
  }
}

function preparedKey(publicKey: Uint8Array): KeyObject | undefined {
  const name = toHex(publicKey);
  if (prepared.has(name)) return prepared.get(name);
  if (prepared.size >= PREPARED_LIMIT) prepared.clear();
  const key = importKey(publicKey);
  prepared.set(name, key);
  return key;
}

function importKey(publicKey: Uint8Array): KeyObject | undefined {
  try {
    const der = concat(SPKI_PREFIX, publicKey);
    return createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" });
  } catch {
    return undefined; // OpenSSL refuses the key: the ZIP-215 verifier decides alone
  }
}
