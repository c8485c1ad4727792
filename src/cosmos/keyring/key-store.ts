import { createCipheriv, createDecipheriv, pbkdf2Sync, randomBytes } from "node:crypto";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bcrypt, bcryptVerify } from "hash-wasm";
import { concat, fromBase64, fromUtf8, toBase64, utf8 } from "../../platform/base/bytes.ts";
import { errorText } from "../../platform/base/errors.ts";
import { isRecord, parseJson } from "../../platform/base/json.ts";
import { readTextFile } from "../../platform/base/read-text.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { createPrivateDirectory, PRIVATE_FILE_MODE } from "../../platform/process/private-file.ts";
import { badKeyring } from "../client-error.ts";

export interface KeyringPlace {
  /**
   * Home directory of the SDK application, which contains `keyring-test` or `keyring-file`, or the path of the keyring folder
   * itself.
   */
  readonly home: string;
  readonly backend: "test" | "file";
  /** Password for the `file` backend. The `test` backend ignores it, because its password is a public constant. */
  readonly password: Secret | undefined;
}

/** A keyring's items, each with a key such as "relayer.info". */
export interface KeyStore {
  /** Name that identifies the keyring in messages. */
  readonly name: string;
  /** Returns the sorted keys of all items, or no keys if the keyring does not exist. */
  readonly keys: () => readonly string[];
  /** Returns an item's data, or undefined if there is no such item. Throws `bad-key` if the item exists but cannot be read. */
  readonly read: (key: string) => Uint8Array | undefined;
  readonly write: (key: string, data: Uint8Array) => void;
  readonly remove: (key: string) => void;
}

/** Password that the SDK uses to encrypt every file of the `test` backend. */
const TEST_PASSWORD = "test";
const MAX_FILE_BYTES = 65_536;

export function keyringFolder({ home, backend }: Pick<KeyringPlace, "home" | "backend">): string {
  const name = `keyring-${backend}`;
  return basename(home) === name ? home : join(home, name);
}

