import { pause } from "../../base/abort.ts";
import { backoffMs } from "../../base/backoff.ts";
import { errorText } from "../../base/errors.ts";
import { runKvCycle } from "../kv/kv-cycle.ts";
import type { HeightSignal } from "../registry/height-signal.ts";
import { isDue, type QueryState } from "../registry/query-state.ts";
import type { RegisteredQuery } from "../registry/registered-query.ts";
import { errorBackoff, errorKind } from "../relay-error.ts";
import { runTxCycle } from "../tx/tx-cycle.ts";
import type { TxDeps } from "../tx/tx-relay.ts";
import { createLead, type Lead } from "./lead.ts";
import type { ConnectionWorker } from "./worker.ts";

/** Longest wait for a change of the local chain. The backoff of a query may end without one. */
const MAX_IDLE_MS = 3_000;

export interface WorkerLoopDeps {
  readonly height: HeightSignal;
  /** Whether this process submits. */
  readonly leads: () => boolean;
  readonly tx: TxDeps;
  /** The queries of this worker. KV and TX queries have separate workers: a slow search must not delay values. */
  readonly type: RegisteredQuery["type"];
  /** Called after each cycle with its error, or with undefined when it succeeded. */
  readonly onCycle: (error: string | undefined) => unknown;
}

/**
 * Runs a cycle whenever a query of the connection is due, until the signal aborts. Never rejects: after an error of the
 * connection it backs off and tries again.
 */
export async function runWorker(
  worker: ConnectionWorker,
  deps: WorkerLoopDeps,
  signal: AbortSignal,
): Promise<void> {
  const labels = { connectionId: worker.connectionId, type: deps.type };
  const lead = createLead(worker.clock);
  let failures = 0;
  let lastError: string | undefined;
  while (!signal.aborted) {
    // Read before the cycle, so that a block that arrives during it starts the next cycle at once.
    const version = deps.height.version();
    try {
      const submissionError = worker.submission.take();
      if (submissionError !== undefined) throw submissionError;
      const ran = await runDue(worker, deps, lead, signal);
      // What a cycle proves may still be refused. The connection works again when a result was included.
      const works = ran === "done" && worker.submission.error() === undefined;
      if (works && lastError !== undefined)
        worker.logger.info("connection has recovered", { ...labels, failures });
      // Only a cycle shows that the connection works. Without due queries the backoff keeps its length.
      if (works) [failures, lastError] = [0, undefined];
      await deps.height.changedSince(version, ran === "no-new-block" ? lead.retryMs() : MAX_IDLE_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      noteCycleError(worker, deps, error, { isNew: errorKind(error) !== lastError, failures });
      lastError = errorKind(error);
      // The pause ignores new blocks: they come every few seconds and would cancel the backoff.
      await pause(backoffMs(failures++, errorBackoff(error), worker.random), worker.clock, signal);
    }
  }
}

type Ran =
  | "done"
  /** no query is due */
  | "idle"
  /** the remote chain has no block that is newer than the results */
  | "no-new-block";

/** Runs a cycle over the due queries. */
async function runDue(
  worker: ConnectionWorker,
  deps: WorkerLoopDeps,
  lead: Lead,
  signal: AbortSignal,
): Promise<Ran> {
  const states = worker.registry
    .states()
    .filter(({ query }) => query.connectionId === worker.connectionId && query.type === deps.type);
  const localHeight = deps.height.now();
  lead.noteHeight(localHeight);
  // Without queries no cycle runs that could clear the last error, and the daemon would never be ready again.
  if (states.length === 0) {
    worker.submission.succeeded();
    deps.onCycle(undefined);
  }
  const due = dueStates(worker, states, localHeight + lead.blocks(worker.submitter.sendMs()));
  if (due.length === 0 || localHeight === 0n || !deps.leads()) return "idle";
  if (deps.type === "kv" && worker.submitter.room(worker.connectionId) <= 0n) return "idle";
  const startedMs = worker.clock.monotonicMs();
  const found = await (deps.type === "kv"
    ? runKvCycle(worker, due, signal)
    : runTxCycle(worker, deps.tx, due, signal));
  if (found) lead.noteCycle(worker.clock.monotonicMs() - startedMs);
  worker.metrics.cycles.inc({ connection_id: worker.connectionId, outcome: "done" });
  if (worker.submission.error() === undefined) deps.onCycle(undefined);
  return found ? "done" : "no-new-block";
}

/**
 * Returns the states that need a result at `height`. A KV result counts as included in the block after its broadcast, so
 * that the next one is proven meanwhile.
 */
function dueStates(
  { submitter, clock }: ConnectionWorker,
  states: readonly QueryState[],
  height: bigint,
): readonly QueryState[] {
  const nowMs = clock.monotonicMs();
  return states
    .filter(({ query }) => !submitter.isWaiting(query.id))
    .flatMap((state): readonly QueryState[] => {
      const leaving = submitter.leaving(state.query.id);
      if (leaving === undefined) return [state];
      if (state.query.type === "tx") return [];
      const query = { ...state.query, lastLocalHeight: leaving.sentAt + 1n, lastRemoteHeight: leaving.at };
      return [{ ...state, query, isRequested: false }];
    })
    .filter((state) => isDue(state, height, nowMs));
}

function noteCycleError(
  worker: ConnectionWorker,
  deps: WorkerLoopDeps,
  error: unknown,
  { isNew, failures }: { readonly isNew: boolean; readonly failures: number },
): void {
  const { connectionId } = worker;
  worker.client.forget();
  deps.onCycle(errorText(error));
  worker.metrics.cycles.inc({ connection_id: connectionId, outcome: "failed" });
  worker.logger[isNew ? "warn" : "debug"]("cycle failed", {
    connectionId,
    type: deps.type,
    reason: errorText(error),
    failures,
  });
}
