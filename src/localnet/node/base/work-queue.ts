import { setImmediate, setTimeout } from "node:timers/promises";
import type { SendBudget } from "../../../platform/http/http-connections.ts";

/** Thrown if a request waits too long or the queue is full. Clients receive HTTP status 503 or gRPC status `Unavailable`. */
export class BusyError extends Error {
  constructor() {
    super("the node is busy with other requests; try again later");
    this.name = "BusyError";
  }
}

/** Response header that tells a client to retry after a {@link BusyError}. */
export const RETRY_AFTER: Readonly<Record<string, string>> = { "Retry-After": "1" };

/** Function that a queued request runs. A long call may only await `pause`. No other queued request runs during a pause. */
export type QueuedCall<T> = (pause: () => Promise<void>) => T | Promise<T>;

export interface Waiter {
  readonly isGone: () => boolean;
  /** Limits the total size of responses that clients have not read yet. A request starts when the budget has capacity for its response. */
  readonly budget: Pick<SendBudget, "untilCapacity">;
}

/** Runs requests from all of a node's servers, one at a time. */
export type WorkQueue = ReturnType<typeof createWorkQueue>;

/**
 * Maximum number of waiting requests. The maximum is far below the connection limit, so that clients can still connect while the queue is
 * full.
 */
export const MAX_WAITING_REQUESTS = 256;
/** Maximum time that a request waits to start before it is rejected. */
const MAX_WAIT_MS = 5_000;
/**
 * Maximum time that a request waits for response capacity before it is rejected. The limit is short because the request blocks all
 * other requests.
 */
const MAX_CAPACITY_WAIT_MS = 2_000;
/** The queue is overloaded while its oldest request has waited longer than this time. */
const OVERLOADED_AFTER_MS = 500;
/**
 * Maximum time that the queue works without a pause. The limit is short, because the node needs several event loop turns to make a
 * block.
 */
const SLICE_MS = 10;
/**
 * After a call that takes at least this long, the queue rests for the same time, even if it is not overloaded. Without this rest,
 * new clients could not connect during a flood of slow requests, because the event loop accepts only one connection per turn.
 */
const LONG_MS = 50;

interface WaitingRequest {
  readonly sinceMs: number;
  readonly start: () => Promise<void>;
  readonly refuse: () => void;
}

interface WorkQueueDeps {
  readonly monotonicMs: () => number;
  readonly rest: (ms: number) => Promise<unknown>;
  /** Resolves after `ms`, and rejects if the signal aborts. */
  readonly expire: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Creates a queue that yields to the event loop after every 10 ms of work, or after a longer call. An overloaded queue, or a queue
 * that has run a long call, rests for as long as it has worked. Requests therefore use at most half of the time. An overloaded
 * queue runs the newest request first, because clients that have waited for a long time probably caused the overload or have given
 * up.
 */
export function createWorkQueue(
  deps: WorkQueueDeps = {
    monotonicMs: () => performance.now(),
    rest: (ms) => (ms === 0 ? setImmediate() : setTimeout(ms)),
    expire: (ms, signal) => setTimeout(ms, undefined, { signal }),
  },
) {
  // Requests that have not started yet, oldest first.
  const waiting: WaitingRequest[] = [];
  let isRunning = false;
  let sliceStartMs = 0;
  const waitedMs = (): number => deps.monotonicMs() - (waiting[0]?.sinceMs ?? Number.POSITIVE_INFINITY);
  const pause = async (): Promise<void> => {
    const workedMs = deps.monotonicMs() - sliceStartMs;
    if (workedMs < SLICE_MS) return;
    await deps.rest(workedMs >= LONG_MS || waitedMs() > OVERLOADED_AFTER_MS ? workedMs : 0);
    sliceStartMs = deps.monotonicMs();
  };
  const take = (): WaitingRequest | undefined => {
    while (waitedMs() > MAX_WAIT_MS) waiting.shift()?.refuse();
    return waitedMs() > OVERLOADED_AFTER_MS ? waiting.pop() : waiting.shift();
  };
  const runAll = async (): Promise<void> => {
    isRunning = true;
    // Start a new time slice, because the queue has been idle since the last request.
    sliceStartMs = deps.monotonicMs();
    for (let next = take(); next !== undefined; next = take()) await next.start();
    isRunning = false;
  };
  const untilCapacity = async (capacity: Promise<void>): Promise<void> => {
    const end = new AbortController();
    const isFree = await Promise.race([
      capacity.then(() => true),
      deps.expire(MAX_CAPACITY_WAIT_MS, end.signal).then(
        () => false,
        () => true,
      ),
    ]);
    end.abort();
    if (!isFree) throw new BusyError();
  };
  const runCalls = async <T>(
    calls: readonly QueuedCall<T>[],
    { isGone, budget }: Waiter,
  ): Promise<readonly T[]> => {
    const results: T[] = [];
    const capacity = budget.untilCapacity();
    if (capacity !== undefined) {
      await untilCapacity(capacity);
      sliceStartMs = deps.monotonicMs();
    }
    for (const call of calls) {
      if (isGone()) throw new Error("the client has disconnected");
      results.push(await call(pause));
      await pause();
    }
    return results;
  };
  return {
    /**
     * Runs a request's calls in order and resolves with their results. Other requests wait until all of these calls have ended, so that
     * only one unfinished response is in memory. Rejects with {@link BusyError} if the node is too busy, or with another error if the
     * client has disconnected.
     */
    run: <T>(calls: readonly QueuedCall<T>[], waiter: Waiter): Promise<readonly T[]> =>
      new Promise((resolve, reject) => {
        const start = () => runCalls(calls, waiter).then(resolve, reject);
        if (waiting.length >= MAX_WAITING_REQUESTS) waiting.shift()?.refuse();
        waiting.push({ sinceMs: deps.monotonicMs(), start, refuse: () => reject(new BusyError()) });
        if (!isRunning) void runAll();
      }),
  };
}
