import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bcrypt, bcryptVerify } from "hash-wasm";
import { errorText } from "../../platform/base/errors.ts";
import { isRecord } from "../../platform/base/json.ts";
import { readTextFile } from "../../platform/base/read-text.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { createPrivateDirectory, PRIVATE_FILE_MODE } from "../../platform/process/private-file.ts";
import { badKeyring } from "../client/errors.ts";

/** File with the bcrypt hash of a keyring's password, in the folder of the `file` backend. */
const KEY_HASH_FILE = "keyhash";
const MAX_HASH_BYTES = 256;
/** The cost used in the SDK's files. */
const COST = 10;
/** Minimum that the SDK requires for a new keyring. */
const MIN_PASSWORD_CHARACTERS = 8;
/** Limit of bcrypt. */
const MAX_PASSWORD_BYTES = 72;

/** Reads the hash of a keyring's password; undefined if the keyring is new. */
export function readKeyHash(folder: string): string | undefined {
  const file = join(folder, KEY_HASH_FILE);
  try {
    return readTextFile(file, MAX_HASH_BYTES).trim();
  } catch (cause) {
    if (isRecord(cause) && cause["code"] === "ENOENT") return undefined;
    throw badKeyring(`${file} cannot be read: ${errorText(cause)}`);
  }
}

/** Throws `bad-key` unless the password matches the hash. */
export async function checkPassword(password: Secret, hash: string, folder: string): Promise<void> {
  const isRight = await bcryptVerify({ password: password.reveal(), hash }).catch((cause: unknown) => {
    throw badKeyring(`${join(folder, KEY_HASH_FILE)} is not a bcrypt hash: ${errorText(cause)}`);
  });
  if (!isRight) throw badKeyring(`the password is not the one for ${folder}`);
}

/** Writes the hash of a new keyring's password. Throws `bad-key` if the password is too short or too long. */
export async function writeKeyHash(password: Secret, folder: string): Promise<void> {
  const text = password.reveal();
  if (text.length < MIN_PASSWORD_CHARACTERS || Buffer.byteLength(text) > MAX_PASSWORD_BYTES)
    throw badKeyring(
      `the password of a new keyring has ${MIN_PASSWORD_CHARACTERS} characters or more, and at most ${MAX_PASSWORD_BYTES} bytes`,
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
