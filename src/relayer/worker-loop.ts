import { retry, type Tries } from "../platform/base/retry.ts";
import { errorText } from "../platform/base/errors.ts";
import { type ConnectionView, viewConnection } from "./connection/connection-view.ts";
import { reserveKvCycle, runKvCycle } from "./kv/kv-cycle.ts";
import { isDue, type QueryState } from "./registry/query-state.ts";
import type { RegisteredQuery } from "./chain/registered-query.ts";
import { errorBackoff, errorKind } from "./chain/relay-error.ts";
import { type AttemptStart, startAttempt } from "./state/attempt.ts";
import { runTxCycle, type TxWorker } from "./tx/tx-cycle.ts";
import type { TxDeps } from "./tx/tx-relay.ts";
import type { ConnectionWorker } from "./connection/worker.ts";
import type { Clock } from "../platform/base/clock.ts";
import type { PipelineView } from "./result/proven-result.ts";
import type { HeightSignal } from "./registry/registry.ts";

/** Maximum wait for a change on the local chain. A query's backoff may end without a change. */
const MAX_IDLE_MS = 3_000;
/** Maximum number of concurrent KV cycles per connection. */
const MAX_KV_CYCLES = 2;

export interface WorkerLoopDeps {
  readonly height: HeightSignal;
  /** Returns true if this process submits. */
  readonly leads: () => boolean;
  readonly tx: TxDeps;
  /** The type of this worker's queries. KV and TX queries have separate workers, because a slow search must not delay values. */
  readonly type: RegisteredQuery["type"];
  /** Called after each cycle with its error, or with undefined if it succeeded. */
  readonly onCycle: (error: string | undefined) => unknown;
}

/**
 * Runs a cycle whenever one of the connection's queries is due, until the signal aborts. Never rejects. After a connection error,
 * it backs off and tries again.
 *
 * A KV cycle starts while the previous one is still reading, because a cycle with a distant node takes longer than a block.
 */
export async function runWorker(
  worker: ConnectionWorker,
  deps: WorkerLoopDeps,
  signal: AbortSignal,
): Promise<void> {
  const loop: Loop = {
    worker,
    deps,
    tx: { worker, deps: deps.tx, lacking: new Map() },
    lookAhead: createLookAhead(worker.clock),
    cycles: createRunningCycles(deps.height.wake),
    tries: { failures: 0 },
    lastError: undefined,
  };
  // The pause ignores new blocks: they arrive every few seconds and would cancel the backoff.
  await retry(() => runCycles(loop, signal), {
    ...worker,
    backoff: errorBackoff,
    signal,
    tries: loop.tries,
    onError: (error) => recordCycleError(loop, error),
  });
  await loop.cycles.ended();
}

async function runCycles(loop: Loop, signal: AbortSignal): Promise<void> {
  const { worker, deps, cycles, lookAhead } = loop;
  // A cycle that started before the last pause may end after it; its error is already known or has the same cause.
  cycles.forgetErrors();
  while (!signal.aborted) {
    // Read before the cycle, so that a block that arrives during it starts the next cycle immediately.
    const version = deps.height.version();
    const error = worker.submission.take() ?? cycles.takeError();
    if (error !== undefined) throw error;
    const ran = await runDue(loop, signal);
    const waitMs = ran === "no-new-block" ? lookAhead.retryMs() : MAX_IDLE_MS;
    await deps.height.changedSince(version, waitMs, signal);
  }
}

interface Loop {
  readonly worker: ConnectionWorker;
  readonly deps: WorkerLoopDeps;
  readonly tx: TxWorker;
  readonly lookAhead: LookAhead;
  readonly cycles: RunningCycles;
  /** Connection errors since the connection last worked. */
  readonly tries: Tries;
  lastError: string | undefined;
}

type Ran =
  | "started"
  /** no query is due */
  | "idle"
  /** the remote chain has no block newer than the results */
  | "no-new-block";

