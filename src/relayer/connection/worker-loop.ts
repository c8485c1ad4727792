import { pause } from "../../base/abort.ts";
import { backoffMs } from "../../base/backoff.ts";
import { errorText } from "../../base/errors.ts";
import { ERROR_BACKOFF, errorKind, SILENCE_MS } from "../registry/follow-chain.ts";
import type { HeightSignal } from "../registry/height-signal.ts";
import type { ConnectionWorker } from "./worker.ts";
import { isDue, type QueryState } from "../registry/query-state.ts";
import type { RegisteredQuery } from "../registry/registered-query.ts";
import { runKvCycle } from "../kv/kv-cycle.ts";
import type { TxDeps } from "../tx/tx-relay.ts";
import { runTxCycle } from "../tx/tx-cycle.ts";

/** The kind of queries that a loop answers. */
type QueryType = RegisteredQuery["type"];

/** What a worker's loop shares with the others. */
export interface WorkerLoopDeps {
  readonly height: HeightSignal;
  readonly tx: TxDeps;
  /** The queries that this loop answers: a slow search for transactions must not hold up values. */
  readonly type: QueryType;
  /** Hears of the error of each round, undefined for a good one. */
  readonly onCycle: (error: string | undefined) => unknown;
}

/** Runs a round whenever something of this connection is due; an error of the connection waits with a growing pause. */
export async function runWorker(
  worker: ConnectionWorker,
  deps: WorkerLoopDeps,
  signal: AbortSignal,
): Promise<void> {
  const names = { connectionId: worker.connectionId, type: deps.type };
  let failures = 0;
  let lastError: string | undefined;
  while (!signal.aborted) {
    const seen = deps.height.version();
    try {
      const ran = await runDue(worker, deps, signal);
      if (ran && lastError !== undefined)
        worker.logger.info("connection is in order again", { ...names, tries: failures });
      if (ran) [failures, lastError] = [0, undefined];
      await deps.height.changed(seen, SILENCE_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      noteCycleError(worker, deps, error, { isNews: errorKind(error) !== lastError, failures });
      lastError = errorKind(error);
      await pause(backoffMs(failures++, ERROR_BACKOFF, worker.random), worker.clock, signal);
    }
  }
}

/** Answers what is due; false when nothing is. */
async function runDue(worker: ConnectionWorker, deps: WorkerLoopDeps, signal: AbortSignal): Promise<boolean> {
  const states = noteStates(worker).filter(({ query }) => query.type === deps.type);
  const localHeight = deps.height.now();
  const nowMs = worker.clock.nowMs();
  const due = states.filter((state) => isDue(state, localHeight, nowMs));
  // What was at error can't be seen any more once nobody asks.
  if (states.length === 0) deps.onCycle(undefined);
  if (due.length === 0 || localHeight === 0n) return false;
  await (deps.type === "kv" ? runKvCycle(worker, due, signal) : runTxCycle(worker, deps.tx, due, signal));
  worker.metrics.rounds.inc({ connection_id: worker.connectionId, outcome: "done" });
  deps.onCycle(undefined);
  noteStates(worker);
  return true;
}

function noteCycleError(
  worker: ConnectionWorker,
  deps: WorkerLoopDeps,
  error: unknown,
  { isNews, failures }: { readonly isNews: boolean; readonly failures: number },
): void {
  const { connectionId } = worker;
  worker.client.forget();
  deps.onCycle(errorText(error));
  worker.metrics.rounds.inc({ connection_id: connectionId, outcome: "failed" });
  worker.logger[isNews ? "warn" : "debug"]("round failed", {
    connectionId,
    type: deps.type,
    reason: errorText(error),
    failures,
  });
}

/** The states of the worker's queries, counted into the metrics. */
function noteStates(worker: ConnectionWorker): readonly QueryState[] {
  const { connectionId: connection_id, metrics } = worker;
  const states = worker.registry.states().filter(({ query }) => query.connectionId === connection_id);
  const held = states.filter(({ error }) => error !== undefined).length;
  const waiting = states.filter(
    ({ error, query }) => error === undefined && query.lastLocalHeight === 0n,
  ).length;
  metrics.queries.set({ connection_id, state: "held" }, held);
  metrics.queries.set({ connection_id, state: "waiting" }, waiting);
  metrics.queries.set({ connection_id, state: "answered" }, states.length - held - waiting);
  return states;
}