/** Opens a keyring that is a folder of encrypted files. Creates the folder with mode 0700 and files with mode 0600. */
export function openKeyStore(place: KeyringPlace): KeyStore {
  const folder = keyringFolder(place);
  const fileOf = (key: string): string => join(folder, toFileName(key));
  return {
    name: folder,
    keys: () => listItems(folder),
    read: (key) => {
      const token = readIfPresent(fileOf(key), MAX_FILE_BYTES);
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

/** Fields that Go's `keyring` library writes into every item, although only the macOS keychain reads them. */
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

/** Escapes percent signs and slashes in an item's key like the SDK's store, because file names cannot contain slashes. */
function toFileName(key: string): string {
  return key.replaceAll("%", "%25").replaceAll("/", "%2F");
}

function listItems(folder: string): readonly string[] {
  try {
    const files = readdirSync(folder).filter((file) => /\.(?:info|address)$/.test(file));
    return files.map((file) => file.replaceAll("%2F", "/").replaceAll("%25", "%")).toSorted();
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw badKeyring(`cannot read ${folder}: ${errorText(cause)}`);
  }
}

function readIfPresent(file: string, maxBytes: number): string | undefined {
  try {
    return readTextFile(file, maxBytes);
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw badKeyring(`cannot read ${file}: ${errorText(cause)}`);
  }
}

function isMissing(error: unknown): boolean {
  return isRecord(error) && error["code"] === "ENOENT";
}

/** Returns the password with which the files are encrypted. Throws `bad-key` if the `file` backend has no password. */
function passwordOf({ backend, password }: KeyringPlace): string {
  if (backend === "test") return TEST_PASSWORD;
  if (password !== undefined) return password.reveal();
  throw badKeyring("the file backend needs a password: {file: path} or {env: NAME}");
}

function decryptItem(token: string, key: string, place: KeyringPlace): Uint8Array {
  const name = key.replace(/\.info$/, "");
  const item = decrypt(token, passwordOf(place), name);
  if (item !== undefined) return dataOf(item, name);
  throw badKeyring(
    place.backend === "file"
      ? `wrong password for ${name}`
      : `${name} does not belong to the test backend: the public password cannot decrypt it`,
  );
}

function decrypt(token: string, password: string, name: string): Uint8Array | undefined {
  try {
    return decryptJwe(token, password);
  } catch (error) {
    throw badKeyring(`${name} is not a key file of an SDK keyring: ${errorText(error)}`);
  }
}

/** Returns the data in an item of Go's `keyring` library, which is JSON with base64 in `Data`. */
function dataOf(item: Uint8Array, name: string): Uint8Array {
  try {
    const json = parseJson(fromUtf8(item));
    if (isRecord(json) && typeof json["Data"] === "string") return fromBase64(json["Data"]);
  } catch {
    // For data that is not JSON, the error below is thrown.
  }
  throw badKeyring(`${name} has no key record`);
}

const ALGORITHM = "PBES2-HS256+A128KW";
const ENCRYPTION = "A256GCM";

/** Number of PBKDF2 iterations that the SDK uses when writing. */
const ITERATIONS = 8_192;
/** Maximum number of PBKDF2 iterations accepted when opening a file, because more would block the process for too long. */
const MAX_ITERATIONS = 2_000_000;
const MAX_TOKEN_CHARACTERS = 65_536;

/** Initial value (IV) for the AES key wrap (RFC 3394, 2.2.3.1). */
const WRAP_IV = Buffer.alloc(8, 0xa6);

/**
 * Encrypts bytes with a password as a compact JWE, the file format of an SDK keyring, using PBES2-HS256+A128KW with A256GCM (RFC
 * 7518, 4.8 and 5.3). `created` is the time in the header, which readers ignore.
 */
function encryptJwe(bytes: Uint8Array, password: string, created: string): string {
  const [salt, content, iv] = [randomBytes(12), randomBytes(32), randomBytes(12)];
  const fields = { alg: ALGORITHM, created, enc: ENCRYPTION, p2c: ITERATIONS, p2s: toUrl(salt) };
  const header = toUrl(utf8(JSON.stringify(fields)));
  const wrap = createCipheriv("id-aes128-wrap", wrappingKey(password, salt, ITERATIONS), WRAP_IV);
  const key = Buffer.concat([wrap.update(content), wrap.final()]);
  const cipher = createCipheriv("aes-256-gcm", content, iv).setAAD(utf8(header));
  const text = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return [header, ...[key, iv, text, cipher.getAuthTag()].map(toUrl)].join(".");
}

/**
 * Decrypts a JWE in the format of `encryptJwe`. Throws for any other format. Returns undefined if the password is wrong or the
 * token was modified.
 */
function decryptJwe(token: string, password: string): Uint8Array | undefined {
  const parts = token.trim().split(".");
  const [header = "", key = "", iv = "", text = "", tag = ""] = parts;
  if (parts.length !== 5 || token.length > MAX_TOKEN_CHARACTERS) throw new Error("not a compact JWE");
  const { salt, iterations } = readHeader(header);
  try {
    const unwrap = createDecipheriv("id-aes128-wrap", wrappingKey(password, salt, iterations), WRAP_IV);
    const content = Buffer.concat([unwrap.update(fromUrl(key)), unwrap.final()]);
    const decipher = createDecipheriv("aes-256-gcm", content, fromUrl(iv), { authTagLength: 16 });
    decipher.setAAD(utf8(header)).setAuthTag(fromUrl(tag));
    return Buffer.concat([decipher.update(fromUrl(text)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/**
 * Derives the wrapping key with PBKDF2. The PBKDF2 salt is the algorithm's name, a zero byte and the header's salt (RFC 7518,
 * 4.8.1.1).
 */
function wrappingKey(password: string, salt: Uint8Array, iterations: number): Buffer {
  const input = concat(utf8(ALGORITHM), Uint8Array.of(0), salt);
  return pbkdf2Sync(password, input, iterations, 16, "sha256");
}

function readHeader(part: string): { readonly salt: Uint8Array; readonly iterations: number } {
  const header = parseJson(fromUrl(part).toString("utf8"));
  if (!isRecord(header) || header["alg"] !== ALGORITHM || header["enc"] !== ENCRYPTION)
    throw new Error(`not encrypted with ${ALGORITHM} and ${ENCRYPTION}`);
  const { p2s: salt, p2c: iterations } = header;
  const isCount = typeof iterations === "number" && Number.isInteger(iterations) && iterations >= 1;
  if (typeof salt !== "string" || !isCount || iterations > MAX_ITERATIONS)
    throw new Error("no valid p2s and p2c in the header");
  return { salt: fromUrl(salt), iterations };
}

function toUrl(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}

function fromUrl(text: string): Buffer {
  return Buffer.from(text, "base64url");
}

/** File with the bcrypt hash of a keyring's password, in the folder of the `file` backend. */
const KEY_HASH_FILE = "keyhash";
const MAX_HASH_BYTES = 256;
/** The bcrypt cost that the SDK uses for this file. */
const COST = 10;
/** Minimum length that the SDK requires for a new keyring's password. */
const MIN_PASSWORD_CHARACTERS = 8;
/** Maximum password length in bytes, which is bcrypt's limit. */
const MAX_PASSWORD_BYTES = 72;

/** Reads the hash of a keyring's password. Returns undefined if the keyring is new. */
export function readKeyHash(folder: string): string | undefined {
  return readIfPresent(join(folder, KEY_HASH_FILE), MAX_HASH_BYTES)?.trim();
}

/** Throws `bad-key` unless the password matches the hash. */
export async function checkPassword(password: Secret, hash: string, folder: string): Promise<void> {
  const isRight = await bcryptVerify({ password: password.reveal(), hash }).catch((cause: unknown) => {
    throw badKeyring(`${join(folder, KEY_HASH_FILE)} is not a bcrypt hash: ${errorText(cause)}`);
  });
  if (!isRight) throw badKeyring(`wrong password for ${folder}`);
}

/** Writes the hash of a new keyring's password. Throws `bad-key` if the password is too short or too long. */
export async function writeKeyHash(password: Secret, folder: string): Promise<void> {
  const text = password.reveal();
  if (text.length < MIN_PASSWORD_CHARACTERS || Buffer.byteLength(text) > MAX_PASSWORD_BYTES)
    throw badKeyring(
      `a new keyring's password must have at least ${MIN_PASSWORD_CHARACTERS} characters and at most ${MAX_PASSWORD_BYTES} bytes`,
    );
  const hash = await bcrypt({
    password: text,
    salt: randomBytes(16),
    costFactor: COST,
    outputType: "encoded",
  });
  createPrivateDirectory(folder);
  writeFileSync(join(folder, KEY_HASH_FILE), hash, { mode: PRIVATE_FILE_MODE, flag: "wx" });
}
