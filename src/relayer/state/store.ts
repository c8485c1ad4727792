import { join } from "node:path";
import Database from "libsql";
import { withDeadline } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { FolderInUseError, type FolderLock, lockFolder } from "../../platform/process/folder-lock.ts";
import { LeaseLostError } from "../../platform/storage/lease.ts";
import { createPostgresDatabase, migratePostgres } from "../../platform/storage/postgres-database.ts";
import type { PostgresAddress } from "../../platform/storage/postgres-url.ts";
import { NewerSchemaError, type SqlDatabase, type SqlSession } from "../../platform/storage/sql-database.ts";
import {
  createDatabaseFile,
  createSqliteDatabase,
  migrateSchema,
} from "../../platform/storage/sqlite-database.ts";
import { isDamaged, isDiskFull, MAKE_ROOM } from "../../platform/storage/sqlite-errors.ts";
import { createWriteQueue, type WriteQueue } from "../../platform/storage/write-queue.ts";
import { RelayError } from "../chain/relay-error.ts";
import { createAttemptLog } from "./attempt-log.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import type { AttemptLog } from "./attempt.ts";
import { createJournal, type Journal } from "./journal.ts";

export type StorePlace =
  | { readonly kind: "memory" }
  /** A SQLite file in the directory `stateDir`. */
  | { readonly kind: "sqlite"; readonly stateDir: string }
  | {
      readonly kind: "postgres";
      readonly address: PostgresAddress;
      readonly password: Secret | undefined;
    };

export function placeOf({
  state_dir: stateDir,
  store,
}: Pick<RelayerConfig, "state_dir" | "store">): StorePlace {
  if (store !== undefined) return { kind: "postgres", address: store.url, password: store.password };
  return stateDir === undefined ? { kind: "memory" } : { kind: "sqlite", stateDir };
}

/** The relayer's state for one local chain: journal, attempts, and daily spending. */
export interface RelayerStore {
  readonly kind: StorePlace["kind"];
  readonly journal: Journal;
  readonly attempts: AttemptLog;
  readonly queue: WriteQueue;
  /** Session for reads only, because writes go through `queue`, which preserves their order. */
  readonly session: SqlSession;
  /** A separate connection for the lease, so that no write delays a renewal; undefined for SQLite. */
  readonly leaseDatabase: SqlDatabase | undefined;
  /** Sets the guard that decides whether this process may write. Without a guard, this process may write. */
  readonly setGuard: (guard: WriteGuard) => void;
  /** Waits at most a few seconds for pending writes, calls `release`, and closes the store. */
  readonly close: (release?: () => Promise<void>) => Promise<void>;
}

interface WriteGuard {
  /** Returns false while another process may write, so that this process's writes are ignored. */
  readonly mayWrite: () => boolean;
  /** Runs in each database transaction before its writes. Throws `LeaseLostError` if another process has the lease. */
  readonly fence: ((session: SqlSession) => Promise<void>) | undefined;
}

export interface StoreDeps {
  readonly clock: Clock;
  /**
   * Returns the local chain's time as Unix time in ms; defaults to this machine's time. Chain time prevents early deletion of rows
   * if this machine's clock is fast.
   */
  readonly localTimeMs?: () => number;
  readonly random: () => number;
  readonly logger: Logger;
}

export const STORE_FILE = "relayer.sqlite";

/** Deadline for each connection attempt and each statement, which is shorter than a lease's lifetime. */
const POSTGRES_DEADLINE_MS = 4_000;
/** Maximum wait for the last writes when the process ends. */
const CLOSE_MS = 5_000;

/**
 * Opens one local chain's store and upgrades its schema. A state directory stays locked until `close` is called or the process
 * exits. Throws `RelayError` "state-in-use" or "state-unusable".
 */
