import type Database from "libsql";
import { createEventIndex } from "./event-index.ts";
import { decodeResults } from "./results-codec.ts";
import { readRow } from "./rows.ts";

/**
 * Version of the tables below. The database stores it in `user_version`.
 *
 * 1: the event tables had no column `event`.
 */
const SCHEMA_VERSION = 2n;

// WITHOUT ROWID stores the rows of a table in its primary key. The event tables are the index: `(tag, value, height, …)`
// finds an exact value within a range of heights, and `(tag, …)` finds all values. `event` is the position of the event in its
// transaction or block, because all conditions of a search must hold within one event. `txs_by_place` serves searches by height
// alone, and UNIQUE on `blocks.hash` serves `block_by_hash`.
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
`;

/** Configures a connection, creates missing tables and migrates old ones. Throws when the tables have a later version. */
export function prepareDatabase(database: Database.Database): void {
  // WAL: a commit appends to one file, and a reader in another process does not block it.
  database.pragma("journal_mode = WAL");
  // FULL syncs the WAL at each commit, which costs about half a millisecond per block. With NORMAL, a power cut could lose
  // blocks that clients have seen.
  database.pragma("synchronous = FULL");
  // Integers as bigint, since heights are bigint everywhere.
  database.defaultSafeIntegers(true);
  const version = readRow(database.prepare("PRAGMA user_version").get())?.integer("user_version") ?? 0n;
  if (version > SCHEMA_VERSION) {
    throw new Error(`the tables have version ${version}, this program needs version ${SCHEMA_VERSION}`);
  }
  // One transaction: after a kill, the tables have the old version or the new one.
  database.transaction(() => {
    // A new database has version 0.
    if (version === 1n) dropEventTables(database);
    database.exec(TABLES);
    if (version === 1n) indexStoredBlocks(database);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  })();
}

function dropEventTables(database: Database.Database): void {
  database.exec("DROP TABLE tx_events; DROP TABLE block_events;");
}

/** Fills the event tables from the stored results. Costs about as much as making the blocks again without signatures. */
function indexStoredBlocks(database: Database.Database): void {
  const index = createEventIndex(database);
  const next = database.prepare(
    "SELECT height, results FROM blocks WHERE height > ? ORDER BY height LIMIT 1",
  );
  for (let at = -1n; ; ) {
    const row = readRow(next.get(at));
    if (row === undefined) return;
    at = row.integer("height");
    // Without transactions: the table of hashes has not changed.
    index.add({ block: { txs: [] }, results: decodeResults(at, row.bytes("results")) });
  }
}
