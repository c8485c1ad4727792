import { randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Secret } from "../base/secret.ts";

const PRIVATE_DIRECTORY_MODE = 0o700;

/**
 * Creates a directory and its parents, with mode 0700, unless they exist, and throws if that fails. Does not use Node's `recursive`
 * option, which never returns for a path such as /proc/x, whose parent exists but refuses the path with ENOENT.
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
 * Creates an empty file with mode 0600 unless the file exists. SQLite treats an empty file as a new database, and gives its `-wal`
 * and `-shm` files the database's mode. Throws if the file cannot be opened.
 */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, "a", PRIVATE_FILE_MODE));
}

/** Name of the file with the token for requests that change something, in a daemon's state directory. */
const TOKEN_FILE = "control-token";

export function tokenFileIn(stateDir: string): string {
  return join(stateDir, TOKEN_FILE);
}

/** Returns the configured token, else the token in the state directory, else undefined. Throws like {@link readOrCreateToken}. */
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
    // The file exists, or another process has just created it.
    if (!existsSync(file)) throw error;
  }
  const text = readFileSync(file, "utf8").trim();
  if (text === "") throw new Error(`${file} is empty; delete it to get a new token`);
  return new Secret(text);
}
