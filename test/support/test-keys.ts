import { createHash } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256, utf8 } from "../../src/platform/base/bytes.ts";
import { formatAddress } from "../../src/localnet/chain/runtime/address.ts";

/** A secp256k1 key that depends on its name only. */
export interface TestKey {
  readonly publicKey: Uint8Array;
  readonly addressBytes: Uint8Array;
  readonly address: string;
  /** Signs the SHA-256 of a document. Returns r and s, 64 bytes. */
  readonly sign: (document: Uint8Array) => Uint8Array;
}

/** Derives the key of a name. */
export function createTestKey(name: string, prefix = "neutron"): TestKey {
  const secret = sha256(utf8(`test key ${name}`));
  const publicKey = secp256k1.getPublicKey(secret, true);
  const addressBytes = createHash("ripemd160").update(sha256(publicKey)).digest();
  return {
    publicKey,
    addressBytes,
    address: formatAddress(prefix, addressBytes),
    sign: (document) => secp256k1.sign(document, secret),
  };
}
