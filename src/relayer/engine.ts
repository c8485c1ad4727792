import {
  createClientOfConnection,
  type ConnectionView,
  viewConnection,
} from "./connection/connection-view.ts";
import {
  type ConnectionWorker,
  createSubmissionHealth,
  createLookAhead,
  createRunningCycles,
  type LookAhead,
  type RunningCycles,
} from "./connection/worker.ts";
import { followChain, type FollowDeps } from "./registry/follow-chain.ts";
import { createListWatch } from "./watch/head-watch.ts";
import { createSubmitterState, type SubmitterDeps, type SubmitterOptions } from "./submit/submitter-state.ts";
import { type Submitter, submitterOf } from "./submit/submitter.ts";
import { submitTypeUrl, type PipelineView } from "./result/proven-result.ts";
import { truncateDec18 } from "../platform/base/decimal.ts";
import { gasPricePolicy } from "./chain-access.ts";
import type { RelayerConfig } from "./config/relayer-config.ts";
import { retry, type Tries } from "../platform/base/retry.ts";
import { withSignals } from "../platform/base/abort.ts";
import { errorText } from "../platform/base/errors.ts";
import { areTooFew, reserveKvCycle, runKvCycle } from "./kv/kv-cycle.ts";
import { isDue, type QueryState } from "./registry/query-state.ts";
import type { RegisteredQuery } from "./chain/registered-query.ts";
import { errorBackoff, errorKind } from "./chain/relay-error.ts";
import { type AttemptStart, startAttempt } from "./state/attempt.ts";
import { runTxCycle, type TxWorker } from "./tx/tx-cycle.ts";

/** The worker's dependencies that the caller provides. The engine adds all others, such as the worker's submission health. */
type WorkerParts = Omit<
  ConnectionWorker,
  "localHeight" | "client" | "submission" | "submitter" | "attempts" | "urgency"
>;

type EngineDeps = Omit<FollowDeps, "onLoaded" | "onLocalError"> &
  SubmitterDeps & {
    readonly workers: readonly WorkerParts[];
    readonly tx: TxWorker["deps"];
    readonly submission: Omit<SubmitterOptions, "connections">;
    /** Returns true if this process may submit results. Otherwise, the workers pause, while all other services continue. */
    readonly leads: () => boolean;
  };

const TYPES = ["kv", "tx"] as const;

/**
 * Creates the relayer's loops. One loop follows the local chain. Each connection has a worker for KV queries and a worker for TX
 * queries. A slow remote chain thus delays only its own connection, and a slow search does not delay KV values. The submitter sends
 * all results from one account.
 */
export function createEngine(deps: EngineDeps) {
  const errors = new Map<string, string | undefined>();
  const loops = deps.workers.flatMap((parts) =>
    TYPES.map((type) => ({ parts, type, name: nameOf(parts, type) })),
  );
  const options = { ...deps.submission, connections: deps.workers.length };
  const submitter = submitterOf(createSubmitterState(options, deps));
  const { view: list, ...listEvents } = createListWatch(deps.clock);
  return {
    services: [
      { name: "local chain subscription", run: (signal: AbortSignal) => deps.subscription.run(signal) },
      {
        name: "query registry",
        run: (signal: AbortSignal) => followChain({ ...deps, ...listEvents }, signal),
      },
      { name: "submitter", run: submitter.run },
      ...loops.map(({ parts, type, name }) => ({
        name,
        run: (signal: AbortSignal) =>
          runWorkers(
            // Each worker gets its own health and client id, so that two workers share no mutable state.
            () => toWorker(parts, submitter, deps),
            {
              height: deps.height,
              leads: deps.leads,
              tx: deps.tx,
              type,
              onCycle: (error) => errors.set(name, error),
            },
            signal,
          ),
      })),
    ],
    localHeight: deps.height.now,
    list,
    submitter: submitter.status,
    beginTerm: submitter.beginTerm,
    /** Returns a query's gas per result, as estimated from the submitter's past transactions. */
    gasOf: submitter.gasOf,
    /** Returns the error of each connection's last cycle; undefined if the cycle succeeded. */
    workerErrors: (): ReadonlyMap<string, string | undefined> =>
      new Map(
        deps.workers.map((parts) => [
          parts.connectionId,
          TYPES.map((type) => errors.get(nameOf(parts, type))).find((error) => error !== undefined),
        ]),
      ),
  };
}

function nameOf({ connectionId }: WorkerParts, type: (typeof TYPES)[number]): string {
  return `${type} worker of ${connectionId}`;
}

function toWorker(
  parts: WorkerParts,
  submitter: Submitter,
  { height, attempts, urgency }: EngineDeps,
): ConnectionWorker {
  return {
    ...parts,
    submitter,
    attempts,
    urgency,
    localHeight: height.now,
    client: createClientOfConnection(parts.local, parts.connectionId),
    submission: createSubmissionHealth(),
  };
}

export function submitterOptions(config: RelayerConfig): EngineDeps["submission"] {
  const { gas, batch } = config;
  return {
    submitTypeUrl: submitTypeUrl(config),
    gasAdjustmentPermille: truncateDec18(gas.adjustment * 1_000n),
    limits: batch,
    gasPrice: gasPricePolicy(gas),
    blockSharePermille: truncateDec18(batch.block_share * 1_000n),
  };
}

/** Maximum wait for a change on the local chain. A query's backoff may end without such a change. */
const MAX_IDLE_MS = 3_000;
/** Maximum number of concurrent KV cycles per connection. */
const MAX_KV_CYCLES = 2;

