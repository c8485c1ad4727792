/**
 * State file migrations (`src/platform/storage/sqlite-database.ts`). Each migration needs a state file of the prior version in
 * `test/fixtures/state`.
 */
export const MIGRATIONS: readonly string[] = [
  // "IF NOT EXISTS": older versions created the tables before setting the version, so a crash in between left a version 0 file
  // with tables.
  `CREATE TABLE IF NOT EXISTS mark (
     id INTEGER PRIMARY KEY CHECK (id = 1), chain_id TEXT NOT NULL, success INTEGER NOT NULL, failure INTEGER NOT NULL,
     height INTEGER, process_start_ms INTEGER, at_ms INTEGER NOT NULL) STRICT;
   CREATE TABLE IF NOT EXISTS months (
     month TEXT PRIMARY KEY, good INTEGER NOT NULL, bad INTEGER NOT NULL, unknown INTEGER NOT NULL) STRICT;
   CREATE TABLE IF NOT EXISTS alert (
     id INTEGER PRIMARY KEY CHECK (id = 1), phase TEXT NOT NULL, since_ms INTEGER NOT NULL, seen_ms INTEGER NOT NULL,
     reason TEXT NOT NULL) STRICT;
   CREATE TABLE IF NOT EXISTS notices (position INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;`,
  // Migrates from version 1, which had a single alert, "all-prices-missing", with severity "critical".
  `CREATE TABLE alerts (
     id TEXT PRIMARY KEY, phase TEXT NOT NULL, since_ms INTEGER NOT NULL, last_active_ms INTEGER NOT NULL,
     reason TEXT NOT NULL) STRICT;
   INSERT INTO alerts SELECT 'all-prices-missing', phase, since_ms, seen_ms, reason FROM alert;
   DROP TABLE alert;
   ALTER TABLE mark RENAME TO baseline;
   ALTER TABLE notices RENAME TO notifications;
   UPDATE notifications SET body = json_set(body, '$.severity', 'critical');`,
  // Migrates from version 2, which had one unnamed validator and only a webhook as receiver, and notified about every firing alert.
  `CREATE TABLE alert_states (position INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
   CREATE TABLE silences (position INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
   CREATE TABLE outbox (position INTEGER PRIMARY KEY, channel TEXT NOT NULL, body TEXT NOT NULL) STRICT;
   INSERT INTO outbox SELECT position, 'webhook', json_object(
     'id', json_extract(body, '$.id'),
     'key', json_extract(body, '$.chainId') || '/default/' || json_extract(body, '$.alert'),
     'alert', json_extract(body, '$.alert'), 'kind', json_extract(body, '$.status'),
     'severity', json_extract(body, '$.severity'), 'validator', 'default',
     'chainId', json_extract(body, '$.chainId'), 'title', json_extract(body, '$.alert'),
     'sinceMs', json_extract(body, '$.sinceMs'), 'atMs', json_extract(body, '$.atMs'),
     'reason', json_extract(body, '$.summary'), 'description', '', 'action', json_extract(body, '$.action'),
     'impact', '', 'runbook', '', 'cost', json_object('blocks', '0')) FROM notifications;
   INSERT INTO alert_states SELECT row_number() OVER (ORDER BY id) - 1, json_patch(json_object(
     'validator', 'default', 'alert', id, 'phase', phase, 'sinceMs', since_ms, 'lastActiveMs', last_active_ms,
     'reason', reason, 'badBlocksBefore', CAST((SELECT coalesce(sum(bad), 0) FROM months) AS TEXT)),
     CASE phase WHEN 'firing' THEN json_object('notified', json_object('reminders', 0, 'event', json_object(
       'id', id || '/' || since_ms, 'key', coalesce((SELECT chain_id FROM baseline), '') || '/default/' || id,
       'alert', id, 'kind', 'firing', 'severity', 'critical', 'validator', 'default',
       'chainId', coalesce((SELECT chain_id FROM baseline), ''), 'title', id, 'sinceMs', since_ms,
       'atMs', last_active_ms, 'reason', reason, 'description', '', 'action', '', 'impact', '', 'runbook', '',
       'cost', json_object('blocks', '0')))) ELSE '{}' END) FROM alerts;
   DROP TABLE alerts;
   DROP TABLE notifications;`,
  // Migrates from version 3, which had one validator with one node, and counts by month only.
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
  `CREATE TABLE alert_history (
     validator TEXT NOT NULL, alert TEXT NOT NULL, since_ms INTEGER NOT NULL, body TEXT NOT NULL,
     PRIMARY KEY (validator, alert, since_ms)) STRICT, WITHOUT ROWID;`,
  // Migrates from version 5, which did not store poll histories.
  `CREATE TABLE trails (validator TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;`,
  // Migrates from version 6, which had no backfilled counts.
  `ALTER TABLE ledger_months ADD COLUMN backfilled_good INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE ledger_months ADD COLUMN backfilled_bad INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE ledger_months ADD COLUMN backfilled_unknown INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE rollups ADD COLUMN backfilled_good INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE rollups ADD COLUMN backfilled_bad INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE rollups ADD COLUMN backfilled_unknown INTEGER NOT NULL DEFAULT 0;`,
  // Migrates from version 7, which did not store block ranges with misses.
  `CREATE TABLE miss_ranges (
     validator TEXT NOT NULL, from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, first_height INTEGER, last_height INTEGER,
     good INTEGER NOT NULL, bad INTEGER NOT NULL, PRIMARY KEY (validator, from_ms)) STRICT, WITHOUT ROWID;`,
  // Migrates from version 8, which did not search for payments.
  `CREATE TABLE payments (
     validator TEXT NOT NULL, month TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (validator, month)) STRICT, WITHOUT ROWID;`,
  // Migrates from version 9, which did not store the new id of a receiver that had moved.
  `CREATE TABLE channel_moves (channel TEXT PRIMARY KEY, from_id TEXT NOT NULL, to_id TEXT NOT NULL) STRICT;`,
];

/** Names of the validator and its node in state files up to version 3, or if the configuration sets none. */
export const DEFAULT_VALIDATOR = "default";
export const DEFAULT_NODE = "node";
