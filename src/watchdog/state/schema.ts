import type Database from "libsql";
import { z } from "zod";

/**
 * Migrations of the state file. The migration at index n upgrades a file from version n to version n + 1. A new file has
 * version 0. The SQL of a released migration must not change: append a new migration instead.
 */
const MIGRATIONS: readonly string[] = [
  // "IF NOT EXISTS": older programs created the tables before they set the version. A crash in between left a file of
  // version 0 with tables.
  `CREATE TABLE IF NOT EXISTS mark (
     id INTEGER PRIMARY KEY CHECK (id = 1), chain_id TEXT NOT NULL, success INTEGER NOT NULL, failure INTEGER NOT NULL,
     height INTEGER, process_start_ms INTEGER, at_ms INTEGER NOT NULL) STRICT;
   CREATE TABLE IF NOT EXISTS months (
     month TEXT PRIMARY KEY, good INTEGER NOT NULL, bad INTEGER NOT NULL, unknown INTEGER NOT NULL) STRICT;
   CREATE TABLE IF NOT EXISTS alert (
     id INTEGER PRIMARY KEY CHECK (id = 1), phase TEXT NOT NULL, since_ms INTEGER NOT NULL, seen_ms INTEGER NOT NULL,
     reason TEXT NOT NULL) STRICT;
   CREATE TABLE IF NOT EXISTS notices (position INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;`,
  // Version 1 knew one alert, "all-prices-missing", of severity "critical".
  `CREATE TABLE alerts (
     id TEXT PRIMARY KEY, phase TEXT NOT NULL, since_ms INTEGER NOT NULL, last_active_ms INTEGER NOT NULL,
     reason TEXT NOT NULL) STRICT;
   INSERT INTO alerts SELECT 'all-prices-missing', phase, since_ms, seen_ms, reason FROM alert;
   DROP TABLE alert;
   ALTER TABLE mark RENAME TO baseline;
   ALTER TABLE notices RENAME TO notifications;
   UPDATE notifications SET body = json_set(body, '$.severity', 'critical');`,
];

/** Version of the files that this program writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Upgrades the file to {@link SCHEMA_VERSION} in one transaction. Throws when a newer program wrote the file. */
export function migrate(database: Database.Database): void {
  const version = versionOf(database);
  if (version > SCHEMA_VERSION)
    throw new Error(`it has format ${version}, but this program supports at most format ${SCHEMA_VERSION}`);
  if (version === SCHEMA_VERSION) return;
  // The version is part of the transaction: after a crash, tables and version are either both old or both new.
  database.exec(
    `BEGIN IMMEDIATE; ${MIGRATIONS.slice(version).join("\n")} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT;`,
  );
}

function versionOf(database: Database.Database): number {
  const rows: unknown = database.pragma("user_version");
  const [row] = z.array(z.object({ user_version: z.number() })).parse(rows);
  return row?.user_version ?? 0;
}
