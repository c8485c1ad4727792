import { fromHex, upperHex } from "../../platform/base/bytes.ts";
import { ed25519Address, PUBLIC_KEY_SIZE, verifyEd25519 } from "./ed25519.ts";
import { SECP256K1_KEY_SIZE, secp256k1Address, verifySecp256k1 } from "./secp256k1.ts";

/*
 * Public keys of validators: ed25519 (32 bytes) or secp256k1 (33 bytes, compressed). The length tells the type.
 */

interface KeyType {
  /** Name in CometBFT's error texts. */
  readonly goName: string;
  readonly size: number;
  /** Type in the JSON of the RPC. */
  readonly jsonType: string;
  /** Encoded `PublicKey` up to the key, with its length in front, as field 1 of a `SimpleValidator`. */
  readonly hashPrefix: Uint8Array;
}

const ED25519: KeyType = {
  goName: "PubKeyEd25519",
  size: PUBLIC_KEY_SIZE,
  jsonType: "tendermint/PubKeyEd25519",
  hashPrefix: fromHex("0a220a20"),
};

const SECP256K1: KeyType = {
  goName: "PubKeySecp256k1",
  size: SECP256K1_KEY_SIZE,
  jsonType: "tendermint/PubKeySecp256k1",
  hashPrefix: fromHex("0a231221"),
};

/** Both types, by their name in the `PublicKey` of protobuf. */
export const KEY_TYPES = { ed25519: ED25519, secp256k1: SECP256K1 } as const;

/** Returns the type of a public key. */
export function keyTypeOf(publicKey: Uint8Array): KeyType {
  return publicKey.length === SECP256K1_KEY_SIZE ? SECP256K1 : ED25519;
}

/** Returns the 20-byte address of a public key. */
export function addressOf(publicKey: Uint8Array): Uint8Array {
  return keyTypeOf(publicKey) === SECP256K1 ? secp256k1Address(publicKey) : ed25519Address(publicKey);
}

/** Formats a public key as CometBFT's error texts. */
export function publicKeyText(publicKey: Uint8Array): string {
  return `${keyTypeOf(publicKey).goName}{${upperHex(publicKey)}}`;
}

/** A signature to verify. */
export interface SignedMessage {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** Whether the signature is valid. `beforeSlow` runs before the slow verifier of ZIP-215; see `verifyEd25519`. */
export function verifySignature(signed: SignedMessage, beforeSlow?: () => void): boolean {
  const { publicKey, message, signature } = signed;
  return keyTypeOf(publicKey) === SECP256K1
    ? verifySecp256k1(publicKey, message, signature)
    : verifyEd25519(publicKey, message, signature, beforeSlow);
}
