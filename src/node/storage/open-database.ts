import { existsSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { NodeError } from "../errors.ts";
import { FolderInUseError, lockFolder } from "../../ops/folder-lock.ts";
import { prepareDatabase } from "./schema.ts";

/** An open database. */
export interface OpenDatabase {
  readonly database: Database.Database;
  readonly close: () => void;
}

const DATABASE_FILE = "node.db";

/**
 * Opens the database of a home directory (made when missing), or one in memory without a home. The home stays locked for
 * this process until it is closed. Throws `NodeError` `home-in-use` while another process has it, `home-unusable` when it
 * cannot be made or holds no database.
 */
export function openDatabase(home: string | undefined): OpenDatabase {
  if (home === undefined) return open(":memory:", () => {});
  try {
    const lock = lockFolder(home);
    return open(join(home, DATABASE_FILE), lock.release);
  } catch (error) {
    if (error instanceof FolderInUseError) throw inUse(home, error);
    throw error instanceof NodeError ? error : unusable(home, error);
  }
}

function inUse(home: string, cause: FolderInUseError): NodeError {
  const { pid } = cause.facts;
  const holder = pid === undefined ? "another process" : `process ${pid}`;
  return new NodeError(
    { code: "home-in-use", home, pid },
    `the home directory ${home} is in use by ${holder}; stop it or choose another --home`,
  );
}

/**
 * Opens the database of a home directory for reading, all of it as it is at this moment, also while a node goes on writing.
 * Throws `NodeError` `home-unusable` when no database is there.
 */
export function openSnapshot(home: string): OpenDatabase {
  const path = join(home, DATABASE_FILE);
  if (!existsSync(path)) {
    throw new NodeError(
      { code: "home-unusable", home },
      `no chain is kept in ${home}; choose the directory that the node was given with --home`,
    );
  }
  const database = new Database(path);
  try {
    database.defaultSafeIntegers(true);
    database.exec("PRAGMA query_only = ON");
    // The first read of a transaction settles what all of it sees.
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
