import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { CodedError } from "../base/errors.ts";
import { createPrivateFile, PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from "./private-file.ts";

/** Thrown when another process holds the lock. `pid` is the process id that it wrote down, if readable. */
export class FolderInUseError extends CodedError<{
  readonly code: "folder-in-use";
  readonly folder: string;
  readonly pid: number | undefined;
}> {}

/** Exclusive use of a folder by this process. */
export interface FolderLock {
  readonly release: () => void;
}

const LOCK_FILE = "lock.db";
const PROCESS_FILE = "lock.pid";

/**
 * Creates the folder (mode 0700) if necessary and locks it until `release` or the end of the process, including `kill -9`.
 *
 * The lock is an open exclusive transaction on an empty SQLite database, so the operating system releases it. It is not
 * taken on the state's own database, because the driver may keep a closed file open until its statements are collected.
 *
 * @throws {FolderInUseError} while another process holds the lock.
 */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  const lockFile = join(folder, LOCK_FILE);
  createPrivateFile(lockFile);
  const database = new Database(lockFile, { timeout: 200 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    throw isBusy(cause) ? inUse(folder, cause) : cause;
  }
  writeFileSync(join(folder, PROCESS_FILE), `${process.pid}\n`, { mode: PRIVATE_FILE_MODE });
  return {
    release: () => {
      database.exec("ROLLBACK");
      database.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "SQLITE_BUSY";
}

function inUse(folder: string, cause: unknown): FolderInUseError {
  const pid = readPid(join(folder, PROCESS_FILE));
  const holder = pid === undefined ? "another process" : `process ${pid}`;
  return new FolderInUseError(
    { code: "folder-in-use", folder, pid },
    `the folder ${folder} is in use by ${holder}`,
    {
      cause,
    },
  );
}

/** The process id that the lock's holder wrote. It only serves the error message. */
function readPid(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, "utf8").trim());
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
