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
  // Version 2 knew one validator with one node, and months only.
  `CREATE TABLE ledgers (validator TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
   INSERT INTO ledgers SELECT 'default', json_object('chainId', chain_id, 'sources', json_object('calls', json_object(
     'tracks', json_object('node', json_object('baseline', json_object('chainId', chain_id,
       'success', CAST(success AS TEXT), 'failure', CAST(failure AS TEXT), 'height', CAST(height AS TEXT),
       'processStartMs', process_start_ms, 'atMs', at_ms))),
     'cursor', json_object('atMs', at_ms, 'timeMs', at_ms, 'height', CAST(height AS TEXT), 'node', 'node')))) FROM baseline;
   DROP TABLE baseline;
   CREATE TABLE ledger_months (
     validator TEXT NOT NULL, source TEXT NOT NULL, month TEXT NOT NULL, covered_from_ms INTEGER NOT NULL,
     good INTEGER NOT NULL, bad INTEGER NOT NULL, unknown INTEGER NOT NULL,
     estimated_good INTEGER NOT NULL, estimated_bad INTEGER NOT NULL, estimated_unknown INTEGER NOT NULL,
     sealed_ms INTEGER, hash TEXT, PRIMARY KEY (validator, source, month)) STRICT, WITHOUT ROWID;
   INSERT INTO ledger_months SELECT 'default', 'calls', month, unixepoch(month || '-01') * 1000, good, bad, unknown,
     0, 0, 0, NULL, NULL FROM months;
   DROP TABLE months;
   CREATE TABLE rollups (
     validator TEXT NOT NULL, source TEXT NOT NULL, span TEXT NOT NULL, start_ms INTEGER NOT NULL,
     good INTEGER NOT NULL, bad INTEGER NOT NULL, unknown INTEGER NOT NULL,
     estimated_good INTEGER NOT NULL, estimated_bad INTEGER NOT NULL, estimated_unknown INTEGER NOT NULL,
     PRIMARY KEY (validator, source, span, start_ms)) STRICT, WITHOUT ROWID;
   CREATE TABLE ledger_events (
     validator TEXT NOT NULL, id INTEGER NOT NULL, kind TEXT NOT NULL, from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL,
     node TEXT, text TEXT NOT NULL, PRIMARY KEY (validator, id)) STRICT, WITHOUT ROWID;`,
];

/** Name of the validator, and of its node, in a configuration that names none, and in files of version 2. */
export const DEFAULT_VALIDATOR = "default";
export const DEFAULT_NODE = "node";
