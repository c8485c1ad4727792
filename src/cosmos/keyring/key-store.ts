import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fromBase64, fromUtf8, toBase64, utf8 } from "../../platform/base/bytes.ts";
import { errorText } from "../../platform/base/errors.ts";
import { isRecord, parseJson } from "../../platform/base/json.ts";
import { readTextFile } from "../../platform/base/read-text.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { createPrivateDirectory, PRIVATE_FILE_MODE } from "../../platform/process/private-file.ts";
import { decryptJwe, encryptJwe } from "./jwe.ts";
import { badKeyring } from "../client/errors.ts";

export interface KeyringPlace {
  /** Home directory of the SDK program, which contains `keyring-test` or `keyring-file`, or the path of that folder itself. */
  readonly home: string;
  readonly backend: "test" | "file";
  /** Password for the `file` backend. The password of the `test` backend is public. */
  readonly password: Secret | undefined;
}

/** A keyring's items by key, such as "relayer.info". */
export interface KeyStore {
  /** For messages. */
  readonly name: string;
  /** Keys of all items, sorted. Empty if the keyring does not exist. */
  readonly keys: () => readonly string[];
  /** Throws `bad-key` if the item exists but cannot be read. */
  readonly read: (key: string) => Uint8Array | undefined;
  readonly write: (key: string, data: Uint8Array) => void;
  readonly remove: (key: string) => void;
}

/** Password with which the SDK encrypts every file of the `test` backend. */
const TEST_PASSWORD = "test";
const MAX_FILE_BYTES = 65_536;

export function keyringFolder({ home, backend }: Pick<KeyringPlace, "home" | "backend">): string {
  const name = `keyring-${backend}`;
  return basename(home) === name ? home : join(home, name);
}

/** Opens a keyring as a folder of encrypted files. The folder and files are created with modes 0700 and 0600. */
export function openKeyStore(place: KeyringPlace): KeyStore {
  const folder = keyringFolder(place);
  const fileOf = (key: string): string => join(folder, toFileName(key));
  return {
    name: folder,
    keys: () => listItems(folder),
    read: (key) => {
      const token = readItem(fileOf(key));
      return token === undefined ? undefined : decryptItem(token, key, place);
    },
    write: (key, data) => {
      createPrivateDirectory(folder);
      const item = JSON.stringify({ Key: key, Data: toBase64(data), Label: "", Description: "", ...APPLE });
      const token = encryptJwe(utf8(item), passwordOf(place), new Date().toISOString());
      writeFileSync(fileOf(key), token, { mode: PRIVATE_FILE_MODE, flag: "wx" });
    },
    remove: (key) => rmSync(fileOf(key), { force: true }),
  };
}

/** Item fields that concern only the macOS keychain. */
const APPLE = { KeychainNotTrustApplication: false, KeychainNotSynchronizable: false } as const;

/** A keyring that exists only in this process. */
export function createMemoryStore(): KeyStore {
  const items = new Map<string, Uint8Array>();
  return {
    name: "the keyring in memory",
    keys: () => [...items.keys()].toSorted(),
    read: (key) => items.get(key),
    write: (key, data) => void items.set(key, data),
    remove: (key) => void items.delete(key),
  };
}

/** Escapes slashes like the SDK's store, because a file name cannot contain one. */
function toFileName(key: string): string {
  return key.replaceAll("%", "%25").replaceAll("/", "%2F");
}

function listItems(folder: string): readonly string[] {
  try {
    const files = readdirSync(folder).filter((file) => /\.(?:info|address)$/.test(file));
    return files.map((file) => file.replaceAll("%2F", "/").replaceAll("%25", "%")).toSorted();
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw badKeyring(`${folder} cannot be read: ${errorText(cause)}`);
  }
}

function readItem(file: string): string | undefined {
  try {
    return readTextFile(file, MAX_FILE_BYTES);
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw badKeyring(`${file} cannot be read: ${errorText(cause)}`);
  }
}

function isMissing(error: unknown): boolean {
  return isRecord(error) && error["code"] === "ENOENT";
}

/** Returns the password that encrypts the files. Throws `bad-key` if the `file` backend has no password. */
function passwordOf({ backend, password }: KeyringPlace): string {
  if (backend === "test") return TEST_PASSWORD;
  if (password !== undefined) return password.reveal();
  throw badKeyring("the backend file needs a password: {file: path} or {env: NAME}");
}

function decryptItem(token: string, key: string, place: KeyringPlace): Uint8Array {
  const name = key.replace(/\.info$/, "");
  const item = decrypt(token, passwordOf(place), name);
  if (item !== undefined) return dataOf(item, name);
  throw badKeyring(
    place.backend === "file"
      ? `the password does not open ${name}`
      : `${name} does not belong to the backend test: the public password does not open it`,
  );
}

function decrypt(token: string, password: string, name: string): Uint8Array | undefined {
  try {
    return decryptJwe(token, password);
  } catch (error) {
    throw badKeyring(`${name} is not a key file of an SDK keyring: ${errorText(error)}`);
  }
}

/** The content is an item from Go's `keyring` library as JSON; its `Data` is base64. */
function dataOf(item: Uint8Array, name: string): Uint8Array {
  try {
    const json = parseJson(fromUtf8(item));
    if (isRecord(json) && typeof json["Data"] === "string") return fromBase64(json["Data"]);
  } catch {
    // The error below reports it.
  }
  throw badKeyring(`${name} has no key record`);
}