export async function openStore(
  place: StorePlace,
  options: { readonly chainId: string; readonly history: RelayerConfig["history"] },
  deps: StoreDeps,
): Promise<RelayerStore> {
  const { database, leaseDatabase, release: unlock } = await openDatabases(place, deps);
  let guard: WriteGuard = { mayWrite: () => true, fence: undefined };
  const inner = createWriteQueue({
    ...deps,
    database: {
      transaction: (work) =>
        database.transaction(async (session) => {
          await guard.fence?.(session);
          return work(session);
        }),
    },
    isFinal: (error) => error instanceof LeaseLostError,
    onError: (error) => logWrites(deps.logger, error),
  });
  const queue: WriteQueue = {
    ...inner,
    push: (write) => {
      if (guard.mayWrite()) inner.push(write);
    },
    offer: (write) => {
      if (guard.mayWrite()) inner.offer(write);
    },
  };
  const journal = createJournal(options.chainId, { session: database, queue });
  const { nowMs } = deps.clock;
  const attempts = createAttemptLog(options.chainId, options.history, { ...deps, database, queue, nowMs });
  try {
    await journal.reload();
  } catch (error) {
    queue.stop();
    await Promise.all([database.close(), leaseDatabase?.close()]);
    unlock();
    throw place.kind === "sqlite" ? journalError(place.stateDir, error) : error;
  }
  return {
    kind: place.kind,
    journal,
    attempts,
    queue,
    session: database,
    leaseDatabase,
    setGuard: (next) => {
      guard = next;
    },
    close: async (release) => {
      const signal = new AbortController().signal;
      await withDeadline("the last write", CLOSE_MS, signal, queue.flushed).catch((error: unknown) =>
        deps.logger.warn("the last writes of the store are lost", { reason: errorText(error) }),
      );
      await release?.().catch((error: unknown) =>
        deps.logger.debug("the lease cannot be released, it expires soon", { reason: errorText(error) }),
      );
      queue.stop();
      await Promise.all([database.close(), leaseDatabase?.close()]);
      unlock();
    },
  };
}

function logWrites(logger: Logger, error: string | undefined): void {
  if (error === undefined) logger.info("the store accepts writes again");
  else logger.error("the store cannot write, nothing is sent until it can", { reason: error });
}

interface OpenDatabases {
  readonly database: SqlDatabase;
  readonly leaseDatabase: SqlDatabase | undefined;
  /** Unlocks the state directory, so that another process can use it. */
  readonly release: () => void;
}

async function openDatabases(place: StorePlace, deps: StoreDeps): Promise<OpenDatabases> {
  if (place.kind === "postgres") return openPostgres(place, deps);
  if (place.kind === "memory") return openSqlite(":memory:", () => {});
  const { stateDir } = place;
  let lock: FolderLock | undefined;
  try {
    // Lock the directory, because two relayers with the same state would both send every result. SQLite's own locks last only for
    // one database transaction.
    lock = lockFolder(stateDir);
    const path = join(stateDir, STORE_FILE);
    createDatabaseFile(path);
    return openSqlite(path, lock.release);
  } catch (cause) {
    lock?.release();
    if (cause instanceof FolderInUseError) throw inUse(stateDir, cause);
    throw journalError(stateDir, cause);
  }
}

function journalError(stateDir: string, cause: unknown): RelayError {
  const advice = (): string => {
    if (cause instanceof NewerSchemaError) return "use that relaywatch, or another state_dir";
    if (isDiskFull(cause)) return MAKE_ROOM;
    if (isDamaged(cause))
      return `${STORE_FILE} is damaged; restore a backup, or move the file away: transaction searches then start again, and the contracts reject transactions that they already have`;
    return "state_dir must be a directory that is writable by this user";
  };
  return unusable(
    `state_dir ${stateDir}`,
    `the journal cannot be opened: ${errorText(cause)}; ${advice()}`,
    cause,
  );
}

function openSqlite(path: string, release: () => void): OpenDatabases {
  const database = new Database(path);
  try {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 2000;");
    migrateSchema(database, MIGRATIONS);
  } catch (error) {
    database.close();
    throw error;
  }
  return { database: createSqliteDatabase(database), leaseDatabase: undefined, release };
}

function inUse(stateDir: string, { facts: { pid, holder } }: FolderInUseError): RelayError {
  return new RelayError(
    { code: "state-in-use", stateDir, pid },
    `state_dir ${stateDir} is in use by ${holder}; stop that relayer first. A second relayer needs its own state_dir and signer`,
  );
}

async function openPostgres(
  { address, password }: StorePlace & { readonly kind: "postgres" },
  { logger }: StoreDeps,
): Promise<OpenDatabases> {
  const open = (applicationName: string): SqlDatabase =>
    createPostgresDatabase({
      address,
      password,
      applicationName,
      deadlineMs: POSTGRES_DEADLINE_MS,
      onError: (error) => logger.debug("a connection of the store was lost", { reason: errorText(error) }),
    });
  const database = open("relaywatch relayer");
  try {
    await migratePostgres(database, MIGRATIONS);
    // No lock is needed, because the lease decides which process writes.
    return { database, leaseDatabase: open("relaywatch relayer lease"), release: () => {} };
  } catch (cause) {
    await database.close();
    const advice =
      cause instanceof NewerSchemaError
        ? "use that relaywatch, or another database"
        : "store must point to a database in which this user may create a schema";
    throw unusable(
      `store ${address.host}:${address.port}/${address.database}`,
      `the database cannot be used: ${errorText(cause)}; ${advice}`,
    );
  }
}

