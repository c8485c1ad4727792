import type Database from "libsql";
import { readRow } from "./rows.ts";

/** Version of the tables below, kept in the database's `user_version`. */
const SCHEMA_VERSION = 1n;

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
  PRIMARY KEY (tag, value, height, position)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS block_events (
  tag TEXT NOT NULL,
  value TEXT NOT NULL,
  height INTEGER NOT NULL,
  PRIMARY KEY (tag, value, height)
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

/**
 * Settles a connection and makes the tables. WAL with synchronous=FULL: what a block's transaction acknowledged is on
 * disk (about half a millisecond a block), so a power cut loses nothing. Throws when another version of
 * this program made them.
 */
export function prepareDatabase(database: Database.Database): void {
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.defaultSafeIntegers(true);
  const found = readRow(database.prepare("PRAGMA user_version").get())?.integer("user_version") ?? 0n;
  if (found !== 0n && found !== SCHEMA_VERSION) {
    throw new Error(`its tables are of version ${found}, this program has ${SCHEMA_VERSION}`);
  }
  database.exec(TABLES);
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
}
