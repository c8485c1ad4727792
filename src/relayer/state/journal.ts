import {
  bigintOf,
  numberOf,
  type SqlRow,
  type SqlSession,
  textOf,
} from "../../platform/storage/sql-database.ts";
import type { WriteQueue } from "../../platform/storage/write-queue.ts";

/** The subject that represents the local chain in {@link Journal.knownBlock}. A remote chain's subject is its connection id. */
export const LOCAL_CHAIN = "";

/**
 * The progress of TX searches and the outcome of their transactions, stored across restarts. KV queries need no entry, because
 * the local chain stores their last heights.
 *
 * Reads come from memory. Writes change memory immediately and become durable in order, a few milliseconds later (`WriteQueue`).
 * If a crash loses the last writes, the next process searches the same blocks again. Only broadcasts must not be repeated, so the
 * gate waits for all earlier writes before each broadcast (`src/relayer/gate`).
 */
export type Journal = ReturnType<typeof createJournal>;

/** A remote transaction that is not retried, because the contract rejected it or the transaction is too large or unprovable. */
export interface DeadLetter {
  readonly queryId: bigint;
  /** Lower-case hex SHA-256 of the remote transaction. */
  readonly hash: string;
  readonly remoteHeight: bigint;
  readonly reason: string;
  /** Time of the failure, as Unix time in ms. */
  readonly atMs: number;
}

/** A block that the relayer later compares with the chain to detect a reset. */
interface KnownBlock {
  readonly height: bigint;
  /** Block hash in upper-case hex; empty if only the height is known. */
  readonly hash: string;
}

/** A remote transaction whose submission to the local chain is in flight. */
export interface SendingTx {
  readonly queryId: bigint;
  /** Lower-case hex SHA-256 of the remote transaction. */
  readonly hash: string;
  readonly remoteHeight: bigint;
  /** Latest local height at the time of the transaction's first broadcast. */
  readonly localHeight: bigint;
}

/** Maximum number of stored dead letters for one local chain. */
const MAX_DEAD_LETTERS = 1_000;

export interface JournalDeps {
  readonly session: SqlSession;
  readonly queue: Pick<WriteQueue, "push">;
}