function unusable(stateDir: string, text: string, cause?: unknown): RelayError {
  return new RelayError({ code: "state-unusable", stateDir }, `${stateDir}: ${text}`, { cause });
}

/**
 * Migrations of the relayer's store (`src/platform/storage/sqlite-database.ts`). For each schema version, `test/fixtures/state`
 * must contain a store file. Ids and heights are text in the first tables and `BIGINT` in later ones.
 */
export const MIGRATIONS: readonly string[] = [
  // "IF NOT EXISTS": the first releases created these tables without a version, so their files have version 0. In `tx_handled`,
  // only dead letters have `reason` and `at_ms`.
  `
CREATE TABLE IF NOT EXISTS tx_progress (chain TEXT, query_id TEXT, height TEXT NOT NULL, PRIMARY KEY (chain, query_id));
CREATE TABLE IF NOT EXISTS local_height (chain TEXT PRIMARY KEY, height TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tx_handled (
  chain TEXT, query_id TEXT, hash TEXT, remote_height TEXT NOT NULL, reason TEXT, at_ms INTEGER,
  PRIMARY KEY (chain, query_id, hash));
`,
  // `fee` is text, because fees of a denom with 18 decimals do not fit in 63 bits. `day` counts days since 1970-01-01 (UTC).
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
  // `known_block`: newest known block of the local chain (`subject` is "") or of a connection's remote chain. `tx_sending`:
  // remote transactions in flight, broadcast at `local_height` or later. `spending`: admitted transactions by payer; the row with
  // the owner "" contains the total fees. `lease`: used only with PostgreSQL; its times are from the database's clock.
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
  // Older versions stored the outcome "lost" for an attempt whose result was in no transaction.
  `
UPDATE attempts SET outcome = 'not-broadcast' WHERE outcome = 'lost';
`,
  // `query_cost`: each query's cost in spans of five minutes, an hour and a day (`span` is their length, ms). A fee is high × 10^12
  // + low, so that SQL can add fees exactly. `cost_since`: the start of the cost sums. `paid_tx`: the newest transactions in the
  // sums, so that none is added twice. `problem_span` and `run_span`: periods with a problem or a running process.
  `
CREATE TABLE query_cost (
  chain TEXT NOT NULL, payer TEXT NOT NULL, span BIGINT NOT NULL, start_ms BIGINT NOT NULL, query_id BIGINT NOT NULL,
  owner TEXT NOT NULL, results BIGINT NOT NULL, gas BIGINT NOT NULL, fee_high BIGINT NOT NULL, fee_low BIGINT NOT NULL,
  update_high BIGINT NOT NULL, update_low BIGINT NOT NULL, failed_high BIGINT NOT NULL, failed_low BIGINT NOT NULL,
  PRIMARY KEY (chain, payer, span, start_ms, query_id));
CREATE TABLE paid_tx (
  chain TEXT NOT NULL, payer TEXT NOT NULL, hash TEXT NOT NULL, height BIGINT NOT NULL, PRIMARY KEY (chain, payer, hash));
CREATE TABLE cost_since (chain TEXT NOT NULL, payer TEXT NOT NULL, since_ms BIGINT NOT NULL, PRIMARY KEY (chain, payer));
CREATE TABLE problem_span (
  chain TEXT NOT NULL, account TEXT NOT NULL, code TEXT NOT NULL, connection_id TEXT NOT NULL, from_ms BIGINT NOT NULL,
  until_ms BIGINT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (chain, account, code, connection_id, from_ms));
CREATE TABLE run_span (
  chain TEXT NOT NULL, account TEXT NOT NULL, from_ms BIGINT NOT NULL, until_ms BIGINT NOT NULL,
  PRIMARY KEY (chain, account, from_ms));
`,
  // Add the sums' first local height, because a process may be killed before it writes its first payment.
  `
ALTER TABLE cost_since ADD COLUMN since_height BIGINT;
`,
];