/** Starts a cycle over the due queries. A TX cycle has ended when this resolves. */
async function runDue(loop: Loop, signal: AbortSignal): Promise<Ran> {
  const { worker, deps, lookAhead, cycles } = loop;
  const localHeight = deps.height.now();
  lookAhead.recordHeight(localHeight);
  // Without queries or the lease, no cycle runs to clear the last error, and the daemon would never be ready again.
  if (statesOf(loop).length === 0 || !deps.leads()) {
    worker.submission.succeeded();
    deps.onCycle(undefined);
  }
  const view = worker.submitter.view(worker.connectionId);
  const own = lookAhead.blocks(view.sendMs);
  const early = deps.type === "kv" ? view.lookAhead(own) : own;
  if (cycles.count() >= MAX_KV_CYCLES) return "idle";
  const due = dueStates(loop, view, early);
  if (due.length === 0 || localHeight === 0n || !deps.leads()) return "idle";
  if (deps.type === "kv" && !mayStartKv(loop, view, due, early)) return "idle";
  const started = startAttempt(worker.clock);
  const connection = await viewConnection(worker, signal);
  if (connection !== undefined && deps.type === "tx") {
    await runTxCycle(loop.tx, { view: connection, due }, signal);
    recordDone(loop, started.monotonicMs);
    return "started";
  }
  if (connection !== undefined && startKv(loop, { view: connection, started, lookAhead: early }, signal))
    return "started";
  recordDone(loop, undefined);
  return "no-new-block";
}

/** Returns true unless it is already clear that a KV cycle would read too little. This saves the cycle's round trips. */
function mayStartKv(
  { cycles }: Loop,
  view: PipelineView,
  due: readonly QueryState[],
  early: bigint,
): boolean {
  if (due.length * 10 < cycles.queries()) return false;
  return view.capacity(early) > 0n || due.some(({ query }) => view.isUrgent(query));
}

/** Starts a cycle at this remote height. Returns false if no query needs it. */
function startKv(
  loop: Loop,
  at: { readonly view: ConnectionView; readonly started: AttemptStart; readonly lookAhead: bigint },
  signal: AbortSignal,
): boolean {
  const { worker, cycles } = loop;
  // The view took a round trip. Queries that have become due since then need not wait for the next cycle.
  const due = dueStates(loop, worker.submitter.view(worker.connectionId), at.lookAhead);
  const cycle = reserveKvCycle(worker, { ...at, due, running: cycles.queries() });
  if (cycle === undefined) return false;
  cycles.start(cycle.candidates.length, async (turn) => {
    await runKvCycle(worker, cycle, turn, signal);
    recordDone(loop, at.started.monotonicMs);
  });
  return true;
}

/** Records a cycle without an error. `startedMs` is undefined if the remote chain had no newer block. */
function recordDone(loop: Loop, startedMs: number | undefined): void {
  const { worker, deps, lookAhead } = loop;
  const labels = { connectionId: worker.connectionId, type: deps.type };
  if (startedMs !== undefined) lookAhead.recordCycle(worker.clock.monotonicMs() - startedMs);
  worker.metrics.cycles.inc({ connection_id: worker.connectionId, outcome: "done" });
  // The chain may still reject what a cycle proved, so the connection has recovered only once a result is included.
  if (worker.submission.error() !== undefined) return;
  deps.onCycle(undefined);
  // Only a cycle shows that the connection works. Without due queries, the backoff stays unchanged.
  if (startedMs === undefined) return;
  if (loop.lastError !== undefined)
    worker.logger.info("connection has recovered", { ...labels, ...loop.tries });
  [loop.tries.failures, loop.lastError] = [0, undefined];
}

function statesOf({ worker, deps }: Loop): readonly QueryState[] {
  const { registry, connectionId } = worker;
  return registry
    .states()
    .filter(({ query }) => query.connectionId === connectionId && query.type === deps.type);
}

/**
 * Returns the states that need a result this many blocks ahead. The function assumes that the block after the broadcast includes a
 * KV result, so that the next result is proven in the meantime.
 */
function dueStates(loop: Loop, view: PipelineView, lookAhead: bigint): readonly QueryState[] {
  const at = { height: loop.deps.height.now() + lookAhead, nowMs: loop.worker.clock.monotonicMs() };
  const due: QueryState[] = [];
  // This goes through all queries several times per block, and few are due.
  for (const state of statesOf(loop)) {
    const { id, updatePeriod } = state.query;
    if (at.nowMs < state.notBeforeMs || !view.mayRead(state.query)) continue;
    const newest = view.newest(id);
    // Nothing is read again before a period has passed, so an unchanged read cannot make this result due sooner.
    if (newest !== undefined && at.height < newest.sentAt + updatePeriod) continue;
    const then = newest === undefined ? state : withResult(state, newest);
    if (isDue(then, at.height, at.nowMs)) due.push(then);
  }
  return due;
}

