import type { Journal } from "../state/journal.ts";
import { type ConnectionWorker, throwStop } from "../connection/worker.ts";
import { planBatches, type ProvenResult } from "../submit/plan.ts";
import type { QueryFailure } from "../registry/query-state.ts";
import { send, tooLarge } from "../kv/kv-cycle.ts";
import type { RefusedResult } from "../submit/submission-outcome.ts";

/** What TX queries need besides a worker. */
export interface TxDeps {
  readonly journal: Journal;
  /** How many blocks before the tip a search starts for a query that the journal does not know. */
  readonly lookbackBlocks: bigint;
}

/** A proven transaction of the remote chain, as a result. */
export interface ProvenTx extends ProvenResult {
  /** Lower-case hex. */
  readonly hash: string;
  readonly remoteHeight: bigint;
}

/** How far relaying came. */
export interface RelayedTxs {
  /** How many are in a block now. */
  readonly count: number;
  /** Whether each was relayed or put aside, so that none is to be sent again. */
  readonly isDone: boolean;
  readonly error: QueryFailure | undefined;
}

/** Sends in the order of the chain; stops at what must be sent again. Throws `RelayError` for an error of the connection. */
export async function relayTxs(
  worker: ConnectionWorker,
  deps: TxDeps,
  proven: readonly ProvenTx[],
  signal: AbortSignal,
): Promise<RelayedTxs> {
  const ready = proven.filter((tx) => {
    const isFit = tx.message.length <= worker.settings.limits.bytes;
    if (!isFit) putAside(worker, deps, idsOf(tx), tooLarge(tx, worker.settings.limits).reason);
    return isFit;
  });
  let count = 0;
  for (const results of planBatches(ready, worker.budget.limits())) {
    const outcome = await send(worker, { update: undefined, results }, signal);
    for (const { result } of outcome.included) noteIncluded(worker, deps, result);
    count += outcome.included.length;
    const again = outcome.refused.filter((refused) => !putRefusedAside(worker, deps, refused));
    throwStop(worker, outcome.stop);
    if (again[0] !== undefined || outcome.unsent.length > 0)
      return { count, isDone: false, error: again[0]?.error };
  }
  return { count, isDone: true, error: undefined };
}

function noteIncluded(worker: ConnectionWorker, deps: TxDeps, tx: ProvenTx): void {
  deps.journal.noteIncluded(tx.state.query.id, tx.hash, tx.remoteHeight);
  worker.logger.info("transaction relayed", { ...idsOf(tx) });
}

/** False for a refusal that the transaction has no part in: its header, or the block's room. */
function putRefusedAside(
  worker: ConnectionWorker,
  deps: TxDeps,
  { result, error }: RefusedResult<ProvenTx>,
): boolean {
  const isOwn = error.code === "rejected" && !/header is invalid|invalid query id/i.test(error.reason);
  if (isOwn) putAside(worker, deps, idsOf(result), error.reason);
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

/** Lists a transaction as unsuccessful; it is never tried again. */
export function putAside(worker: ConnectionWorker, deps: TxDeps, tx: TxIds, reason: string): void {
  deps.journal.noteUnsuccessful({ ...tx, reason, atMs: worker.clock.nowMs() });
  worker.metrics.results.inc({ connection_id: worker.connectionId, outcome: "rejected" });
  worker.logger.warn("transaction not accepted", { ...tx, reason });
}
