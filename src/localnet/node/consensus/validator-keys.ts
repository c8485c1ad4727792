import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { concat, fromHex, toHex, utf8, sha256 } from "../../../platform/base/bytes.ts";
import { addressOf } from "../../../cosmos/comet/validator-key.ts";

/** Ed25519 key pair of a validator. */
export interface ValidatorKey {
  readonly publicKey: Uint8Array;
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly sign: (message: Uint8Array) => Uint8Array;
}

/** DER header of a PKCS #8 document with an ed25519 private key (RFC 8410). The 32-byte seed follows it. */
const PKCS8_PREFIX = fromHex("302e020100300506032b657004220420");

/** Derives the key pair of a 32-byte seed. Throws on another length. */
export function validatorKey(seed: Uint8Array): ValidatorKey {
  if (seed.length !== 32) throw new Error(`a validator seed has 32 bytes, not ${seed.length}`);
  const der = Buffer.from(concat(PKCS8_PREFIX, seed));
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = new Uint8Array(
    createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32),
  );
  return { publicKey, address: addressOf(publicKey), sign: (message) => sign(null, message, key) };
}

/** Returns the PUBLIC test seed of a validator. All local chains of one id share their seeds. Never for a real network. */
export function testValidatorSeed(chainId: string, index: number): Uint8Array {
  return sha256(utf8(`relaywatch test validator ${chainId} ${index}`));
}

/** Maps lower-case hex addresses to keys. */
export function keyRing(seeds: readonly Uint8Array[]): Map<string, ValidatorKey> {
  return new Map(seeds.map(validatorKey).map((key) => [toHex(key.address), key]));
}
