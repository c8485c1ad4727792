import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { NodeError } from "../errors.ts";

/** Holds a home directory for one process. */
export interface HomeLock {
  readonly release: () => void;
}

const LOCK_FILE = "lock.db";
const PROCESS_FILE = "node.pid";

/**
 * Locks a home directory (which must exist) until it is released or the process ends, however it ends: the lock is the
 * operating system's, held through an open exclusive transaction on an empty database. Throws `NodeError` `home-in-use`
 * while another node holds it.
 */
export function lockHome(home: string): HomeLock {
  const database = new Database(join(home, LOCK_FILE));
  try {
    database.pragma("busy_timeout = 0");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    throw isBusy(error) ? homeInUse(home) : error;
  }
  writeFileSync(join(home, PROCESS_FILE), `${process.pid}\n`);
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

function homeInUse(home: string): NodeError {
  const pid = holder(join(home, PROCESS_FILE));
  const who = pid === undefined ? "another process" : `process ${pid}`;
  return new NodeError(
    { code: "home-in-use", home, pid },
    `the home directory ${home} is in use by ${who}; stop it or choose another --home`,
  );
}

/** The process id that the holder wrote down; for the message only. */
function holder(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, "utf8").trim());
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
