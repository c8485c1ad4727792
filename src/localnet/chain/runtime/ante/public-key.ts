import { verify } from "node:crypto";
import { concat, fromHex, sha256 } from "../../../../platform/base/bytes.ts";
import { createRecentCache } from "../../../../platform/base/caches.ts";
import {
  importSecp256k1,
  SECP256K1_KEY_SIZE,
  secp256k1Address,
} from "../../../../cosmos/comet/validator-key.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { PubKey } from "../../../../cosmos/proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { TYPE_URL } from "../../../../cosmos/proto/type-urls.ts";
import { ErrInvalidPubKey } from "../sdk-errors.ts";

const SIGNATURE_BYTES = 64;
/** Half of the order of secp256k1. The SDK rejects a larger s, because (r, n-s) would be a second valid signature. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * The key that a simulation assumes for a signer without one (the SDK's `simSecp256k1Pubkey`). Its length decides the gas
 * of storing it with the account.
 */
export const PLACEHOLDER_KEY: Any = {
  typeUrl: TYPE_URL.secp256k1PubKey,
  value: PubKey.encode({
    key: fromHex("035ad6810a47f073553ff30d2fcc7e0d3b1c0b74b61a1aaa2582344037151e143a"),
  }).finish(),
};

/** Decodes a compressed secp256k1 public key (33 bytes). Throws sdk/8 for other key types and lengths. */
export function parsePublicKey(key: Any): Uint8Array {
  requireSecp256k1(key.typeUrl);
  const bytes = PubKey.decode(key.value).key;
  if (bytes.length !== SECP256K1_KEY_SIZE)
    throw ErrInvalidPubKey(`length of pubkey is incorrect: ${bytes.length}`);
  return bytes;
}

/** Throws sdk/8 unless the type URL is that of secp256k1 keys. */
export function requireSecp256k1(typeUrl: string): void {
  if (typeUrl !== TYPE_URL.secp256k1PubKey)
    throw ErrInvalidPubKey(`only secp256k1 public keys can sign here, not ${typeUrl}`);
}

/**
 * Returns the account address of a public key, 20 bytes: RIPEMD-160 of the SHA-256 of a secp256k1 key, or the start of
 * the SHA-256 of an ed25519 key. Throws sdk/8 for other key types, and for a secp256k1 key that has not 33 bytes.
 */
export function addressOfKey(key: Any): Uint8Array {
  if (key.typeUrl === TYPE_URL.ed25519PubKey) return sha256(PubKey.decode(key.value).key).slice(0, 20);
  return secp256k1Address(parsePublicKey(key));
}

/** Verifies a signature (r and s, 32 bytes each, low s) over the SHA-256 of `message`. */
export function verifySecp256k1(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES || !hasLowS(signature)) return false;
  const cacheKey = byteText(concat(publicKey, signature, sha256(message)));
  return verified.get(cacheKey, () => verifyOnce(publicKey, message, signature) || undefined) === true;
}

function verifyOnce(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const key = importSecp256k1(publicKey);
  return key !== undefined && verify("sha256", message, { key, dsaEncoding: "ieee-p1363" }, signature);
}

/** Maps each byte to one character (latin-1). */
function byteText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function hasLowS(signature: Uint8Array): boolean {
  let s = 0n;
  for (const byte of signature.subarray(32)) s = (s << 8n) | BigInt(byte);
  return s <= HALF_ORDER;
}

// Recently verified signatures: key, signature and message hash. Every transaction is verified in CheckTx and again in
// its block, and the verification costs more than everything else in a payment. The capacity is a full mempool. Only
// successes are stored, and the entry is a function of its key, so the cache cannot change a result.
const verified = createRecentCache<string, true>(5_000);
