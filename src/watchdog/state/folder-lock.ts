import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { WatchdogError } from "../watchdog-error.ts";

/** A folder that this process alone uses. */
export interface FolderLock {
  readonly release: () => void;
}

/**
 * Makes the folder if need be and locks it. The lock is an open exclusive transaction on a file of its own: it ends with
 * the process, however that ends. The state's own file would not do, since the driver may keep a closed file open until
 * its statements are collected.
 * @throws {WatchdogError} `state-in-use` while another watchdog has it.
 */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  const database = new Database(join(folder, "lock.sqlite"), { timeout: 200 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    if (!(cause instanceof Error && "code" in cause && cause.code === "SQLITE_BUSY")) throw cause;
    const text = `another watchdog uses the state in ${folder}; stop it, or choose another folder with state_dir`;
    throw new WatchdogError({ code: "state-in-use", folder }, text, { cause });
  }
  return {
    release: () => {
      database.exec("ROLLBACK");
      database.close();
    },
  };
}
