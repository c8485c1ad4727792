import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { TxBody, TxRaw } from "../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgSubmitQueryResult } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { raceAbort } from "../../platform/base/abort.ts";
import { sha256, toHex } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import type { Journal, SendingTx } from "../state/journal.ts";

interface FoundTransactions {
  readonly txs: readonly { readonly tx: Uint8Array; readonly result: { readonly code: number } }[];
  readonly totalCount: number;
}

export interface PredecessorDeps {
  /** Returns the number of the account's transactions in the mempool. */
  readonly countPending: (signal: AbortSignal) => Promise<bigint>;
  readonly comet: {
    readonly txSearch: (
      search: Parameters<ChainClient["comet"]["txSearch"]>[0],
    ) => Promise<FoundTransactions>;
  };
  readonly address: string;
  /** Type URL of `MsgSubmitQueryResult`. */
  readonly submitTypeUrl: string;
  readonly journal: Pick<Journal, "sending" | "recordIncluded">;
  /** Called with a human-readable text about the current wait; undefined after the wait. */
  readonly onProgress: (text: string | undefined) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Maximum wait for the previous process's transactions. A block takes a few seconds. */
const MAX_WAIT_MS = 20_000;
const POLL_MS = 250;
const PAGE_SIZE = 10;
/** Maximum number of pages, oldest first. The previous process had only a few transactions in flight. */
const MAX_PAGES = 20;
/**
 * Number of blocks to search after the newest transaction's `localHeight`. A transaction times out 20 blocks after its broadcast,
 * which follows soon after `localHeight`. The account's later transactions, perhaps from another program, are not read.
 */
const SEARCHED_BLOCKS = 30n;

/**
 * Waits, for a limited time, until blocks include the previous process's transactions. Records the remote transactions that they
 * delivered. Without the wait, the relayer would send results in flight twice. Logs a warning if the node has no transaction index.
 * Rejects with `ClientError`.
 */
export async function resolvePredecessor(deps: PredecessorDeps, signal: AbortSignal): Promise<void> {
  await waitForPending(deps, signal);
  const { journal, logger } = deps;
  const sending = journal.sending();
  if (sending.length === 0) return;
  try {
    const delivered = await readDelivered(deps, sending, signal);
    const found = sending.filter((tx) => delivered.has(deliveryKey(tx)));
    for (const { queryId, hash, remoteHeight } of found) journal.recordIncluded(queryId, hash, remoteHeight);
    logger.info("transactions of the previous process", {
      sending: sending.length,
      included: found.length,
    });
  } catch (error) {
    signal.throwIfAborted();
    logger.warn("transactions of the previous process are unknown and may be sent twice", {
      reason: errorText(error),
    });
  }
}

async function waitForPending(
  { countPending, onProgress, clock, logger }: PredecessorDeps,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonicMs() + MAX_WAIT_MS;
  let pending = await countPending(signal);
  if (pending > 0n) logger.info("waiting for transactions of the previous process", { pending });
  while (pending > 0n && clock.monotonicMs() < untilMs) {
    const left = formatDuration(untilMs - clock.monotonicMs());
    onProgress(
      `waiting for ${counted(Number(pending), "transaction")} of the previous process to be included, at most ${left} more`,
    );
    await clock.sleep(POLL_MS, signal);
    pending = await countPending(signal);
  }
  onProgress(undefined);
}

function deliveryKey({ queryId, hash }: Pick<SendingTx, "queryId" | "hash">): string {
  return `${queryId} ${hash}`;
}

/** Returns the keys of the remote transactions in `sending` that a block already delivered. */
async function readDelivered(
  { comet, address, submitTypeUrl, onProgress }: PredecessorDeps,
  sending: readonly SendingTx[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const heights = sending.map(({ localHeight }) => localHeight);
  const [since, until] = [heights.reduce(minInt), heights.reduce(maxInt) + SEARCHED_BLOCKS];
  const query = `message.sender='${address}' AND tx.height>=${since} AND tx.height<=${until}`;
  const missing = new Set(sending.map(deliveryKey));
  const delivered = new Set<string>();
  for (let page = 1; page <= MAX_PAGES && missing.size > 0; page++) {
    const search = comet.txSearch({ query, page, per_page: PAGE_SIZE, order_by: "asc" });
    const { txs, totalCount } = await raceAbort(search, signal);
    const total = Math.min(totalCount, MAX_PAGES * PAGE_SIZE);
    onProgress(
      `reading what the previous process delivered: ${Math.min(page * PAGE_SIZE, total)} of ${counted(total, "transaction")}`,
    );
    const keys = txs.flatMap(({ tx, result }) => (result.code === 0 ? deliveredBy(tx, submitTypeUrl) : []));
    for (const key of keys) if (missing.delete(key)) delivered.add(key);
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
      return data === undefined ? [] : [deliveryKey({ queryId, hash: toHex(sha256(data)) })];
    });
}
