import { pause } from "../../platform/base/abort.ts";
import { backoffMs } from "../../platform/base/waits.ts";
import { errorText } from "../../platform/base/errors.ts";
import { planKvCycle, runKvCycle } from "../kv/kv-cycle.ts";
import type { HeightSignal } from "../registry/height-signal.ts";
import { isDue, type QueryState } from "../registry/query-state.ts";
import type { RegisteredQuery } from "../registry/registered-query.ts";
import { errorBackoff, errorKind } from "../relay-error.ts";
import { runTxCycle } from "../tx/tx-cycle.ts";
import type { TxDeps } from "../tx/tx-relay.ts";
import { createLead, type Lead } from "./lead.ts";
import { createRunningCycles, type RunningCycles } from "./running-cycles.ts";
import type { ConnectionWorker } from "./worker.ts";

/** Longest wait for a change of the local chain. The backoff of a query may end without one. */
const MAX_IDLE_MS = 3_000;
/** KV cycles of a connection that run at the same time. */
const MAX_KV_CYCLES = 2;

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
 *
 * A KV cycle starts while the one before it still reads: with a distant node a cycle takes longer than a block.
 */
export async function runWorker(
  worker: ConnectionWorker,
  deps: WorkerLoopDeps,
  signal: AbortSignal,
): Promise<void> {
  const loop: Loop = {
    worker,
    deps,
    lead: createLead(worker.clock),
    cycles: createRunningCycles(deps.height.wake),
    failures: 0,
    lastError: undefined,
  };
  while (!signal.aborted) {
    // Read before the cycle, so that a block that arrives during it starts the next cycle at once.
    const version = deps.height.version();
    try {
      const error = worker.submission.take() ?? loop.cycles.takeError();
      if (error !== undefined) throw error;
      const ran = await runDue(loop, signal);
      await deps.height.changedSince(
        version,
        ran === "no-new-block" ? loop.lead.retryMs() : MAX_IDLE_MS,
        signal,
      );
    } catch (error) {
      if (signal.aborted) break;
      noteCycleError(loop, error);
      // The pause ignores new blocks: they come every few seconds and would cancel the backoff.
      await pause(backoffMs(loop.failures++, errorBackoff(error), worker.random), worker.clock, signal);
      // Of cycles that started before this error.
      loop.cycles.takeError();
    }
  }
  await loop.cycles.ended();
}

interface Loop {
  readonly worker: ConnectionWorker;
  readonly deps: WorkerLoopDeps;
  readonly lead: Lead;
  readonly cycles: RunningCycles;
  /** Errors of the connection since it worked. */
  failures: number;
  lastError: string | undefined;
}

type Ran =
  | "started"
  /** no query is due */
  | "idle"
  /** the remote chain has no block that is newer than the results */
  | "no-new-block";

/** Starts a cycle over the due queries. One for TX queries is over then. */
async function runDue(loop: Loop, signal: AbortSignal): Promise<Ran> {
  const { worker, deps, lead } = loop;
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
  const blocks = lead.blocks(worker.submitter.sendMs());
  const due = dueStates(worker, states, localHeight + blocks);
  if (due.length === 0 || localHeight === 0n || !deps.leads()) return "idle";
  return deps.type === "kv" ? await startKv(loop, due, blocks, signal) : await runTx(loop, due, signal);
}

async function startKv(
  loop: Loop,
  due: readonly QueryState[],
  blocks: bigint,
  signal: AbortSignal,
): Promise<Ran> {
  const { worker, cycles } = loop;
  // A few that are due meanwhile wait for the end of the cycle: each one has its own header and round trips.
  if (due.length * 10 < cycles.queries()) return "idle";
  if (cycles.count() >= MAX_KV_CYCLES || worker.submitter.room(worker.connectionId, blocks) <= 0n)
    return "idle";
  const startedMs = worker.clock.monotonicMs();
  const cycle = await planKvCycle(worker, { due, lead: blocks }, signal);
  if (cycle === undefined) {
    noteDone(loop, undefined);
    return "no-new-block";
  }
  cycles.start(cycle.candidates.length, async (turn) => {
    await runKvCycle(worker, cycle, turn, signal);
    noteDone(loop, startedMs);
  });
  return "started";
}

async function runTx(loop: Loop, due: readonly QueryState[], signal: AbortSignal): Promise<Ran> {
  const { worker, deps } = loop;
  const startedMs = worker.clock.monotonicMs();
  const found = await runTxCycle(worker, deps.tx, due, signal);
  noteDone(loop, found ? startedMs : undefined);
  return found ? "started" : "no-new-block";
}

/** Notes a cycle without an error. `startedMs` is undefined when the remote chain had no newer block. */
function noteDone(loop: Loop, startedMs: number | undefined): void {
  const { worker, deps, lead } = loop;
  const labels = { connectionId: worker.connectionId, type: deps.type };
  if (startedMs !== undefined) lead.noteCycle(worker.clock.monotonicMs() - startedMs);
  worker.metrics.cycles.inc({ connection_id: worker.connectionId, outcome: "done" });
  // What a cycle proves may still be refused. The connection works again when a result was included.
  if (worker.submission.error() !== undefined) return;
  deps.onCycle(undefined);
  // Only a cycle shows that the connection works. Without due queries the backoff keeps its length.
  if (startedMs === undefined) return;
  if (loop.lastError !== undefined)
    worker.logger.info("connection has recovered", { ...labels, failures: loop.failures });
  [loop.failures, loop.lastError] = [0, undefined];
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
    .filter(({ query }) => submitter.mayRead(query))
    .map((state) => {
      const leaving = submitter.leaving(state.query.id);
      if (leaving === undefined) return state;
      const query = { ...state.query, lastLocalHeight: leaving.sentAt + 1n, lastRemoteHeight: leaving.at };
      return { ...state, query, isRequested: false };
    })
    .filter((state) => isDue(state, height, nowMs));
}

function noteCycleError(loop: Loop, error: unknown): void {
  const { worker, deps, failures } = loop;
  const { connectionId } = worker;
  const isNew = errorKind(error) !== loop.lastError;
  loop.lastError = errorKind(error);
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
