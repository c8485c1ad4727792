import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { errorText } from "../../base/errors.ts";
import { createPrivateFile, PRIVATE_DIRECTORY_MODE } from "../../ops/private-file.ts";
import { migrateSchema, NewerSchemaError } from "../../ops/sqlite-schema.ts";
import { RelayError } from "../relay-error.ts";
import { MIGRATIONS } from "./schema.ts";

/** A remote transaction that will not be sent again: rejected by its contract, too large, or no longer provable. */
export interface DeadLetter {
  readonly queryId: bigint;
  /** Lower-case hex SHA-256 of the remote transaction. */
  readonly hash: string;
  readonly remoteHeight: bigint;
  readonly reason: string;
  /** Wall-clock time, ms. */
  readonly atMs: number;
}

/**
 * Progress of TX searches, kept across restarts. Every write is durable when the call returns.
 *
 * Only what the chains do not know is stored. KV queries need nothing: their last heights are read from the local chain.
 * When a transaction is included and the process dies before `noteIncluded`, it is submitted again; the local chain
 * ignores it, and the relayer has paid the fee twice.
 */
export interface Journal {
  /** Remote height up to which all transactions of the query were handled; undefined for an unknown query. */
  readonly searchedTo: (queryId: bigint) => bigint | undefined;
  readonly noteSearched: (queryId: bigint, height: bigint) => void;
  /** Whether this transaction was relayed for this query or is a dead letter. Reliable above `searchedTo` only. */
  readonly isHandled: (queryId: bigint, hash: string) => boolean;
  readonly noteIncluded: (queryId: bigint, hash: string, remoteHeight: bigint) => void;
  /** Stores a dead letter. Only the newest {@link MAX_DEAD_LETTERS} are kept. */
  readonly noteDeadLetter: (tx: DeadLetter) => void;
  /** Returns the dead letters, newest first. */
  readonly deadLetters: () => readonly DeadLetter[];
  /** Stores the local height. Deletes everything when it shows that the local chain was reset. */
  readonly noteLocalHeight: (height: bigint) => void;
  /** Deletes everything about a removed query. */
  readonly forget: (queryId: bigint) => void;
  readonly close: () => void;
}

/** Name of the file in the state directory. */
export const JOURNAL_FILE = "relayer.sqlite";

/** Blocks that one endpoint may be behind another. A greater decrease of the height means that the chain was reset. */
const MAX_LAG = 20n;

/** Dead letters that are kept for one local chain. */
const MAX_DEAD_LETTERS = 1_000;

/**
 * Opens the journal of one local chain in the directory `stateDir`, or in memory when it is undefined. Throws
 * `RelayError` "state-unusable".
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
  let database: Database.Database | undefined;
  try {
    database = new Database(stateDir === undefined ? ":memory:" : createFile(stateDir));
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 2000;");
    migrateSchema(database, MIGRATIONS);
    return database;
  } catch (cause) {
    database?.close();
    const advice =
      cause instanceof NewerSchemaError
        ? "use that relaywatch, or another state_dir"
        : "state_dir must be a directory that this user can write to";
    throw new RelayError(
      { code: "state-unusable", stateDir: stateDir ?? "" },
      `state_dir ${stateDir}: the journal cannot be opened: ${errorText(cause)}; ${advice}`,
    );
  }
}

/** Creates directory and file, readable by this user only, unless they exist. Returns the path of the file. */
function createFile(stateDir: string): string {
  mkdirSync(stateDir, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  const path = join(stateDir, JOURNAL_FILE);
  createPrivateFile(path);
  return path;
}

function localHeight(database: Database.Database, chain: string): Journal["noteLocalHeight"] {
  const read = database.prepare("SELECT height FROM local_height WHERE chain = ?");
  const write = database.prepare("INSERT OR REPLACE INTO local_height (chain, height) VALUES (?, ?)");
  return (height) => {
    const greatest = BigInt(field(read.get(chain), "height") ?? "0");
    // An endpoint that is behind must neither delete the journal nor lower the height that later ones are compared with.
    if (height <= greatest && height + MAX_LAG >= greatest) return;
    database.transaction(() => {
      write.run(chain, `${height}`);
      if (height > greatest) return;
      // After a reset the same query ids belong to other queries.
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
        // Searches continue above this height, so relayed transactions up to it need no row. Dead letters stay listed.
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
): Pick<Journal, "isHandled" | "noteIncluded" | "noteDeadLetter" | "deadLetters"> {
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
    noteDeadLetter: ({ queryId, hash, remoteHeight, reason, atMs }) =>
      database.transaction(() => {
        write.run(chain, `${queryId}`, hash, `${remoteHeight}`, reason, atMs);
        prune.run(chain, chain, MAX_DEAD_LETTERS);
      })(),
    deadLetters: () => list.all(chain, MAX_DEAD_LETTERS).map(toDeadLetter),
  };
}

function toDeadLetter(row: unknown): DeadLetter {
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
