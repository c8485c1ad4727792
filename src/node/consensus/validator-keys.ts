import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { concat, fromHex, toHex, utf8 } from "../../base/bytes.ts";
import { sha256 } from "../../base/sha256.ts";
import { addressOf } from "../../comet/ed25519.ts";

/** A validator's ed25519 key pair. */
export interface ValidatorKey {
  readonly publicKey: Uint8Array;
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly sign: (message: Uint8Array) => Uint8Array;
}

const PKCS8_PREFIX = fromHex("302e020100300506032b657004220420");

/** The key pair of a 32-byte seed. Throws on another length. */
export function validatorKey(seed: Uint8Array): ValidatorKey {
  if (seed.length !== 32) throw new Error(`a validator's seed has 32 bytes, not ${seed.length}`);
  const der = Buffer.from(concat(PKCS8_PREFIX, seed));
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = new Uint8Array(
    createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32),
  );
  return { publicKey, address: addressOf(publicKey), sign: (message) => sign(null, message, key) };
}

/** A public test seed: every local chain of this id has the same validators. Never for a real network. */
export function testValidatorSeed(chainId: string, index: number): Uint8Array {
  return sha256(utf8(`relaywatch test validator ${chainId} ${index}`));
}

/** Keys by address, in lower-case hex. */
export function keyRing(seeds: readonly Uint8Array[]): Map<string, ValidatorKey> {
  return new Map(seeds.map(validatorKey).map((key) => [toHex(key.address), key]));
}
