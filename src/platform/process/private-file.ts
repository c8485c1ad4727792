import { closeSync, openSync } from "node:fs";

/** Mode of a directory that only this user may enter. */
export const PRIVATE_DIRECTORY_MODE = 0o700;

/** Mode of a file that only this user may read. */
export const PRIVATE_FILE_MODE = 0o600;

/**
 * Creates an empty file with mode 0600 unless the file exists. SQLite treats an empty file as a new database, and gives
 * its `-wal` and `-shm` files the mode of the database. Throws when the file cannot be opened.
 */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, "a", PRIVATE_FILE_MODE));
}
