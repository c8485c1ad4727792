import { createDecipheriv, pbkdf2Sync } from "node:crypto";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { concat, fromBase64, fromUtf8, utf8 } from "../../../platform/base/bytes.ts";
import { errorText } from "../../../platform/base/errors.ts";
import { isRecord, parseJson } from "../../../platform/base/json.ts";
import { readTextFile } from "../../../platform/base/read-text.ts";
import type { Secret } from "../../../platform/base/secret.ts";
import { Record as KeyringRecord } from "../../proto/gen/cosmos/crypto/keyring/v1/record.ts";
import { PrivKey } from "../../proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { ClientError } from "../errors.ts";

/** A key of an SDK keyring, as `neutrond keys` writes it. */
export interface KeyringKey {
  /** The home of the SDK program, which contains `keyring-test` or `keyring-file`; or that folder itself. */
  readonly home: string;
  readonly name: string;
  readonly backend: "test" | "file";
  /** Password of the backend `file`. The backend `test` has a public one. */
  readonly password: Secret | undefined;
}

/** The SDK encrypts every file of the backend `test` with it. */
const TEST_PASSWORD = "test";
const MAX_FILE_BYTES = 65_536;
/** Names of keys in an error message. */
const MAX_NAMES = 10;

/** Reads the private key: 32 bytes of secp256k1. Throws `bad-key` with what to change, without any part of the key. */
export function readKeyringKey(key: KeyringKey): Uint8Array {
  const folder = folderOf(key);
  const token = readKeyFile(folder, key);
  const item = decryptItem(token, key);
  return privateKeyOf(item, key);
}

function folderOf({ home, backend }: KeyringKey): string {
  const name = `keyring-${backend}`;
  return basename(home) === name ? home : join(home, name);
}

function readKeyFile(folder: string, { name }: KeyringKey): string {
  // As the SDK's store: a slash cannot be in a file name.
  const file = join(folder, `${name.replaceAll("%", "%25").replaceAll("/", "%2F")}.info`);
  try {
    return readTextFile(file, MAX_FILE_BYTES);
  } catch (cause) {
    throw badKeyring(`${file} cannot be read (${errorText(cause)}); ${namesIn(folder)}`);
  }
}

/** Says which keys there are, since a wrong name or home is the usual mistake. */
function namesIn(folder: string): string {
  let files: readonly string[];
  try {
    files = readdirSync(folder);
  } catch {
    return `${folder} is not a readable directory: give the home of the SDK program, such as ~/.neutrond`;
  }
  const names = files.filter((file) => file.endsWith(".info")).map((file) => file.slice(0, -".info".length));
  if (names.length === 0) return `${folder} has no keys`;
  const more = names.length > MAX_NAMES ? ", …" : "";
  return `${folder} has ${names.toSorted().slice(0, MAX_NAMES).join(", ")}${more}`;
}

function decryptItem(token: string, { name, backend, password }: KeyringKey): Uint8Array {
  if (backend === "file" && password === undefined)
    throw badKeyring("the backend file needs a password: {file: path} or {env: NAME}");
  const item = decrypt(token, password?.reveal() ?? TEST_PASSWORD, name);
  if (item !== undefined) return dataOf(item, name);
  throw badKeyring(
    backend === "file"
      ? `the password does not open ${name}`
      : `${name} is not of the backend test: the public password does not open it`,
  );
}

function decrypt(token: string, password: string, name: string): Uint8Array | undefined {
  try {
    return decryptJwe(token, password);
  } catch (error) {
    throw badKeyring(`${name} is not a key file of an SDK keyring: ${errorText(error)}`);
  }
}

/** The content is the JSON of an item of Go's `keyring` library; its `Data` is base64. */
function dataOf(item: Uint8Array, name: string): Uint8Array {
  try {
    const json: unknown = JSON.parse(fromUtf8(item));
    if (isRecord(json) && typeof json["Data"] === "string") return fromBase64(json["Data"]);
  } catch {
    // The error below reports it.
  }
  throw badKeyring(`${name} has no key record`);
}

