/**
 * Migrations of the state file (`src/ops/sqlite-schema.ts`). Each needs a file of the version before it in
 * `test/fixtures/state`.
 */
export const MIGRATIONS: readonly string[] = [
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