/** Creates one local chain's journal, which is empty until `reload` is called. */
export function createJournal(chain: string, { session, queue }: JournalDeps) {
  let rows: JournalRows = emptyJournal();
  const push = (sql: string, values: readonly (string | number | bigint | null)[]): void =>
    queue.push(async (write) => {
      await write.run(sql, [chain, ...values]);
    });
  const endSending = ({ queryId, hash }: Pick<SendingTx, "queryId" | "hash">): void => {
    if (rows.sending.delete(sendingKey(queryId, hash)))
      push("DELETE FROM tx_sending WHERE chain = ? AND query_id = ? AND hash = ?", [queryId, hash]);
  };
  const recordHandled = (tx: Omit<DeadLetter, "reason" | "atMs"> & Partial<DeadLetter>): void => {
    handledOf(rows, tx.queryId).set(tx.hash, tx.remoteHeight);
    endSending(tx);
    push(PUT_HANDLED, [`${tx.queryId}`, tx.hash, `${tx.remoteHeight}`, tx.reason ?? null, tx.atMs ?? null]);
  };
  const removeDeadLetter = (queryId: bigint, hash: string): boolean => {
    const at = rows.deadLetters.findIndex((letter) => letter.queryId === queryId && letter.hash === hash);
    if (at < 0) return false;
    rows.deadLetters.splice(at, 1);
    rows.handled.get(queryId)?.delete(hash);
    push("DELETE FROM tx_handled WHERE chain = ? AND query_id = ? AND hash = ?", [`${queryId}`, hash]);
    return true;
  };
  return {
    /** Returns the remote height up to which all of a query's transactions have been handled; undefined for an unknown query. */
    searchedTo: (queryId: bigint): bigint | undefined => rows.searchedTo.get(queryId),
    recordSearched: (queryId: bigint, height: bigint): void => {
      rows.searchedTo.set(queryId, height);
      dropUpTo(rows, queryId, height);
      push(PUT_PROGRESS, [`${queryId}`, `${height}`]);
      // Relayed transactions up to this height need no row, because searches continue above it, but dead letters remain listed.
      push(PRUNE_HANDLED, [`${queryId}`, height]);
    },
    /** Returns true if a transaction was relayed for this query or is a dead letter; reliable only above `searchedTo`. */
    isHandled: (queryId: bigint, hash: string): boolean => rows.handled.get(queryId)?.has(hash) ?? false,
    /**
     * Stores that a transaction is in flight and that a block above `localHeight` may include it. If the process crashes before
     * `recordIncluded`, this record keeps the next process from sending the transaction again.
     */
    recordSending: (tx: SendingTx): void => {
      const { queryId, hash, remoteHeight, localHeight } = tx;
      const key = sendingKey(queryId, hash);
      // Keep the first height if the transaction is sent again after a failure, because the search for the transaction starts at
      // that height.
      if (rows.sending.has(key)) return;
      rows.sending.set(key, tx);
      push(PUT_SENDING, [queryId, hash, remoteHeight, localHeight]);
    },
    /** Returns the transactions in flight, which at startup are the previous process's transactions. */
    sending: (): readonly SendingTx[] => [...rows.sending.values()],
    recordIncluded: (queryId: bigint, hash: string, remoteHeight: bigint): void => {
      // The included transaction may be a resubmitted dead letter.
      removeDeadLetter(queryId, hash);
      recordHandled({ queryId, hash, remoteHeight });
    },
    /** Stores a dead letter, and drops the oldest dead letters above {@link MAX_DEAD_LETTERS}. */
    recordDeadLetter: (letter: DeadLetter): void => {
      removeDeadLetter(letter.queryId, letter.hash);
      recordHandled(letter);
      rows.deadLetters.unshift(letter);
      const oldest = rows.deadLetters[MAX_DEAD_LETTERS];
      if (oldest !== undefined) removeDeadLetter(oldest.queryId, oldest.hash);
    },
    /** Removes a dead letter, so that its transaction may be sent again. Returns false if there is no such dead letter. */
    removeDeadLetter,
    /**
     * Closes a dead letter that an operator has seen, so that the dead letter is no longer listed or sent. Returns false if there
     * is no such dead letter.
     */
    acknowledgeDeadLetter: (queryId: bigint, hash: string): boolean => {
      const letter = rows.deadLetters.find((one) => one.queryId === queryId && one.hash === hash);
      if (letter === undefined) return false;
      removeDeadLetter(queryId, hash);
      recordHandled({ queryId, hash, remoteHeight: letter.remoteHeight });
      return true;
    },
    /** Returns the dead letters, newest first. */
    deadLetters: (): readonly DeadLetter[] => [...rows.deadLetters],
    /** Returns a chain's newest known block; undefined if there is none. */
    knownBlock: (subject: string): KnownBlock | undefined => rows.blocks.get(subject),
    recordBlock: (subject: string, block: KnownBlock): void => {
      rows.blocks.set(subject, block);
      push(PUT_BLOCK, [subject, block.height, block.hash]);
    },
    /** Deletes a removed query's progress, transactions and dead letters. */
    forget: (queryId: bigint): void => {
      rows.searchedTo.delete(queryId);
      rows.handled.delete(queryId);
      rows.deadLetters = rows.deadLetters.filter((letter) => letter.queryId !== queryId);
      for (const tx of rows.sending.values()) if (tx.queryId === queryId) endSending(tx);
      for (const table of ["tx_progress", "tx_handled"])
        push(`DELETE FROM ${table} WHERE chain = ? AND query_id = ?`, [`${queryId}`]);
    },
    /** Deletes the local chain's journal after a reset of the chain, because query ids then identify different queries. */
    reset: (): void => {
      rows = emptyJournal();
      for (const table of ["tx_progress", "tx_handled", "tx_sending", "known_block"])
        push(`DELETE FROM ${table} WHERE chain = ?`, []);
    },
    /** Reads all rows again, because another process may have changed them. */
    reload: async (): Promise<void> => {
      rows = await readJournal(session, chain);
    },
  };
}

const PUT_PROGRESS =
  "INSERT INTO tx_progress (chain, query_id, height) VALUES (?, ?, ?) ON CONFLICT (chain, query_id) DO UPDATE SET height = excluded.height";
const PUT_HANDLED =
  "INSERT INTO tx_handled (chain, query_id, hash, remote_height, reason, at_ms) VALUES (?, ?, ?, ?, ?, ?) " +
  "ON CONFLICT (chain, query_id, hash) DO UPDATE SET remote_height = excluded.remote_height, reason = excluded.reason, at_ms = excluded.at_ms";