function privateKeyOf(data: Uint8Array, { name }: KeyringKey): Uint8Array {
  const item = decodeRecordItem(data, name);
  if (item.$case !== "local")
    throw badKeyring(`${name} is ${KINDS[item.$case]}: only a local key can sign here`);
  const { privKey } = item.value;
  if (privKey?.typeUrl !== "/cosmos.crypto.secp256k1.PrivKey")
    throw badKeyring(`${name} has the key type ${privKey?.typeUrl ?? "none"}: secp256k1 was expected`);
  const { key } = PrivKey.decode(privKey.value);
  if (key.length === 32) return key;
  throw badKeyring(`${name} has a key of ${key.length} bytes: 32 were expected`);
}

const KINDS = {
  ledger: "a Ledger key",
  multi: "a multisig key",
  offline: "an offline key",
} as const;

function decodeRecordItem(data: Uint8Array, name: string): NonNullable<KeyringRecord["item"]> {
  try {
    const { item } = KeyringRecord.decode(data);
    if (item !== undefined) return item;
  } catch {
    // The error below reports it.
  }
  throw badKeyring(
    `${name} is not a record of an SDK since 0.46: run "neutrond keys list" once, which migrates older records`,
  );
}

function badKeyring(reason: string): ClientError {
  return new ClientError({ code: "bad-key", kind: "keyring" }, `the signing key cannot be used: ${reason}`);
}

/** PBKDF2 iterations of a file that is still opened. The SDK writes 8,192; a larger number would block the process. */
const MAX_ITERATIONS = 2_000_000;
const MAX_TOKEN_CHARACTERS = 65_536;

/**
 * Decrypts a compact JWE of PBES2-HS256+A128KW with A256GCM (RFC 7518, 4.8 and 5.3), the format of the files of an SDK
 * keyring. Returns undefined for a wrong password and for a token that was changed. Throws for another format.
 */
function decryptJwe(token: string, password: string): Uint8Array | undefined {
  const parts = token.trim().split(".");
  const [header = "", key = "", iv = "", text = "", tag = ""] = parts;
  if (parts.length !== 5 || token.length > MAX_TOKEN_CHARACTERS) throw new Error("it is not a compact JWE");
  const { salt, iterations } = readHeader(header);
  try {
    const wrapping = pbkdf2Sync(password, saltOf(salt), iterations, 16, "sha256");
    const unwrap = createDecipheriv("id-aes128-wrap", wrapping, WRAP_IV);
    const content = Buffer.concat([unwrap.update(fromUrl(key)), unwrap.final()]);
    const decipher = createDecipheriv("aes-256-gcm", content, fromUrl(iv), { authTagLength: 16 });
    decipher.setAAD(utf8(header)).setAuthTag(fromUrl(tag));
    return Buffer.concat([decipher.update(fromUrl(text)), decipher.final()]);
  } catch {
    return undefined;
  }
}

const ALGORITHM = "PBES2-HS256+A128KW";

/** RFC 3394, 2.2.3.1. */
const WRAP_IV = Buffer.alloc(8, 0xa6);

/** RFC 7518, 4.8.1.1: the name of the algorithm, a zero byte, and the salt of the header. */
function saltOf(salt: Uint8Array): Uint8Array {
  return concat(utf8(ALGORITHM), Uint8Array.of(0), salt);
}

function readHeader(part: string): { readonly salt: Uint8Array; readonly iterations: number } {
  const header = parseJson(fromUrl(part).toString("utf8"));
  if (!isRecord(header) || header["alg"] !== ALGORITHM || header["enc"] !== "A256GCM")
    throw new Error(`it is not encrypted with ${ALGORITHM} and A256GCM`);
  const { p2s: salt, p2c: iterations } = header;
  const isCount = typeof iterations === "number" && Number.isInteger(iterations) && iterations >= 1;
  if (typeof salt !== "string" || !isCount || iterations > MAX_ITERATIONS)
    throw new Error("its header has no usable p2s and p2c");
  return { salt: fromUrl(salt), iterations };
}

function fromUrl(text: string): Buffer {
  return Buffer.from(text, "base64url");
}
