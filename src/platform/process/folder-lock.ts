import { readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { CodedError } from "../base/errors.ts";
import { createPrivateDirectory, createPrivateFile, PRIVATE_FILE_MODE } from "./private-file.ts";

/** Thrown when another process holds the lock. */
export class FolderInUseError extends CodedError<{
  readonly code: "folder-in-use";
  readonly folder: string;
  /** The process id that the lock's holder recorded; undefined if it cannot be read. */
  readonly pid: number | undefined;
  /** The lock's holder in words, such as "process 4711", or "process 1 of host 3f2a" in another container. */
  readonly holder: string;
}> {}

export interface FolderLock {
  readonly release: () => void;
}

const LOCK_FILE = "lock.db";
const PROCESS_FILE = "lock.pid";

/**
 * Creates the folder (mode 0700) if necessary. Locks the folder until `release` or until the process ends, even by `kill -9`.
 *
 * The lock is an open exclusive transaction on an empty SQLite database, which the operating system ends with the process. The
 * state's own database is not used, because the driver may keep a closed file open until its statements are garbage-collected.
 *
 * @throws {FolderInUseError} while another process holds the lock.
 */
export function lockFolder(folder: string): FolderLock {
  createPrivateDirectory(folder);
  const lockFile = join(folder, LOCK_FILE);
  createPrivateFile(lockFile);
  const database = new Database(lockFile, { timeout: 200 });
  try {
    database.exec("BEGIN EXCLUSIVE");
    const holder = `${process.pid}\n${hostname()}\n`;
    writeFileSync(join(folder, PROCESS_FILE), holder, { mode: PRIVATE_FILE_MODE });
  } catch (cause) {
    database.close();
    throw isBusy(cause) ? inUse(folder, cause) : cause;
  }
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
  const { pid, host } = readHolder(join(folder, PROCESS_FILE));
  const place = host === undefined || host === hostname() ? "" : ` of host ${host}`;
  const holder = pid === undefined ? "another process" : `process ${pid}${place}`;
  return new FolderInUseError(
    { code: "folder-in-use", folder, pid, holder },
    `the folder ${folder} is in use by ${holder}`,
    { cause },
  );
}

interface Holder {
  readonly pid: number | undefined;
  /** The container's id; undefined outside a container. Inside containers, every relayer's process id may be 1. */
  readonly host: string | undefined;
}

/** Reads the file in which the lock's holder recorded itself, for the error message. */
function readHolder(path: string): Holder {
  try {
    const [first = "", host] = readFileSync(path, "utf8").split("\n", 2);
    const pid = Number(first);
    return {
      pid: Number.isSafeInteger(pid) && pid > 0 ? pid : undefined,
      host: host === "" ? undefined : host,
    };
  } catch {
    return { pid: undefined, host: undefined };
  }
}