const PUT_SENDING =
  "INSERT INTO tx_sending (chain, query_id, hash, remote_height, local_height) VALUES (?, ?, ?, ?, ?) ON CONFLICT (chain, query_id, hash) DO NOTHING";
const PRUNE_HANDLED =
  "DELETE FROM tx_handled WHERE chain = ? AND query_id = ? AND reason IS NULL AND CAST(remote_height AS BIGINT) <= ?";
const PUT_BLOCK =
  "INSERT INTO known_block (chain, subject, height, hash) VALUES (?, ?, ?, ?) ON CONFLICT (chain, subject) DO UPDATE SET height = excluded.height, hash = excluded.hash";

function handledOf({ handled }: JournalRows, queryId: bigint): Map<string, bigint> {
  const known = handled.get(queryId) ?? new Map<string, bigint>();
  handled.set(queryId, known);
  return known;
}

function dropUpTo(rows: JournalRows, queryId: bigint, height: bigint): void {
  const handled = rows.handled.get(queryId);
  if (handled === undefined) return;
  const letters = new Set(
    rows.deadLetters.filter((letter) => letter.queryId === queryId).map(({ hash }) => hash),
  );
  for (const [hash, at] of handled) if (at <= height && !letters.has(hash)) handled.delete(hash);
}

/** The in-memory copy of one local chain's stored rows. */
interface JournalRows {
  readonly searchedTo: Map<bigint, bigint>;
  /** Remote heights of relayed transactions and dead letters, by query id and hash. */
  readonly handled: Map<bigint, Map<string, bigint>>;
  /** Dead letters, newest first. */
  deadLetters: DeadLetter[];
  readonly blocks: Map<string, KnownBlock>;
  /** Transactions in flight, by {@link sendingKey}. */
  readonly sending: Map<string, SendingTx>;
}

function sendingKey(queryId: bigint, hash: string): string {
  return `${queryId} ${hash}`;
}

function emptyJournal(): JournalRows {
  return {
    searchedTo: new Map(),
    handled: new Map(),
    deadLetters: [],
    blocks: new Map(),
    sending: new Map(),
  };
}

async function readJournal(session: SqlSession, chain: string): Promise<JournalRows> {
  const rows = emptyJournal();
  for (const row of await session.run("SELECT query_id, height FROM tx_progress WHERE chain = ?", [chain]))
    rows.searchedTo.set(bigintOf(row, "query_id") ?? 0n, bigintOf(row, "height") ?? 0n);
  for (const row of await session.run("SELECT subject, height, hash FROM known_block WHERE chain = ?", [
    chain,
  ]))
    rows.blocks.set(textOf(row, "subject") ?? "", {
      height: bigintOf(row, "height") ?? 0n,
      hash: textOf(row, "hash") ?? "",
    });
  const handled = await session.run(
    "SELECT query_id, hash, remote_height, reason, at_ms FROM tx_handled WHERE chain = ? ORDER BY at_ms DESC, query_id, hash",
    [chain],
  );
  for (const row of handled) addHandled(rows, row);
  const sending = await session.run("SELECT * FROM tx_sending WHERE chain = ?", [chain]);
  for (const tx of sending.map(toSending)) rows.sending.set(sendingKey(tx.queryId, tx.hash), tx);
  return rows;
}

function addHandled(rows: JournalRows, row: SqlRow): void {
  const queryId = bigintOf(row, "query_id") ?? 0n;
  const hash = textOf(row, "hash") ?? "";
  const remoteHeight = bigintOf(row, "remote_height") ?? 0n;
  const ofQuery = rows.handled.get(queryId) ?? new Map<string, bigint>();
  rows.handled.set(queryId, ofQuery.set(hash, remoteHeight));
  const reason = textOf(row, "reason");
  if (reason !== undefined)
    rows.deadLetters.push({ queryId, hash, remoteHeight, reason, atMs: numberOf(row, "at_ms") });
}

function toSending(row: SqlRow): SendingTx {
  return {
    queryId: bigintOf(row, "query_id") ?? 0n,
    hash: textOf(row, "hash") ?? "",
    remoteHeight: bigintOf(row, "remote_height") ?? 0n,
    localHeight: bigintOf(row, "local_height") ?? 0n,
  };
}
