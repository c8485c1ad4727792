import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Mode of a directory that only this user may enter. */
const PRIVATE_DIRECTORY_MODE = 0o700;

/**
 * Creates a directory with mode 0700, and those above it, unless it exists. Throws when one cannot be created. Node's
 * `recursive` never returns for a path such as /proc/x, whose parent exists and refuses it with ENOENT.
 */
export function createPrivateDirectory(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) createPrivateDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: PRIVATE_DIRECTORY_MODE });
  } catch (error) {
    // Another process created it in between.
    if (!existsSync(path)) throw error;
  }
}

/** Mode of a file that only this user may read. */
export const PRIVATE_FILE_MODE = 0o600;

/**
 * Creates an empty file with mode 0600 unless the file exists. SQLite treats an empty file as a new database, and gives
 * its `-wal` and `-shm` files the mode of the database. Throws when the file cannot be opened.
 */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, "a", PRIVATE_FILE_MODE));
}
