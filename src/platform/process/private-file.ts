import { randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Secret } from "../base/secret.ts";

const PRIVATE_DIRECTORY_MODE = 0o700;

/**
 * Creates a directory and its missing parents with mode 0700. Throws if that fails. Node's `recursive` option is not used, because
 * it never returns for a path such as /proc/x, whose parent exists but refuses the path with ENOENT.
 */
export function createPrivateDirectory(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) createPrivateDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: PRIVATE_DIRECTORY_MODE });
  } catch (error) {
    // Another process may have created the directory in between.
    if (!existsSync(path)) throw error;
  }
}

export const PRIVATE_FILE_MODE = 0o600;

/**
 * Creates an empty file with mode 0600 unless the file exists, and throws if it cannot be opened. SQLite treats an empty file as a
 * new database, and gives its `-wal` and `-shm` files the same mode as the database.
 */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, "a", PRIVATE_FILE_MODE));
}

/** Name of a token file in a daemon's state directory. Requests that change something must send the token. */
const TOKEN_FILE = "control-token";

export function tokenFileIn(stateDir: string): string {
  return join(stateDir, TOKEN_FILE);
}

/** Returns the configured token, or else the state directory's token, or else undefined. Throws the errors of {@link readOrCreateToken}. */
export function controlTokenOf(
  configured: Secret | undefined,
  stateDir: string | undefined,
): Secret | undefined {
  return configured ?? (stateDir === undefined ? undefined : readOrCreateToken(tokenFileIn(stateDir)));
}

/**
 * Reads the token from a file, and creates the file (mode 0600, 64 hex digits) and its directory if they do not exist. Throws if
 * the file is empty, or if it can be neither read nor created.
 */
export function readOrCreateToken(file: string): Secret {
  createPrivateDirectory(dirname(file));
  try {
    writeFileSync(file, `${randomBytes(32).toString("hex")}\n`, { mode: PRIVATE_FILE_MODE, flag: "wx" });
  } catch (error) {
    // Ignore the error if the file exists, perhaps because another process has just created it.
    if (!existsSync(file)) throw error;
  }
  const text = readFileSync(file, "utf8").trim();
  if (text === "") throw new Error(`${file} is empty; delete it to get a new token`);
  return new Secret(text);
}
