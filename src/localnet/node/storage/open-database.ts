import { existsSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { FolderInUseError, lockFolder } from "../../../platform/process/folder-lock.ts";
import { createPrivateFile } from "../../../platform/process/private-file.ts";
import { NodeError } from "../errors.ts";
import { prepareDatabase } from "./schema.ts";

/** A database connection. `close` also releases the lock of the home, if any. */
export interface OpenDatabase {
  readonly database: Database.Database;
  readonly close: () => void;
}

const DATABASE_FILE = "node.db";

/**
 * Opens the database of a home directory, or one in memory without a home. Creates the directory if necessary and locks it
 * until `close`. Throws `NodeError` `home-in-use` while another process has the lock, and `home-unusable` when the directory
 * cannot be created or `node.db` is not a database of this version.
 */
export function openDatabase(home: string | undefined): OpenDatabase {
  if (home === undefined) return open(":memory:", () => {});
  try {
    const lock = lockFolder(home);
    const path = join(home, DATABASE_FILE);
    // The database contains validator seeds.
    createPrivateFile(path);
    return open(path, lock.release);
  } catch (error) {
    if (error instanceof FolderInUseError) throw inUse(home, error);
    throw error instanceof NodeError ? error : unusable(home, error);
  }
}

function inUse(home: string, cause: FolderInUseError): NodeError {
  const { pid, holder } = cause.facts;
  return new NodeError(
    { code: "home-in-use", home, pid },
    `the home directory ${home} is in use by ${holder}; stop it or choose another --home`,
  );
}

/**
 * Opens a read-only snapshot of the database of a home directory. Does not lock the home: with WAL, a node may write at the same
 * time, and the snapshot does not change. Throws `NodeError` `home-unusable` when the home has no database.
 */
export function openSnapshot(home: string): OpenDatabase {
  const path = join(home, DATABASE_FILE);
  if (!existsSync(path)) {
    throw new NodeError(
      { code: "home-unusable", home },
      `there is no chain in ${home}; choose the --home of the node`,
    );
  }
  const database = new Database(path);
  try {
    database.defaultSafeIntegers(true);
    database.exec("PRAGMA query_only = ON");
    // BEGIN alone takes no snapshot. The first read does, and all later reads of the transaction see the same state.
    database.exec("BEGIN");
    database.prepare("SELECT key FROM meta").all();
  } catch (error) {
    database.close();
    throw unusable(home, error);
  }
  return { database, close: () => void database.close() };
}

function open(path: string, release: () => void): OpenDatabase {
  try {
    const database = new Database(path);
    prepareDatabase(database);
    return {
      database,
      close: () => {
        database.close();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

function unusable(home: string, cause: unknown): NodeError {
  return new NodeError(
    { code: "home-unusable", home },
    `the home directory ${home} cannot be used as a node's home`,
    { cause },
  );
}
