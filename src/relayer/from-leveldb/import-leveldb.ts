import { tmpdir } from "node:os";
import { withDeadline } from "../../platform/base/abort.ts";
import { createPrivateDirectory } from "../../platform/process/private-file.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import { RelayError } from "../chain/relay-error.ts";
import type { Journal } from "../state/journal.ts";
import { openStore, placeOf, type StoreDeps } from "../state/store.ts";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { fromUtf8, latin1 } from "../../platform/base/bytes.ts";
import { errorText } from "../../platform/base/errors.ts";
import { isRecord } from "../../platform/base/json.ts";
import { isLevelDb } from "./first-start.ts";

interface GoTx {
  readonly queryId: bigint;
  /** Lower-case hex SHA-256 of the remote transaction. */
  readonly hash: string;
}

/** A transaction that the Go relayer could not deliver. */
interface UnsuccessfulGoTx extends GoTx {
  readonly message: string;
  /** Time of the error, as Unix time in ms. */
  readonly atMs: number;
}

/** The Go relayer's stored data that the relayer needs to avoid sending transactions twice. */
export interface GoStorage {
  /** Remote height up to which the Go relayer has handled all transactions, by query id. KV queries also have entries. */
  readonly progress: Map<bigint, bigint>;
  /** Transactions included in a local block. */
  readonly committed: GoTx[];
  /** Transactions that were broadcast but not confirmed. */
  readonly submitted: GoTx[];
  readonly unsuccessful: UnsuccessfulGoTx[];
  /** The remote height of each uncommitted transaction, by {@link goTxKey}. */
  readonly heights: Map<string, bigint>;
  /** Number of entries with an unknown key or an unreadable value. */
  unknown: number;
}

function goTxKey({ queryId, hash }: GoTx): string {
  return `${queryId} ${hash}`;
}

export function emptyGoStorage(): GoStorage {
  return {
    progress: new Map(),
    committed: [],
    submitted: [],
    unsuccessful: [],
    heights: new Map(),
    unknown: 0,
  };
}

const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * Adds an entry of the Go relayer's storage (v0.3.0, `internal/storage/leveldb.go`). Keys are ASCII:
 *
 * | key | value |
 * |---|---|
 * | `<query id>` | decimal: the progress |
 * | `<query id><hash>` | JSON: the status |
 * | `unsuccessful_txs<query id><hash>` | JSON: the error |
 * | `cached_txs<query id><hash>` | JSON: the height |
 * | `submitted_txs<local hash>` | a copy of the status |
 */
export function addGoEntry(storage: GoStorage, key: Uint8Array, value: Uint8Array): void {
  const name = latin1(key);
  const [, prefix = "", id = "", hash] =
    /^(|unsuccessful_txs|cached_txs)(\d{1,20}?)([0-9a-f]{64})?$/.exec(name) ?? [];
  const queryId = id === "" ? MAX_UINT64 + 1n : BigInt(id);
  const isRead =
    name.startsWith("submitted_txs") ||
    (queryId <= MAX_UINT64 &&
      (hash === undefined
        ? prefix === "" && addProgress(storage, queryId, value)
        : READERS[prefix]?.(storage, { queryId, hash }, parseRecord(value))));
  if (isRead !== true) storage.unknown += 1;
}

function addProgress({ progress }: GoStorage, queryId: bigint, value: Uint8Array): boolean {
  const text = latin1(value);
  if (!/^\d{1,19}$/.test(text)) return false;
  progress.set(queryId, BigInt(text));
  return true;
}

type Fields = Readonly<Record<string, unknown>>;

/** Readers of storage entries, by key prefix. A reader returns false if the entry's value is unreadable. */
const READERS: Readonly<Record<string, (storage: GoStorage, tx: GoTx, fields: Fields) => boolean>> = {
  "": ({ committed, submitted }, tx, { status }) => {
    if (status === "Committed") committed.push(tx);
    else if (status === "Submitted") submitted.push(tx);
    // A failed transaction also has an `unsuccessful_txs` entry with the reason.
    else return status === "ErrorOnSubmit" || status === "ErrorOnCommit";
    return true;
  },
  unsuccessful_txs: ({ unsuccessful }, tx, { message, error_time: time }) => {
    if (typeof message !== "string" || typeof time !== "string" || Number.isNaN(Date.parse(time)))
      return false;
    unsuccessful.push({ ...tx, message, atMs: Date.parse(time) });
    return true;
  },
  cached_txs: ({ heights }, tx, { height }) => {
    if (typeof height !== "number" || !Number.isSafeInteger(height)) return false;
    heights.set(goTxKey(tx), BigInt(height));
    return true;
  },
};

