import type { BackoffOptions } from "../../platform/base/waits.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import type { RelayerMetrics } from "../result/relayer-metrics.ts";
import type { LocalQueries } from "../chain/local-queries.ts";
import type { LightClientState } from "../../cosmos/light-client/client-queries.ts";
import type { TrustDeps } from "../../cosmos/light-client/client-update.ts";
import {
  dueHeightOf,
  failed,
  type QueryFailure,
  type QueryState,
  sameQuestion,
} from "../registry/query-state.ts";
import type { Registry } from "../registry/registry.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import type { Urgency } from "../gas-budget/urgency.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { Attempt, AttemptSink, AttemptStart } from "../state/attempt.ts";
import type { ResultOutcome, ResultSubmitter } from "../result/proven-result.ts";
import { type IntermediateHeaders, createIntermediateHeaders } from "./intermediate-headers.ts";
import type { ClientRefresh } from "./client-refresh.ts";
import type { ClientOfConnection, ViewDeps } from "./connection-view.ts";

/**
 * A connection's worker for one query type, with the dependencies of its cycles. Each connection has one worker for KV and one for
 * TX queries.
 */
export interface ConnectionWorker {
  readonly connectionId: string;
  readonly remote: ChainClient;
  readonly local: LocalQueries;
  readonly submitter: ResultSubmitter;
  readonly registry: Registry;
  readonly attempts: AttemptSink;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: RelayerMetrics;
  readonly localHeight: () => bigint;
  readonly localTimeMs: TrustDeps["localTimeMs"];
  readonly settings: WorkerSettings;
  readonly client: ClientOfConnection;
  readonly checkHistory?: ViewDeps["checkHistory"];
  /** Sends client updates before any queued result. */
  readonly clients: Pick<ClientRefresh, "send">;
  readonly submission: SubmissionHealth;
  readonly urgency: Pick<Urgency, "maxAgeOf">;
}

/** The settings that a worker's cycles use. */
interface WorkerSettings {
  readonly queries: Pick<
    RelayerConfig["queries"],
    "allow_kv_callbacks" | "min_kv_update_period" | "skip_unchanged"
  >;
  readonly batch: Pick<RelayerConfig["batch"], "bytes">;
  readonly retry: RelayerConfig["retry"];
}

export function intermediateHeadersOf(
  worker: ConnectionWorker,
  client: LightClientState,
  signal: AbortSignal,
): IntermediateHeaders {
  const { connectionId, remote, clock, submitter, clients, logger } = worker;
  return createIntermediateHeaders(
    {
      remote,
      clock,
      signer: submitter.address,
      send: async (updates, inner) => {
        await clients.send({ connectionId, updates }, inner);
        logger.info("client updated through intermediate headers: the remote validators have changed", {
          connectionId,
          headers: updates.length,
        });
      },
    },
    client,
    signal,
  );
}

/** Replaces a query's state, unless its registration has changed since `query` was read. */
export function updateState(
  { registry }: Pick<ConnectionWorker, "registry">,
  query: RegisteredQuery,
  toNext: (current: QueryState) => QueryState,
): void {
  const current = registry.state(query.id);
  if (current !== undefined && sameQuestion(current.query, query)) registry.replace(current, toNext(current));
}

/** Stores, counts and logs a query's failure, and starts the query's backoff. */
export function recordFailure(
  worker: Pick<
    ConnectionWorker,
    "connectionId" | "clock" | "random" | "settings" | "metrics" | "registry" | "logger"
  >,
  query: RegisteredQuery,
  error: QueryFailure,
): void {
  const { connectionId, clock, random, settings, metrics, registry, logger } = worker;
  const before = registry.state(query.id)?.error?.code;
  updateState(worker, query, (current) =>
    failed(current, error, { nowMs: clock.monotonicMs(), backoff: backoffOf(settings), random }),
  );
  metrics.results.inc({ connection_id: connectionId, outcome: error.code });
  // Warn once per new code, because the reason contains heights and counts, which differ between attempts.
  logger[before === error.code ? "debug" : "warn"]("query failed", {
    queryId: query.id,
    connectionId,
    ...error,
  });
}

function backoffOf({ retry: { first, most } }: WorkerSettings): BackoffOptions {
  return { minMs: first / 2, baseMs: first, maxMs: most };
}

/** Like {@link recordFailure}, but also records the attempt, which ended without a result. */
export function recordUnproven(
  worker: ConnectionWorker,
  state: QueryState,
  error: QueryFailure,
  started: AttemptStart,
): void {
  const { code: outcome, reason } = error;
  noteUnsent(worker, state, { outcome, reason, remoteHeight: 0n }, started);
  recordFailure(worker, state.query, error);
}

