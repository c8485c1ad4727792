import type { ConnectionWorker } from "../connection/worker.ts";
import type { QueryFailure } from "../registry/query-state.ts";
import type { Journal } from "../state/journal.ts";
import type { Resubmissions } from "./resubmissions.ts";
import { planBatches, type ProvenResult, tooLarge } from "../submit/plan.ts";
import { sendBatch, throwStop } from "../submit/send-batch.ts";
import type { RefusedResult } from "../submit/submission-outcome.ts";

/** Dependencies of TX cycles besides the worker. */
export interface TxDeps {
  readonly journal: Journal;
  /** Number of blocks before the tip where the search of an unknown query starts. */
  readonly lookbackBlocks: bigint;
  /** Whether blocks that every endpoint has pruned count as searched; absent: true. */
  readonly skipPruned?: boolean;
  /** Dead letters that an operator wants to be sent again; absent: none. */
  readonly resubmissions?: Pick<Resubmissions, "take">;
  /** When set, a rejected transaction becomes a dead letter only if the error matches; any other is sent again. */
  readonly deadLetterErrors?: RegExp | undefined;
}

/** A proven transaction of the remote chain. */
export interface ProvenTx extends ProvenResult {
  /** Lower-case hex. */
  readonly hash: string;
  readonly remoteHeight: bigint;
}

export interface RelayedTxs {
  /** Number of included transactions. */
  readonly count: number;
  /** Whether every transaction was included or became a dead letter. */
  readonly isDone: boolean;
  /** The error of the first transaction that must be sent again. */
  readonly error: QueryFailure | undefined;
}

/**
 * Sends transactions in their order. Stops after the first batch with a transaction that must be sent again: the later
 * batches stay behind it. Throws `RelayError` for an error of the connection.
 */
export async function relayTxs(
  worker: ConnectionWorker,
  deps: TxDeps,
  proven: readonly ProvenTx[],
  signal: AbortSignal,
): Promise<RelayedTxs> {
  const { limits } = worker.settings;
  const ready = proven.filter((tx) => {
    const isFit = tx.message.length <= limits.bytes;
    if (!isFit) addDeadLetter(worker, deps, idsOf(tx), tooLarge(tx, limits).reason);
    return isFit;
  });
  let count = 0;
  for (const results of planBatches(ready, worker.budget.limits())) {
    // A TX result carries its two headers itself, so it needs no client update.
    const outcome = await sendBatch(worker, { update: undefined, results }, signal);
    for (const { result } of outcome.included) noteIncluded(worker, deps, result);
    count += outcome.included.length;
    const retried = outcome.refused.filter((refused) => !rejectForGood(worker, deps, refused));
    throwStop(worker, outcome.stop);
    if (retried[0] !== undefined || outcome.unsent.length > 0)
      return { count, isDone: false, error: retried[0]?.error };
  }
  return { count, isDone: true, error: undefined };
}

function noteIncluded(worker: ConnectionWorker, deps: TxDeps, tx: ProvenTx): void {
  deps.journal.noteIncluded(tx.state.query.id, tx.hash, tx.remoteHeight);
  worker.logger.info("transaction relayed", { ...idsOf(tx) });
}

/**
 * Makes a rejected transaction a dead letter. Returns false when it must be sent again, because the cause is not the
 * transaction: an invalid header, a removed query, a full block.
 */
function rejectForGood(
  worker: ConnectionWorker,
  deps: TxDeps,
  { result, error }: RefusedResult<ProvenTx>,
): boolean {
  const isOwn =
    error.code === "too-large" ||
    (error.code === "rejected" &&
      !/header is invalid|invalid query id/i.test(error.reason) &&
      (deps.deadLetterErrors?.test(error.reason) ?? true));
  if (isOwn) addDeadLetter(worker, deps, idsOf(result), error.reason);
  return isOwn;
}

interface TxIds {
  readonly queryId: bigint;
  readonly hash: string;
  readonly remoteHeight: bigint;
}

function idsOf({ state, hash, remoteHeight }: ProvenTx): TxIds {
  return { queryId: state.query.id, hash, remoteHeight };
}

/** Records a transaction that is never sent again. */
export function addDeadLetter(worker: ConnectionWorker, deps: TxDeps, tx: TxIds, reason: string): void {
  deps.journal.noteDeadLetter({ ...tx, reason, atMs: worker.clock.nowMs() });
  worker.metrics.results.inc({ connection_id: worker.connectionId, outcome: "rejected" });
  worker.logger.warn("transaction added to the dead letters", { ...tx, reason });
}
