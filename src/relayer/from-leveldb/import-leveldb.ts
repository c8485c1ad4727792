import { tmpdir } from "node:os";
import { withDeadline } from "../../platform/base/abort.ts";
import { createPrivateDirectory } from "../../platform/process/private-file.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import { RelayError } from "../chain/relay-error.ts";
import type { Journal } from "../state/journal.ts";
import { placeOf } from "../state/store-config.ts";
import { attemptLimitsOf, openStore, type StoreDeps } from "../state/store.ts";
import { type GoStorage, type GoTx, goTxKey, readGoStorage } from "./go-storage.ts";

export interface GoImport {
  readonly queries: readonly ImportedQuery[];
  /** Number of entries that could not be read. */
  readonly unknown: number;
}

const FLUSH_MS = 120_000;

/**
 * Imports the Go relayer's storage in `directory` into the configured store. The import is durable once this resolves. Throws
 * `RelayError` "storage-unreadable", "state-in-use" or "state-unusable".
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
      "the configuration stores no state: set state_dir or store",
    );
  const scratch = place.kind === "sqlite" ? place.stateDir : tmpdir();
  createPrivateDirectory(scratch);
  // Read the storage before creating the store. Otherwise a failed import would look like a completed one.
  const storage = await readGoStorage(directory, scratch);
  const options = { chainId: config.chain.id, limits: attemptLimitsOf(config.history) };
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
 * Number of remote blocks for which the journal stores a transaction of unknown height. The Go relayer stores no heights for
 * committed transactions. Only those above the progress matter, in the block at which the Go relayer stopped.
 */
const REMEMBERED_BLOCKS = 100_000n;

/**
 * Maximum number of stored transactions per query. The import stores none for a query with more, because most are far below the
 * progress.
 */
const MAX_REMEMBERED = 100_000;

/**
 * Imports the Go relayer's progress, relayed transactions, and transactions in flight. Unsuccessful transactions become dead
 * letters. Skips queries that the journal already knows, so repeating the import changes nothing.
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
  // The Go relayer never resends these transactions, even if they were lost. The search therefore starts below them.
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
  // The oldest come first, because the journal retains the last ones added.
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
    /** The search continues above this remote height; undefined if the storage contains no progress. */
    searchedTo,
    /** Number of transactions that the relayer does not send again. */
    relayed: relayed.length,
    /** Number of transactions in flight. The relayer sends them again unless the local chain has them. */
    sending: sending.length,
    deadLetters: unsuccessful.length,
    /** True if the journal already knew the query. If so, nothing was imported for it. */
    isKnown: false,
  };
}