/** Returns the state that a query with a pending result will have once a block includes the result. */
function withResult(
  state: QueryState,
  { sentAt, at }: NonNullable<ReturnType<PipelineView["newest"]>>,
): QueryState {
  const query = { ...state.query, lastLocalHeight: sentAt + 1n, lastRemoteHeight: at };
  return { ...state, query, isRequested: false };
}

function recordCycleError(loop: Loop, error: unknown): void {
  const { worker, deps, tries } = loop;
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
    ...tries,
  });
}

/**
 * Decides how many blocks ahead a worker reads. Reading a value when its query is due gives the newest value. Reading, proving,
 * simulating and sending may take longer than a block, though. A query that is due in every block would then get a result only in
 * every second block.
 */
export type LookAhead = ReturnType<typeof createLookAhead>;

/**
 * Shares of a block that a cycle and sending may take before results are read one block early, and two. The remainder allows for
 * block propagation and varying durations. Reading three blocks early is useless, because at most two results of a query may wait
 * for their broadcast.
 */
const MAX_SHARES = [0.6, 1.3] as const;
/** Weight of the last measurement. */
const WEIGHT = 0.3;
const MIN_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

function average(before: number | undefined, now: number): number {
  return before === undefined ? now : before + (now - before) * WEIGHT;
}

/** Creates a look-ahead of 0, which follows the recorded durations. */
export function createLookAhead(clock: Pick<Clock, "monotonicMs">) {
  let last: { readonly height: bigint; readonly atMs: number } | undefined;
  let blockMs: number | undefined;
  let cycleMs = 0;
  return {
    recordHeight: (height: bigint): void => {
      const atMs = clock.monotonicMs();
      if (last !== undefined && height > last.height)
        blockMs = average(blockMs, (atMs - last.atMs) / Number(height - last.height));
      if (last?.height !== height) last = { height, atMs };
    },
    /** Records a cycle's duration: reading and proving. */
    recordCycle: (durationMs: number): void => {
      cycleMs = average(cycleMs, durationMs);
    },
    /** Returns how many blocks early results are read: 0 to 2. */
    blocks: (sendMs: number): bigint => {
      const share = blockMs === undefined ? 0 : (cycleMs + sendMs) / blockMs;
      return BigInt(MAX_SHARES.filter((max) => share > max).length);
    },
    /** Pause before asking the remote chain again for a new block. */
    retryMs: (): number => Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, (blockMs ?? MAX_RETRY_MS) / 4)),
  };
}

/** A worker's cycles that read and prove concurrently. */
type RunningCycles = ReturnType<typeof createRunningCycles>;

/** Calls `onEnd` after each cycle. */
export function createRunningCycles(onEnd: () => void) {
  let count = 0;
  let queries = 0;
  let last = Promise.resolve();
  let error: Error | undefined;
  let term = 0;
  const toEnd = async (running: Promise<void>, own: number): Promise<void> => {
    const startedIn = term;
    try {
      await running;
    } catch (thrown) {
      if (startedIn === term)
        error = thrown instanceof Error ? thrown : new Error("a cycle failed", { cause: thrown });
    }
    count -= 1;
    queries -= own;
    onEnd();
  };
  return {
    count: (): number => count,
    queries: (): number => queries,
    /** Starts a cycle over this number of queries. Its `turn` resolves once all earlier cycles have ended. */
    start: (own: number, run: (turn: Promise<void>) => Promise<void>): void => {
      count += 1;
      queries += own;
      const before = last;
      const end = toEnd(run(before), own);
      // A cycle may fail before the previous cycle ends.
      last = before.then(() => end);
    },
    /** Returns an ended cycle's error, once. */
    takeError: (): Error | undefined => {
      const taken = error;
      error = undefined;
      return taken;
    },
    /** Clears the errors of all started cycles, including unfinished ones. */
    forgetErrors: (): void => {
      term += 1;
      error = undefined;
    },
    ended: (): Promise<void> => last,
  };
}
