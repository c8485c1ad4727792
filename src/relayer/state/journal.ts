import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { errorText } from "../../base/errors.ts";
import { RelayError } from "../relay-error.ts";

/** A remote transaction that was not taken by its contract or chain. */
export interface UnsuccessfulTx {
  readonly queryId: bigint;
  /** Lower-case hex SHA-256 of the remote transaction. */
  readonly hash: string;
  readonly remoteHeight: bigint;
  readonly reason: string;
  /** Wall-clock time, ms. */
  readonly atMs: number;
}

/** What the relayer must not forget over a restart. Every write is durable when the call returns. */
export interface Journal {
  /** All remote heights up to this one are done for the query; undefined when nothing is known. */
  readonly searchedTo: (queryId: bigint) => bigint | undefined;
  readonly noteSearched: (queryId: bigint, height: bigint) => void;
  /** Whether this transaction was handled for this query, well or not. */
  readonly isHandled: (queryId: bigint, hash: string) => boolean;
  readonly noteIncluded: (queryId: bigint, hash: string, remoteHeight: bigint) => void;
  readonly noteUnsuccessful: (tx: UnsuccessfulTx) => void;
  /** The newest unsuccessful transactions, at most {@link MAX_UNSUCCESSFUL}; older ones are dropped. */
  readonly unsuccessful: () => readonly UnsuccessfulTx[];
  /** Notes where the local chain is. One that is well below where it was has started over: all of it is forgotten. */
  readonly noteLocalHeight: (height: bigint) => void;
  /** Forgets a query that was removed. */
  readonly forget: (queryId: bigint) => void;
  readonly close: () => void;
}

/** Blocks that one endpoint may be behind another; a chain that started over is further behind. */
const MAX_LAG = 20n;

/** Unsuccessful transactions that are kept for a chain. */
const MAX_UNSUCCESSFUL = 1_000;

const SCHEMA = `
CREATE TABLE IF NOT EXISTS tx_progress (chain TEXT, query_id TEXT, height TEXT NOT NULL, PRIMARY KEY (chain, query_id));
CREATE TABLE IF NOT EXISTS local_height (chain TEXT PRIMARY KEY, height TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tx_handled (
  chain TEXT, query_id TEXT, hash TEXT, remote_height TEXT NOT NULL, reason TEXT, at_ms INTEGER,
  PRIMARY KEY (chain, query_id, hash));
`;

/**
 * Opens the journal of one local chain in `stateDir`, or in memory when there is none. Rows of handled transactions
 * are dropped once the search has passed their height for good. Throws `RelayError` "state-unusable".
 */
export function openJournal(stateDir: string | undefined, chainId: string): Journal {
  const database = openDatabase(stateDir);
  return {
    ...progress(database, chainId),
    ...handled(database, chainId),
    noteLocalHeight: localHeight(database, chainId),
    close: () => void database.close(),
  };
}

function openDatabase(stateDir: string | undefined): Database.Database {
  try {
    if (stateDir !== undefined) mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const database = new Database(stateDir === undefined ? ":memory:" : join(stateDir, "relayer.sqlite"));
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 2000;");
    database.exec(SCHEMA);
    return database;
  } catch (cause) {
    throw new RelayError(
      { code: "state-unusable", stateDir: stateDir ?? "" },
      `state_dir ${stateDir}: the journal can't be opened there (${errorText(cause)}); it must be a directory that this user may write to`,
    );
  }
}

function localHeight(database: Database.Database, chain: string): Journal["noteLocalHeight"] {
  const read = database.prepare("SELECT height FROM local_height WHERE chain = ?");
  const write = database.prepare("INSERT OR REPLACE INTO local_height (chain, height) VALUES (?, ?)");
  return (height) => {
    const known = BigInt(field(read.get(chain), "height") ?? "0");
    if (height <= known && height + MAX_LAG >= known) return;
    database.transaction(() => {
      write.run(chain, `${height}`);
      if (height > known) return;
      for (const table of ["tx_progress", "tx_handled"])
        database.prepare(`DELETE FROM ${table} WHERE chain = ?`).run(chain);
    })();
  };
}

function progress(
  database: Database.Database,
  chain: string,
): Pick<Journal, "searchedTo" | "noteSearched" | "forget"> {
  const read = database.prepare("SELECT height FROM tx_progress WHERE chain = ? AND query_id = ?");
  const write = database.prepare(
    "INSERT OR REPLACE INTO tx_progress (chain, query_id, height) VALUES (?, ?, ?)",
  );
  const prune = database.prepare(
    "DELETE FROM tx_handled WHERE chain = ? AND query_id = ? AND reason IS NULL AND CAST(remote_height AS INTEGER) <= CAST(? AS INTEGER)",
  );
  return {
    searchedTo: (queryId) => {
      const height = field(read.get(chain, `${queryId}`), "height");
      return height === undefined ? undefined : BigInt(height);
    },
    noteSearched: (queryId, height) => {
      database.transaction(() => {
        write.run(chain, `${queryId}`, `${height}`);
        prune.run(chain, `${queryId}`, `${height}`);
      })();
    },
    forget: (queryId) => {
      for (const table of ["tx_progress", "tx_handled"]) {
        database.prepare(`DELETE FROM ${table} WHERE chain = ? AND query_id = ?`).run(chain, `${queryId}`);
      }
    },
  };
}

function handled(
  database: Database.Database,
  chain: string,
): Pick<Journal, "isHandled" | "noteIncluded" | "noteUnsuccessful" | "unsuccessful"> {
  const read = database.prepare("SELECT hash FROM tx_handled WHERE chain = ? AND query_id = ? AND hash = ?");
  const write = database.prepare("INSERT OR REPLACE INTO tx_handled VALUES (?, ?, ?, ?, ?, ?)");
  const list = database.prepare(
    "SELECT query_id, hash, remote_height, reason, at_ms FROM tx_handled WHERE chain = ? AND reason IS NOT NULL ORDER BY at_ms DESC, rowid DESC LIMIT ?",
  );
  const prune = database.prepare(
    "DELETE FROM tx_handled WHERE chain = ? AND reason IS NOT NULL AND rowid NOT IN (SELECT rowid FROM tx_handled WHERE chain = ? AND reason IS NOT NULL ORDER BY at_ms DESC, rowid DESC LIMIT ?)",
  );
  return {
    isHandled: (queryId, hash) => read.get(chain, `${queryId}`, hash) !== undefined,
    noteIncluded: (queryId, hash, height) =>
      void write.run(chain, `${queryId}`, hash, `${height}`, null, null),
    noteUnsuccessful: ({ queryId, hash, remoteHeight, reason, atMs }) =>
      database.transaction(() => {
        write.run(chain, `${queryId}`, hash, `${remoteHeight}`, reason, atMs);
        prune.run(chain, chain, MAX_UNSUCCESSFUL);
      })(),
    unsuccessful: () => list.all(chain, MAX_UNSUCCESSFUL).map(toUnsuccessful),
  };
}

function toUnsuccessful(row: unknown): UnsuccessfulTx {
  return {
    queryId: BigInt(field(row, "query_id") ?? "0"),
    hash: field(row, "hash") ?? "",
    remoteHeight: BigInt(field(row, "remote_height") ?? "0"),
    reason: field(row, "reason") ?? "",
    atMs: Number(field(row, "at_ms") ?? "0"),
  };
}

function field(row: unknown, name: string): string | undefined {
  if (typeof row !== "object" || row === null) return undefined;
  const value: unknown = Reflect.get(row, name);
  return typeof value === "string" || typeof value === "number" || typeof value === "bigint"
    ? `${value}`
    : undefined;
}
