import {
  bigintOf,
  numberOf,
  type SqlRow,
  type SqlSession,
  textOf,
} from "../../platform/storage/sql-database.ts";
import type { DeadLetter, KnownBlock, SendingTx } from "./journal-entries.ts";

/** The stored rows of one local chain, in memory. */
export interface JournalRows {
  readonly searchedTo: Map<bigint, bigint>;
  /** By query id: remote height by hash, of relayed transactions and dead letters. */
  readonly handled: Map<bigint, Map<string, bigint>>;
  /** Newest first. */
  deadLetters: DeadLetter[];
  readonly blocks: Map<string, KnownBlock>;
  /** By {@link sendingKey}. */
  readonly sending: Map<string, SendingTx>;
}

/** Identifies a remote transaction and the query that it answers. */
export function sendingKey(queryId: bigint, hash: string): string {
  return `${queryId} ${hash}`;
}

/** Creates the rows of a new journal. */
export function emptyJournal(): JournalRows {
  return {
    searchedTo: new Map(),
    handled: new Map(),
    deadLetters: [],
    blocks: new Map(),
    sending: new Map(),
  };
}

/** Reads the rows of one local chain. */
export async function readJournal(session: SqlSession, chain: string): Promise<JournalRows> {
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
