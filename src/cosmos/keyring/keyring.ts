import { decodeBech32, fromHex, toHex, utf8 } from "../../platform/base/bytes.ts";
import { attempt } from "../../platform/base/errors.ts";
import { badKeyring } from "../client-error.ts";
import { addressBytes, decodeKeyRecord, encodeKeyRecord, type KeyRecord } from "./key-record.ts";
import { keyringFolder, type KeyringPlace, type KeyStore, openKeyStore } from "./key-store.ts";

/** A key in an SDK keyring, as written by `neutrond keys` and `relaywatch keys`. */
export interface KeyringKey extends KeyringPlace {
  readonly name: string;
}

/** Maximum number of key names in an error message. */
const MAX_NAMES = 10;
/** Maximum length of a key's name, because a file name can have at most 255 bytes. */
const MAX_NAME_BYTES = 200;

/** A keyring whose keys are found by name or address. */
export type Keyring = ReturnType<typeof openKeyring>;

/** Opens the keyring in a store whose items have the SDK's format. */
export function openKeyring(store: KeyStore) {
  const names = (): readonly string[] =>
    store.keys().flatMap((key) => (key.endsWith(".info") ? [key.slice(0, -".info".length)] : []));
  const read = (name: string): KeyRecord | undefined => {
    const data = store.read(`${name}.info`);
    return data === undefined ? undefined : decodeKeyRecord(data, name);
  };
  return {
    /** Returns all keys, sorted by name. Throws `bad-key` if any key cannot be read. */
    list: (): readonly KeyRecord[] => names().flatMap((name) => read(name) ?? []),
    /** Finds a key by name or bech32 address. If there is no such key, throws `bad-key` with a list of the available names. */
    find: (nameOrAddress: string): KeyRecord => {
      const record = read(nameOrAddress) ?? byAddress(store, nameOrAddress);
      if (record !== undefined) return record;
      throw badKeyring(`${store.name} has no key ${nameOrAddress}; ${listed(names())}`);
    },
    /**
     * Adds a local key to the keyring. Throws `bad-key` if the key's name is invalid, or if the name or address already exists in
     * the keyring.
     */
    add: (record: KeyRecord): void => addRecord(store, record),
    remove: (name: string): void => {
      const { publicKey } = read(name) ?? {};
      store.remove(`${name}.info`);
      if (publicKey !== undefined) store.remove(addressKey(publicKey));
    },
  };
}

/**
 * Reads a private key, which has 32 bytes for secp256k1. Throws `bad-key` with a message that explains the fix and contains no part
 * of the key.
 */
export function readKeyringKey(key: KeyringKey): Uint8Array {
  const { name, home } = key;
  if (key.backend === "file" && key.password === undefined)
    throw badKeyring("the file backend needs a password: {file: path} or {env: NAME}");
  const store = openKeyStore(key);
  if (store.keys().length === 0)
    throw badKeyring(
      `${keyringFolder(key)} has no keys; expected ${home} to be the home of the SDK program, e.g. ~/.neutrond`,
    );
  const { type, privateKey } = openKeyring(store).find(name);
  if (privateKey !== undefined) return fromHex(privateKey.reveal());
  throw badKeyring(`${name} is ${KINDS[type]}; only a local key can sign here`);
}

const KINDS: Readonly<Record<KeyRecord["type"], string>> = {
  ledger: "a Ledger key",
  local: "a local key without its private key",
  multi: "a multisig key",
  offline: "an offline key",
};

/**
 * Formats the available key names for an error message. The list helps users, because the usual mistake is a wrong name or home
 * directory.
 */
function listed(names: readonly string[]): string {
  if (names.length === 0) return "it is empty";
  return `it has ${names.slice(0, MAX_NAMES).join(", ")}${names.length > MAX_NAMES ? ", …" : ""}`;
}

/** Returns the store key of the item that maps an account address to the name of its record. */
function addressKey(publicKey: Uint8Array): string {
  return `${toHex(addressBytes(publicKey))}.address`;
}

function byAddress(store: KeyStore, address: string): KeyRecord | undefined {
  const bytes = attempt(() => decodeBech32(address).bytes);
  const target = bytes === undefined ? undefined : store.read(`${toHex(bytes)}.address`);
  if (target === undefined) return undefined;
  const key = new TextDecoder().decode(target);
  const data = store.read(key);
  return data === undefined ? undefined : decodeKeyRecord(data, key.replace(/\.info$/, ""));
}

function addRecord(store: KeyStore, record: KeyRecord): void {
  const { name, publicKey } = record;
  requireName(name);
  if (publicKey === undefined) throw badKeyring(`${name} has no secp256k1 public key`);
  if (store.read(`${name}.info`) !== undefined)
    throw badKeyring(`${store.name} already has a key ${name}; delete it first, or choose another name`);
  const target = store.read(addressKey(publicKey));
  const owner = target === undefined ? undefined : new TextDecoder().decode(target);
  if (owner !== undefined && store.read(owner) !== undefined)
    throw badKeyring(`${store.name} already has this key: ${owner.replace(/\.info$/, "")}`);
  // Remove an address item whose record is missing, which an interrupted deletion has left behind.
  if (owner !== undefined) store.remove(addressKey(publicKey));
  store.write(`${name}.info`, encodeKeyRecord(record));
  store.write(addressKey(publicKey), utf8(`${name}.info`));
}

function requireName(name: string): void {
  const isUsable = name.trim() === name && name !== "" && Buffer.byteLength(name) <= MAX_NAME_BYTES;
  const hasControls = Array.from(name).some((character) => character < " " || character === "\u007f");
  if (isUsable && !hasControls && !name.startsWith("-")) return;
  throw badKeyring(
    `${JSON.stringify(name)} is not a valid name (expected 1 to ${MAX_NAME_BYTES} printable characters without leading or trailing spaces)`,
  );
}
