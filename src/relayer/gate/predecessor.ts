import { raceAbort } from "../../platform/base/abort.ts";
import { toHex, sha256 } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { TxBody, TxRaw } from "../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgSubmitQueryResult } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { Journal } from "../state/journal.ts";

/** What is read of a page of a search. */
interface FoundTransactions {
  readonly txs: readonly { readonly tx: Uint8Array; readonly result: { readonly code: number } }[];
  readonly totalCount: number;
}

export interface PredecessorDeps {
  /** Number of the account's transactions in the mempool. */
  readonly countPending: (signal: AbortSignal) => Promise<bigint>;
  readonly comet: {
    readonly txSearch: (
      search: Parameters<ChainClient["comet"]["txSearch"]>[0],
    ) => Promise<FoundTransactions>;
  };
  /** Bech32 address of the account. */
  readonly address: string;
  /** Type URL of `MsgSubmitQueryResult`. */
  readonly submitTypeUrl: string;
  readonly journal: Pick<Journal, "sending" | "noteIncluded">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Longest wait for transactions of the process before this one. A block takes some seconds. */
const MAX_WAIT_MS = 20_000;
const POLL_MS = 250;
const PAGE_SIZE = 10;
/** Pages of the account's transactions that are read, the newest first. One process had a few in flight. */
const MAX_PAGES = 10;

/**
 * Waits until the transactions that an earlier process broadcast are in blocks, and notes the remote transactions that
 * they delivered. Without the wait, results on their way would be sent twice. Rejects with `ClientError` when the chain
 * cannot be read; a node without a transaction index is logged.
 */
export async function settlePredecessor(deps: PredecessorDeps, signal: AbortSignal): Promise<void> {
  await waitForPending(deps, signal);
  const { journal, logger } = deps;
  const sending = journal.sending();
  if (sending.length === 0) return;
  try {
    const since = sending.reduce(
      (least, tx) => (tx.localHeight < least ? tx.localHeight : least),
      sending[0]?.localHeight ?? 0n,
    );
    const delivered = await readDelivered(deps, since, signal);
    const found = sending.filter(({ queryId, hash }) => delivered.has(`${queryId} ${hash}`));
    for (const { queryId, hash, remoteHeight } of found) journal.noteIncluded(queryId, hash, remoteHeight);
    logger.info("transactions of the process before this one", {
      sending: sending.length,
      included: found.length,
    });
  } catch (error) {
    signal.throwIfAborted();
    logger.warn("transactions of the process before this one are unknown and may be sent twice", {
      reason: errorText(error),
    });
  }
}

async function waitForPending(
  { countPending, clock, logger }: PredecessorDeps,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonicMs() + MAX_WAIT_MS;
  let pending = await countPending(signal);
  if (pending > 0n) logger.info("waiting for transactions of the process before this one", { pending });
  while (pending > 0n && clock.monotonicMs() < untilMs) {
    await clock.sleep(POLL_MS, signal);
    pending = await countPending(signal);
  }
}

/** Returns query id and hash of each remote transaction in the account's transactions from a height on. */
async function readDelivered(
  { comet, address, submitTypeUrl }: PredecessorDeps,
  since: bigint,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const delivered = new Set<string>();
  const query = `message.sender='${address}' AND tx.height>=${since}`;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const search = comet.txSearch({ query, page, per_page: PAGE_SIZE, order_by: "desc" });
    const { txs, totalCount } = await raceAbort(search, signal);
    for (const { tx, result } of txs)
      if (result.code === 0) for (const key of deliveredBy(tx, submitTypeUrl)) delivered.add(key);
    if (page * PAGE_SIZE >= totalCount || txs.length === 0) break;
  }
  return delivered;
}

function deliveredBy(tx: Uint8Array, submitTypeUrl: string): readonly string[] {
  const { messages } = TxBody.decode(TxRaw.decode(tx).bodyBytes);
  return messages
    .filter(({ typeUrl }) => typeUrl === submitTypeUrl)
    .flatMap(({ value }) => {
      const { queryId, result } = MsgSubmitQueryResult.decode(value);
      const data = result?.block?.tx?.data;
      return data === undefined ? [] : [`${queryId} ${toHex(sha256(data))}`];
    });
}
