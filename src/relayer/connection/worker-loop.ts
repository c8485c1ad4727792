import { pause } from "../../base/abort.ts";
import { backoffMs } from "../../base/backoff.ts";
import { errorText } from "../../base/errors.ts";
import { runKvCycle } from "../kv/kv-cycle.ts";
import type { HeightSignal } from "../registry/height-signal.ts";
import { isDue } from "../registry/query-state.ts";
import type { RegisteredQuery } from "../registry/registered-query.ts";
import { errorBackoff, errorKind } from "../relay-error.ts";
import { runTxCycle } from "../tx/tx-cycle.ts";
import type { TxDeps } from "../tx/tx-relay.ts";
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
  let failures = 0;
  let lastError: string | undefined;
  while (!signal.aborted) {
    // Read before the cycle, so that a block that arrives during it starts the next cycle at once.
    const version = deps.height.version();
    try {
      const ran = await runDue(worker, deps, signal);
      if (ran && lastError !== undefined)
        worker.logger.info("connection has recovered", { ...labels, failures });
      // Only a cycle shows that the connection works. Without due queries the backoff keeps its length.
      if (ran) [failures, lastError] = [0, undefined];
      await deps.height.changedSince(version, MAX_IDLE_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      noteCycleError(worker, deps, error, { isNew: errorKind(error) !== lastError, failures });
      lastError = errorKind(error);
      // The pause ignores new blocks: they come every few seconds and would cancel the backoff.
      await pause(backoffMs(failures++, errorBackoff(error), worker.random), worker.clock, signal);
    }
  }
}

/** Runs a cycle over the due queries. Returns false when none is due. */
async function runDue(worker: ConnectionWorker, deps: WorkerLoopDeps, signal: AbortSignal): Promise<boolean> {
  const states = worker.registry
    .states()
    .filter(({ query }) => query.connectionId === worker.connectionId && query.type === deps.type);
  const localHeight = deps.height.now();
  const nowMs = worker.clock.nowMs();
  const due = states.filter((state) => isDue(state, localHeight, nowMs));
  // Without queries no cycle runs that could clear the last error, and the daemon would never be ready again.
  if (states.length === 0) deps.onCycle(undefined);
  if (due.length === 0 || localHeight === 0n || !deps.leads()) return false;
  await (deps.type === "kv" ? runKvCycle(worker, due, signal) : runTxCycle(worker, deps.tx, due, signal));
  worker.metrics.cycles.inc({ connection_id: worker.connectionId, outcome: "done" });
  deps.onCycle(undefined);
  return true;
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
