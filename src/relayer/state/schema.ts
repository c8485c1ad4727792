/**
 * Migrations of the relayer's store (`src/platform/storage/sqlite-schema.ts`). Each needs a file of its version in
 * `test/fixtures/state`. Ids and heights of the first tables are text, those of later ones `BIGINT`.
 */
export const MIGRATIONS: readonly string[] = [
  // "IF NOT EXISTS": the first programs created these tables and set no version, so their files have version 0.
  // In `tx_handled`, `reason` and `at_ms` are set for dead letters only.
  `
CREATE TABLE IF NOT EXISTS tx_progress (chain TEXT, query_id TEXT, height TEXT NOT NULL, PRIMARY KEY (chain, query_id));
CREATE TABLE IF NOT EXISTS local_height (chain TEXT PRIMARY KEY, height TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tx_handled (
  chain TEXT, query_id TEXT, hash TEXT, remote_height TEXT NOT NULL, reason TEXT, at_ms INTEGER,
  PRIMARY KEY (chain, query_id, hash));
`,
  // `fee` is text: fees of a denom with 18 decimals do not fit 63 bits. `day` is days since 1970-01-01 (UTC).
  `
CREATE TABLE attempts (
  chain TEXT NOT NULL, query_id BIGINT NOT NULL, connection_id TEXT NOT NULL, owner TEXT NOT NULL, type TEXT NOT NULL,
  started_at_ms BIGINT NOT NULL, due_height BIGINT NOT NULL, remote_height BIGINT NOT NULL, tx_hash TEXT,
  outcome TEXT NOT NULL, reason TEXT, local_height BIGINT, gas BIGINT NOT NULL, fee TEXT NOT NULL,
  simulations BIGINT NOT NULL);
CREATE INDEX attempts_by_time ON attempts (chain, started_at_ms);
CREATE INDEX attempts_by_query ON attempts (chain, query_id, started_at_ms);
CREATE TABLE cost (
  chain TEXT NOT NULL, day BIGINT NOT NULL, owner TEXT NOT NULL, attempts BIGINT NOT NULL, included BIGINT NOT NULL,
  gas BIGINT NOT NULL, fee TEXT NOT NULL, PRIMARY KEY (chain, day, owner));
`,
  // `known_block`: the newest block that was seen of the local chain (`subject` is "") and of the remote chain of a connection.
  // `tx_sending`: remote transactions that were on their way into a block from `local_height` on.
  // `spending`: what the gate admitted, by payer; the row with the owner "" has the fees of all.
  // `lease`: used with PostgreSQL only, times by its clock.
  `
CREATE TABLE known_block (chain TEXT NOT NULL, subject TEXT NOT NULL, height BIGINT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (chain, subject));
INSERT INTO known_block (chain, subject, height, hash) SELECT chain, '', CAST(height AS BIGINT), '' FROM local_height;
DROP TABLE local_height;
CREATE TABLE tx_sending (
  chain TEXT NOT NULL, query_id BIGINT NOT NULL, hash TEXT NOT NULL, remote_height BIGINT NOT NULL,
  local_height BIGINT NOT NULL, PRIMARY KEY (chain, query_id, hash));
CREATE TABLE spending (
  chain TEXT NOT NULL, payer TEXT NOT NULL, day BIGINT NOT NULL, owner TEXT NOT NULL, gas BIGINT NOT NULL,
  fee TEXT NOT NULL, PRIMARY KEY (chain, payer, day, owner));
CREATE TABLE lease (
  name TEXT PRIMARY KEY, holder TEXT NOT NULL, epoch BIGINT NOT NULL, expires_at_ms BIGINT NOT NULL,
  connections TEXT NOT NULL);
`,
  // Attempts whose results were never in a transaction had the outcome "lost".
  `
UPDATE attempts SET outcome = 'not-broadcast' WHERE outcome = 'lost';
`,
];
