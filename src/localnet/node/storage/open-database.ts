import { existsSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { errorText } from "../../../platform/base/errors.ts";
import { FolderInUseError, lockFolder } from "../../../platform/process/folder-lock.ts";
import { createDatabaseFile, inTransaction } from "../../../platform/storage/sqlite-database.ts";
import { isDamaged, isDiskFull, isDiskProblem, MAKE_ROOM } from "../../../platform/storage/sqlite-errors.ts";
import { NodeError } from "../base/errors.ts";
import { decodeResults } from "./block-codec.ts";
import { createEventIndex } from "./event-index.ts";
import { readRow } from "./rows.ts";

/** A database connection. `close` also releases the home's lock, if any. */
export interface OpenDatabase {
  readonly database: Database.Database;
  /** Runs `work` in a transaction. If writing to disk fails, throws `NodeError` `store-failed` and stores nothing. */
  readonly transaction: (work: () => void) => void;
  readonly close: () => void;
}

const DATABASE_FILE = "node.db";

/**
 * Opens the database in a home directory or, if `home` is undefined, an in-memory database. Creates the directory if necessary, and
 * locks it until `close`. Throws `NodeError` `home-in-use` if another process has locked the home. Throws `NodeError`
 * `home-unusable` if the directory cannot be created or this version cannot open `node.db`.
 */
export function openDatabase(home: string | undefined): OpenDatabase {
  if (home === undefined) return open(":memory:", () => {});
  try {
    const lock = lockFolder(home);
    const path = join(home, DATABASE_FILE);
    // The database contains validator seeds, so create it with restricted permissions.
    createDatabaseFile(path);
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
 * Opens a read-only snapshot of the database in a home directory, without locking the home. With WAL, a node may keep writing
 * without changing the snapshot. Throws `NodeError` `home-unusable` if the home has no database.
 */
export function openSnapshot(home: string): OpenDatabase {
  const path = join(home, DATABASE_FILE);
  if (!existsSync(path)) {
    throw new NodeError({ code: "home-unusable", home }, `no chain found in ${home}; pass the node's --home`);
  }
  const database = new Database(path);
  try {
    database.defaultSafeIntegers(true);
    database.exec("PRAGMA query_only = ON");
    // Read once, because BEGIN alone does not take a snapshot. All later reads in this transaction return the same state.
    database.exec("BEGIN");
    database.prepare("SELECT key FROM meta").all();
  } catch (error) {
    database.close();
    throw unusable(home, error);
  }
  return { database, transaction: storing(database, path), close: () => void database.close() };
}

function open(path: string, release: () => void): OpenDatabase {
  try {
    const database = new Database(path);
    prepareDatabase(database);
    return {
      database,
      transaction: storing(database, path),
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

function storing(database: Database.Database, path: string): OpenDatabase["transaction"] {
  return (work) => {
    try {
      inTransaction(database, work);
    } catch (cause) {
      if (!isDiskProblem(cause)) throw cause;
      throw new NodeError(
        { code: "store-failed", path },
        `cannot write ${path}; earlier blocks are stored, so free space or repair the disk, and start again`,
        { cause },
      );
    }
  };
}

function unusable(home: string, cause: unknown): NodeError {
  const advice = (): string => {
    if (isDiskFull(cause)) return MAKE_ROOM;
    if (isDamaged(cause))
      return `its ${DATABASE_FILE} is damaged; restore a backup, or choose another --home`;
    return "choose another --home";
  };
  return new NodeError(
    { code: "home-unusable", home },
    `the home directory ${home} cannot be used as a node's home: ${errorText(cause)}; ${advice()}`,
    { cause },
  );
}

/**
 * Version of the tables below, stored in the database's `user_version`.
 *
 * In version 1, the event tables had no column `event`.
 */
const SCHEMA_VERSION = 2n;

// WITHOUT ROWID stores a table's rows in its primary key, so the event tables need no separate index. An event table's key
// `(tag, value, height, …)` finds an exact value within a range of heights, and its prefix `(tag, …)` finds a tag's values. `event` is
// the event's position in its transaction or block, because all conditions of a search must hold within one event.
// `txs_by_place` is for searches by height alone, and UNIQUE on `blocks.hash` is for `block_by_hash`.
const TABLES = `
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blocks (
  height INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  block BLOB NOT NULL,
  part_total INTEGER NOT NULL,
  part_hash BLOB NOT NULL,
  seen_commit BLOB NOT NULL,
  results BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS validator_sets (height INTEGER PRIMARY KEY, validators BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS validator_keys (address BLOB PRIMARY KEY, seed BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS txs (
  hash BLOB PRIMARY KEY,
  height INTEGER NOT NULL,
  position INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS txs_by_place ON txs (height, position);
CREATE TABLE IF NOT EXISTS tx_events (
  tag TEXT NOT NULL,
  value TEXT NOT NULL,
  height INTEGER NOT NULL,
  position INTEGER NOT NULL,
  event INTEGER NOT NULL,
  PRIMARY KEY (tag, value, height, position, event)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS block_events (
  tag TEXT NOT NULL,
  value TEXT NOT NULL,
  height INTEGER NOT NULL,
  event INTEGER NOT NULL,
  PRIMARY KEY (tag, value, height, event)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS state_nodes (
  store TEXT NOT NULL,
  id BLOB NOT NULL,
  node BLOB NOT NULL,
  PRIMARY KEY (store, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS state_roots (
  height INTEGER NOT NULL,
  store TEXT NOT NULL,
  root_id BLOB,
  PRIMARY KEY (height, store)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS removed_blocks (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS snapshots (id INTEGER PRIMARY KEY, height INTEGER NOT NULL, ahead_ms INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS retained_nodes (
  store TEXT NOT NULL,
  id BLOB NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (store, id)
) WITHOUT ROWID;
`;

/** Configures a connection, creates missing tables and migrates old tables. Throws if the tables have a later version. */
function prepareDatabase(database: Database.Database): void {
  // With WAL, a commit appends to a single file, and readers in other processes do not block it.
  database.pragma("journal_mode = WAL");
  // Sync the WAL at each commit (FULL), which takes about half a millisecond per block. With NORMAL, blocks that clients have
  // already read could be lost in a power failure.
  database.pragma("synchronous = FULL");
  // Read integers as bigint, because all heights are bigint.
  database.defaultSafeIntegers(true);
  const version = readRow(database.prepare("PRAGMA user_version").get())?.integer("user_version") ?? 0n;
  if (version > SCHEMA_VERSION) {
    throw new Error(`the tables have version ${version}, but this program needs version ${SCHEMA_VERSION}`);
  }
  // Use one transaction, so that the tables have either the old or the new version after the process is killed.
  inTransaction(database, () => {
    // Drop the event tables only in version 1, because a new database has version 0 and no tables.
    if (version === 1n) database.exec("DROP TABLE tx_events; DROP TABLE block_events;");
    database.exec(TABLES);
    if (version === 1n) indexStoredBlocks(database);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}

/** Fills the event tables from stored results, which takes about as long as making the blocks again without signatures. */
function indexStoredBlocks(database: Database.Database): void {
  const index = createEventIndex(database);
  const next = database.prepare(
    "SELECT height, results FROM blocks WHERE height > ? ORDER BY height LIMIT 1",
  );
  for (let at = -1n; ; ) {
    const row = readRow(next.get(at));
    if (row === undefined) return;
    at = row.integer("height");
    // Omit the transactions, because the migration keeps the table of transaction hashes.
    index.add({ block: { txs: [] }, results: decodeResults(at, row.bytes("results")) });
  }
}