/** Records an attempt that ended before the submitter received its result. */
export function noteUnsent(
  worker: ConnectionWorker,
  state: QueryState,
  ended: Pick<Attempt, "outcome" | "reason" | "remoteHeight">,
  started: AttemptStart,
): void {
  const { id, owner, type } = state.query;
  const { outcome, reason, remoteHeight } = ended;
  worker.attempts.note([
    {
      outcome,
      reason,
      remoteHeight,
      queryId: id,
      connectionId: worker.connectionId,
      owner,
      type,
      startedAtMs: started.wallMs,
      durationMs: worker.clock.monotonicMs() - started.monotonicMs,
      dueHeight: dueHeight(state, worker.localHeight()),
      txHash: undefined,
      localHeight: undefined,
      gas: 0n,
      fee: 0n,
      simulations: 0,
    },
  ]);
}

/** Records in `submission` whether a result was included or failed because of a connection or account error. */
export function recordSubmission(worker: Pick<ConnectionWorker, "submission">, outcome: ResultOutcome): void {
  if (outcome.kind === "included") worker.submission.succeeded();
  else if (outcome.kind === "unsent" && outcome.error !== undefined) worker.submission.failed(outcome.error);
}

/** Returns the local height at which the query was or will be due. A query without a result is due at the next height. */
export function dueHeight(state: QueryState, localHeight: bigint): bigint {
  return state.query.lastLocalHeight === 0n ? localHeight + 1n : dueHeightOf(state);
}

/**
 * A connection's submission health, as reported by the submitter. Outcomes arrive only after later cycles have started, so an error
 * that affects all results is stored to stop the next cycle.
 */
type SubmissionHealth = ReturnType<typeof createSubmissionHealth>;

export function createSubmissionHealth() {
  let error: Error | undefined;
  let isNew = false;
  return {
    succeeded: (): void => {
      error = undefined;
    },
    failed: (last: Error): void => {
      [error, isNew] = [last, true];
    },
    /** Returns the last error; undefined once a result has been included. */
    error: (): Error | undefined => error,
    /** Returns each new error once, and undefined if there is no error since the last call. */
    take: (): Error | undefined => {
      const taken = isNew ? error : undefined;
      isNew = false;
      return taken;
    },
  };
}

/**
 * Computes how many blocks early a worker reads results. A read at the due height gives the newest value. However, if a cycle and a
 * broadcast take longer than a block, a query due in every block would get only every second result.
 */
export type LookAhead = ReturnType<typeof createLookAhead>;

/**
 * Total durations of a cycle and a broadcast, in block times, above which results are read one and two blocks early. The margin
 * allows for block propagation and varying durations. Reading three blocks early is useless, because at most two results of a query
 * may await their broadcast.
 */
const MAX_SHARES = [0.6, 1.3] as const;
/** Weight of the newest measurement in a moving average. */
const WEIGHT = 0.3;
const MIN_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

function average(before: number | undefined, now: number): number {
  return before === undefined ? now : before + (now - before) * WEIGHT;
}

/** Creates a look-ahead that starts at 0 blocks and then follows the recorded durations. */
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
    /** Records how long a cycle took to read and prove its results. */
    recordCycle: (durationMs: number): void => {
      cycleMs = average(cycleMs, durationMs);
    },
    /** Returns how many blocks early results are read: 0 to 2. */
    blocks: (sendMs: number): bigint => {
      const share = blockMs === undefined ? 0 : (cycleMs + sendMs) / blockMs;
      return BigInt(MAX_SHARES.filter((max) => share > max).length);
    },
    /** Returns the pause before the next check for a new remote block, ms. */
    retryMs: (): number => Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, (blockMs ?? MAX_RETRY_MS) / 4)),
  };
}

/** The set of a worker's running cycles, which read and prove concurrently. */
export type RunningCycles = ReturnType<typeof createRunningCycles>;

/** Creates an empty set of running cycles, which calls `onEnd` after each cycle. */
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
    /** Starts a cycle with `own` queries. The argument `turn` of `run` resolves once all earlier cycles have ended. */
    start: (own: number, run: (turn: Promise<void>) => Promise<void>): void => {
      count += 1;
      queries += own;
      const before = last;
      const end = toEnd(run(before), own);
      // Wait for both cycles, because a cycle may fail before the previous cycle ends.
      last = before.then(() => end);
    },
    /** Returns and clears the last error of an ended cycle. */
    takeError: (): Error | undefined => {
      const taken = error;
      error = undefined;
      return taken;
    },
    /** Clears the errors of all started cycles, including unfinished cycles. */
    forgetErrors: (): void => {
      term += 1;
      error = undefined;
    },
    ended: (): Promise<void> => last,
  };
}
