import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { concat, fromHex } from "../../../base/bytes.ts";
import { createRecentCache } from "../../../base/recent-cache.ts";
import { sha256 } from "../../../base/sha256.ts";
import type { Any } from "../../../proto/gen/google/protobuf/any.ts";
import { PubKey } from "../../../proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { TYPE_URL } from "../../../proto/type-urls.ts";
import { ErrInvalidPubKey } from "../sdk-errors.ts";

/** DER of a SubjectPublicKeyInfo for a compressed secp256k1 point, up to the point. */
const SPKI_PREFIX = fromHex("3036301006072a8648ce3d020106052b8104000a032200");
const KEY_BYTES = 33;
const SIGNATURE_BYTES = 64;
/** Half of the order of secp256k1: signatures with a larger s are refused, as the SDK does. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Reads a compressed secp256k1 public key (33 bytes). Throws sdk/8 for other types of keys. */
export function parsePublicKey(key: Any): Uint8Array {
  if (key.typeUrl !== TYPE_URL.secp256k1PubKey)
    throw ErrInvalidPubKey(`only secp256k1 public keys can sign here, not ${key.typeUrl}`);
  const bytes = PubKey.decode(key.value).key;
  if (bytes.length !== KEY_BYTES) throw ErrInvalidPubKey(`length of pubkey is incorrect: ${bytes.length}`);
  return bytes;
}

/** Account address of a secp256k1 key: RIPEMD-160 of the SHA-256 of its compressed form, 20 bytes. */
export function addressOfKey(publicKey: Uint8Array): Uint8Array {
  return createHash("ripemd160").update(sha256(publicKey)).digest();
}

/** Whether `signature` (r and s, 32 bytes each, low s) over the SHA-256 of `message` is by this key. */
export function verifySecp256k1(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES || !hasLowS(signature)) return false;
  const signed = byteText(concat(publicKey, signature, sha256(message)));
  return verified.get(signed, () => verifyOnce(publicKey, message, signature) || undefined) === true;
}

function verifyOnce(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const key = imported.get(byteText(publicKey), () => readPoint(publicKey));
  return key !== undefined && verify("sha256", message, { key, dsaEncoding: "ieee-p1363" }, signature);
}

/** Any bytes as text, one character each. */
function byteText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function hasLowS(signature: Uint8Array): boolean {
  let s = 0n;
  for (const byte of signature.subarray(32)) s = (s << 8n) | BigInt(byte);
  return s <= HALF_ORDER;
}

/** Keys that were imported lately: importing takes about as long as verifying, and the same accounts sign again and again. */
const imported = createRecentCache<string, KeyObject>(512);

/**
 * Key, signature and hash of the message of signatures that were found right lately: a transaction is verified when it is
 * checked and again in its block, and verifying takes longer than all the rest of a payment. Room for a full mempool.
 */
const verified = createRecentCache<string, true>(5_000);

/** Undefined for bytes that are no point of the curve. */
function readPoint(publicKey: Uint8Array): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.from(concat(SPKI_PREFIX, publicKey)), format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}
