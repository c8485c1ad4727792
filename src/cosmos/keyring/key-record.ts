import { createHash } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { fromHex, sha256, toHex } from "../../platform/base/bytes.ts";
import { attempt } from "../../platform/base/errors.ts";
import { Secret } from "../../platform/base/secret.ts";
import { Record as KeyringRecord } from "../proto/gen/cosmos/crypto/keyring/v1/record.ts";
import { PrivKey, PubKey } from "../proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { TYPE_URL } from "../proto/registry.ts";
import { badKeyring } from "../client-error.ts";

export interface KeyRecord {
  readonly name: string;
  readonly type: "ledger" | "local" | "multi" | "offline";
  /** Compressed secp256k1 public key (33 bytes), or undefined for any other key type. */
  readonly publicKey: Uint8Array | undefined;
  /** Private key of a local key (32 bytes, in hex), or undefined for Ledger, multisig and offline keys. */
  readonly privateKey?: Secret;
}

const PRIVATE_KEY_URL = "/cosmos.crypto.secp256k1.PrivKey";

/** Creates the record for a secp256k1 private key. Throws `bad-key` if the key is invalid. */
export function localKey(name: string, privateKey: Uint8Array): KeyRecord {
  if (!secp256k1.utils.isValidSecretKey(privateKey))
    throw badKeyring(`${name} is not a secp256k1 private key`);
  const publicKey = secp256k1.getPublicKey(privateKey, true);
  return { name, type: "local", publicKey, privateKey: new Secret(toHex(privateKey)) };
}

/** Returns an account's 20-byte address, which is the RIPEMD-160 hash of the public key's SHA-256. */
export function addressBytes(publicKey: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("ripemd160").update(sha256(publicKey)).digest());
}

/** Encodes a local key as `cosmos.crypto.keyring.v1.Record`. */
export function encodeKeyRecord({ name, publicKey, privateKey }: KeyRecord): Uint8Array {
  if (publicKey === undefined || privateKey === undefined) throw badKeyring(`${name} is not a local key`);
  const pubKey = { typeUrl: TYPE_URL.secp256k1PubKey, value: PubKey.encode({ key: publicKey }).finish() };
  const value = PrivKey.encode({ key: fromHex(privateKey.reveal()) }).finish();
  const item = { $case: "local", value: { privKey: { typeUrl: PRIVATE_KEY_URL, value } } } as const;
  return KeyringRecord.encode({ name, pubKey, item }).finish();
}

/** Decodes the record in a key file. `name` identifies the key in error messages. Throws `bad-key` for an invalid record. */
export function decodeKeyRecord(data: Uint8Array, name: string): KeyRecord {
  const record = decodeRecord(data, name);
  const publicKey = publicKeyOf(record);
  if (record.item.$case !== "local") return { name: record.name, type: record.item.$case, publicKey };
  const { privKey } = record.item.value;
  if (privKey?.typeUrl !== PRIVATE_KEY_URL)
    throw badKeyring(`${name} has key type ${privKey?.typeUrl ?? "none"} (expected secp256k1)`);
  const { key } = PrivKey.decode(privKey.value);
  if (key.length !== 32) throw badKeyring(`${name} has a key of ${key.length} bytes (expected 32)`);
  return localKey(record.name, key);
}

function publicKeyOf({ pubKey }: KeyringRecord): Uint8Array | undefined {
  if (pubKey?.typeUrl !== TYPE_URL.secp256k1PubKey) return undefined;
  const { key } = PubKey.decode(pubKey.value);
  return key.length === 33 ? key : undefined;
}

function decodeRecord(
  data: Uint8Array,
  name: string,
): KeyringRecord & { readonly item: NonNullable<KeyringRecord["item"]> } {
  const record = attempt(() => KeyringRecord.decode(data));
  if (record?.item !== undefined) return { ...record, item: record.item };
  throw badKeyring(
    `${name} is not a record from SDK 0.46 or newer; run "neutrond keys list" once to migrate older records`,
  );
}