interface WorkerLoopDeps {
  readonly height: SubmitterDeps["height"];
  /** Returns true if this process may submit results. If not, the worker pauses. */
  readonly leads: () => boolean;
  readonly tx: TxWorker["deps"];
  /** The type of this worker's queries. KV and TX queries have separate workers, because a slow search must not delay KV values. */
  readonly type: RegisteredQuery["type"];
  /** Called after each cycle with the cycle's error, or with undefined if the cycle succeeded. */
  readonly onCycle: (error: string | undefined) => unknown;
}

/**
 * Runs one worker after another until the signal aborts. Never rejects. A reset of the local chain ends the current worker with its
 * cycles, so that no state from before the reset affects later cycles.
 */
async function runWorkers(
  createWorker: () => ConnectionWorker,
  deps: WorkerLoopDeps,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const worker = createWorker();
    const reset = worker.registry.resetSignal();
    await withSignals([signal, reset], (inner) => runWorker(worker, deps, inner));
  }
}

/**
 * Runs a cycle whenever one of the connection's queries is due, until the signal aborts. Never rejects, because the worker retries
 * with a backoff after a connection error.
 *
 * A KV cycle may start while the previous KV cycle is still reading, because reading from a distant node can take longer than a
 * block.
 */
async function runWorker(worker: ConnectionWorker, deps: WorkerLoopDeps, signal: AbortSignal): Promise<void> {
  const loop: Loop = {
    worker,
    deps,
    tx: { worker, deps: deps.tx, lacking: new Map() },
    lookAhead: createLookAhead(worker.clock),
    cycles: createRunningCycles(deps.height.wake),
    tries: { failures: 0 },
    lastError: undefined,
  };
  // New blocks do not end the backoff, because a new block every few seconds would always shorten the backoff.
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
  // Ignore late errors of cycles that started before the last backoff, because these errors have the same cause as the known error.
  cycles.forgetErrors();
  while (!signal.aborted) {
    // Read the version before the cycle, so that a block that arrives during the cycle starts the next cycle immediately.
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
  /** Number of connection errors since the last success, from which the backoff is computed. */
  readonly tries: Tries;
  lastError: string | undefined;
}

type Ran =
  | "started"
  /** No query was due. */
  | "idle"
  /** The remote chain had no block newer than the last results. */
  | "no-new-block";

/** Starts a cycle over the due queries. For TX queries, resolves only once the cycle has ended. */
async function runDue(loop: Loop, signal: AbortSignal): Promise<Ran> {
  const { worker, deps, lookAhead, cycles } = loop;
  const localHeight = deps.height.now();
  lookAhead.recordHeight(localHeight);
  // Clear the last error, because without queries or the lease, no cycle would clear it and the daemon would never become ready.
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

/** Returns false if a KV cycle would read too few queries to be worth its round trips. */
function mayStartKv(
  { cycles }: Loop,
  view: PipelineView,
  due: readonly QueryState[],
  early: bigint,
): boolean {
  if (areTooFew(due.length, cycles.queries())) return false;
  return view.capacity(early) > 0n || due.some(({ query }) => view.isUrgent(query));
}

/** Starts a KV cycle at the view's remote height. Returns false if no query needs a result from that height. */
function startKv(
  loop: Loop,
  at: { readonly view: ConnectionView; readonly started: AttemptStart; readonly lookAhead: bigint },
  signal: AbortSignal,
): boolean {
  const { worker, cycles } = loop;
  // Reading the view took a round trip, so include the queries that have become due since then.
  const due = dueStates(loop, worker.submitter.view(worker.connectionId), at.lookAhead);
  const cycle = reserveKvCycle(worker, { ...at, due, running: cycles.queries() });
  if (cycle === undefined) return false;
  cycles.start(cycle.candidates.length, async (turn) => {
    await runKvCycle(worker, cycle, turn, signal);
    recordDone(loop, at.started.monotonicMs);
  });
  return true;
}

/** Records a successful cycle. `startedMs` is undefined if no cycle ran, because the remote chain had no newer block. */
function recordDone(loop: Loop, startedMs: number | undefined): void {
  const { worker, deps, lookAhead } = loop;
  const labels = { connectionId: worker.connectionId, type: deps.type };
  if (startedMs !== undefined) lookAhead.recordCycle(worker.clock.monotonicMs() - startedMs);
  worker.metrics.cycles.inc({ connection_id: worker.connectionId, outcome: "done" });
  // The local chain may still reject a proven result, so the connection has recovered only once a result is included.
  if (worker.submission.error() !== undefined) return;
  deps.onCycle(undefined);
  // Only a cycle shows that the connection works, so the backoff stays unchanged if no cycle ran.
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
 * Returns the states that will need a result `lookAhead` blocks from now. Assumes that the next block includes a KV result in
 * flight, so that the query's following result can already be proven.
 */
function dueStates(loop: Loop, view: PipelineView, lookAhead: bigint): readonly QueryState[] {
  const at = { height: loop.deps.height.now() + lookAhead, nowMs: loop.worker.clock.monotonicMs() };
  const due: QueryState[] = [];
  // This loop visits all queries several times per block, but only a few queries are due, so the cheap checks come first.
  for (const state of statesOf(loop)) {
    const { id, updatePeriod } = state.query;
    if (at.nowMs < state.notBeforeMs || !view.mayRead(state.query)) continue;
    const newest = view.newest(id);
    // A query with a pending result is not read again before its update period has passed, regardless of the last read's outcome.
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