function parseRecord(value: Uint8Array): Fields {
  try {
    const parsed: unknown = JSON.parse(fromUtf8(value));
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** Matches the names of LevelDB's data files. */
const CONTENT = /^(?:CURRENT|MANIFEST-\d+|\d+\.(?:log|ldb|sst))$/;
const LOCK_FILE = "LOCK";

/**
 * Reads the Go relayer's storage without changing it. Opening a LevelDB writes to its directory, so this function opens a
 * temporary copy below `scratch`.
 *
 * Throws `RelayError` "storage-unreadable" if a process is using the storage, or if the directory is damaged or not a LevelDB.
 */
export async function readGoStorage(directory: string, scratch: string): Promise<GoStorage> {
  if (!isLevelDb(directory))
    throw unreadable(directory, "no LevelDB found; pass the directory from RELAYER_STORAGE_PATH");
  const pid = holderOf(directory);
  if (pid !== undefined) throw unreadable(directory, `process ${pid} is using it; stop the Go relayer first`);
  const copy = mkdtempSync(join(scratch, "go-storage-"));
  try {
    for (const name of readdirSync(directory).filter((file) => CONTENT.test(file)))
      copyFileSync(join(directory, name), join(copy, name));
    return await readCopy(copy);
  } catch (cause) {
    throw unreadable(directory, `${causeText(cause)}; copy it again from the Go relayer after a clean stop`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function readCopy(copy: string): Promise<GoStorage> {
  const bytes = { keyEncoding: "view", valueEncoding: "view" } as const;
  const database = new ClassicLevel<Uint8Array, Uint8Array>(copy, {
    ...bytes,
    createIfMissing: false,
    multithreading: false,
  });
  const storage = emptyGoStorage();
  try {
    await database.open();
    for await (const [key, value] of database.iterator(bytes)) addGoEntry(storage, key, value);
  } finally {
    await database.close();
  }
  return storage;
}

/** Returns the id of the process that uses the storage; undefined if there is no such process or the system is not Linux. */
function holderOf(directory: string): number | undefined {
  try {
    return flockHolder(
      readFileSync("/proc/locks", "utf8"),
      statSync(join(directory, LOCK_FILE), { bigint: true }).ino,
    );
  } catch {
    return undefined;
  }
}

/** Finds the process in `/proc/locks` that has locked a file with flock(2), as the Go relayer does. */
export function flockHolder(locks: string, inode: bigint): number | undefined {
  const row = locks.split("\n").find((line) => line.includes(" FLOCK ") && line.includes(`:${inode} `));
  return row === undefined ? undefined : Number(row.trim().split(/\s+/)[4]);
}

/** Returns the text of an error's cause, because the library's own error only says that the database is not open. */
function causeText(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? errorText(error.cause) : errorText(error);
}

function unreadable(directory: string, text: string): RelayError {
  return new RelayError(
    { code: "storage-unreadable", directory },
    `cannot read the Go relayer's storage in ${directory}: ${text}`,
  );
}

interface GoImport {
  readonly queries: readonly ImportedQuery[];
  /** Number of entries that could not be read. */
  readonly unknown: number;
}

const FLUSH_MS = 120_000;

/**
 * Imports the Go relayer's storage in `directory` into the configured store. The import is durable once the returned promise
 * resolves. Throws `RelayError` "storage-unreadable", "state-in-use" or "state-unusable".
 */
export async function importLevelDb(
  directory: string,
  config: RelayerConfig,
  deps: StoreDeps,
  signal: AbortSignal,
): Promise<GoImport> {
  const place = placeOf(config);
  if (place.kind === "memory")
    throw new RelayError(
      { code: "state-unusable", stateDir: "" },
      "the configuration has no state storage; set state_dir or store",
    );
  const scratch = place.kind === "sqlite" ? place.stateDir : tmpdir();
  createPrivateDirectory(scratch);
  // Read the storage before creating the store. Otherwise, a failed import would be mistaken for a completed import.
  const storage = await readGoStorage(directory, scratch);
  const options = { chainId: config.chain.id, history: config.history };
  const store = await openStore(place, options, deps);
  try {
    const queries = importGoStorage(storage, store.journal);
    await withDeadline("the import", FLUSH_MS, signal, store.queue.flushed);
    return { queries, unknown: storage.unknown };
  } finally {
    await store.close();
  }
}

export type ImportedQuery = ReturnType<typeof importQuery>;

/**
 * Number of remote blocks for which the journal stores committed transactions. The Go relayer does not store their heights. Only
 * transactions above the query's progress matter, and these are in the block at which the Go relayer stopped.
 */
const REMEMBERED_BLOCKS = 100_000n;

/**
 * Maximum number of committed transactions stored per query. If a query has more committed transactions, none are stored, because
 * most are far below the query's progress.
 */
const MAX_REMEMBERED = 100_000;

/**
 * Imports the Go relayer's progress, relayed transactions, and transactions in flight. Unsuccessful transactions become dead
 * letters. Skips queries that are already in the journal, so that a repeated import changes nothing.
 */
export function importGoStorage(
  storage: GoStorage,
  journal: Pick<
    Journal,
    "searchedTo" | "recordSearched" | "recordSending" | "recordIncluded" | "recordDeadLetter"
  >,
): readonly ImportedQuery[] {
  const groups = groupByQuery(storage);
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, txs]) => {
      const isKnown = journal.searchedTo(id) !== undefined;
      return isKnown
        ? { ...NOTHING, id, isKnown, searchedTo: journal.searchedTo(id) }
        : importQuery(id, txs, storage, journal);
    });
}

const NOTHING = { relayed: 0, sending: 0, deadLetters: 0 } as const;

interface QueryTxs {
  readonly committed: GoTx[];
  readonly submitted: GoTx[];
  readonly unsuccessful: GoStorage["unsuccessful"];
}

function groupByQuery(storage: GoStorage): ReadonlyMap<bigint, QueryTxs> {
  const groups = new Map<bigint, QueryTxs>();
  const of = (id: bigint): QueryTxs => {
    const group = groups.get(id) ?? { committed: [], submitted: [], unsuccessful: [] };
    groups.set(id, group);
    return group;
  };
  for (const id of storage.progress.keys()) of(id);
  for (const tx of storage.committed) of(tx.queryId).committed.push(tx);
  for (const tx of storage.submitted) of(tx.queryId).submitted.push(tx);
  for (const tx of storage.unsuccessful) of(tx.queryId).unsuccessful.push(tx);
  return groups;
}

function importQuery(
  id: bigint,
  { committed, submitted, unsuccessful }: QueryTxs,
  { progress, heights }: GoStorage,
  journal: Parameters<typeof importGoStorage>[1],
) {
  const heightOf = (tx: GoTx): bigint | undefined => heights.get(goTxKey(tx));
  const sending = submitted.flatMap((tx) => {
    const remoteHeight = heightOf(tx);
    return remoteHeight === undefined ? [] : [{ ...tx, remoteHeight }];
  });
  // Start the search below transactions in flight, because they may have been lost and the Go relayer never resends them.
  const searchedTo = sending.reduce(
    (least: bigint | undefined, { remoteHeight }) =>
      least === undefined || remoteHeight > least ? least : remoteHeight - 1n,
    progress.get(id),
  );
  if (searchedTo !== undefined) journal.recordSearched(id, searchedTo);
  const relayed = committed.length > MAX_REMEMBERED ? [] : committed;
  const until = (searchedTo ?? 0n) + REMEMBERED_BLOCKS;
  for (const { hash } of relayed) journal.recordIncluded(id, hash, until);
  for (const tx of sending) journal.recordSending({ ...tx, localHeight: 1n });
  // Add the oldest dead letters first, because the journal retains the dead letters added last.
  for (const tx of unsuccessful.toSorted((a, b) => a.atMs - b.atMs))
    journal.recordDeadLetter({
      queryId: id,
      hash: tx.hash,
      remoteHeight: heightOf(tx) ?? 0n,
      reason: tx.message,
      atMs: tx.atMs,
    });
  return {
    id,
    /** Remote height above which the search continues; undefined if the storage contains no progress. */
    searchedTo,
    /** Number of imported committed transactions, which the relayer does not send again. */
    relayed: relayed.length,
    /** Number of transactions in flight, which the relayer sends again unless the local chain has them. */
    sending: sending.length,
    deadLetters: unsuccessful.length,
    /** True if the journal already contained the query, so that nothing was imported for the query. */
    isKnown: false,
  };
}
