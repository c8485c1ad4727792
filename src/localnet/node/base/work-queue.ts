import { setImmediate, setTimeout } from "node:timers/promises";
import type { SendBudget } from "../../../platform/http/http-connections.ts";

/** Thrown if a request waits too long or too many requests wait. HTTP servers then return 503, the gRPC server Unavailable. */
export class BusyError extends Error {
  constructor() {
    super("the node is busy with other requests; try again later");
    this.name = "BusyError";
  }
}

/** Response header that asks a client to try again after {@link BusyError}. */
export const RETRY_AFTER: Readonly<Record<string, string>> = { "Retry-After": "1" };

/** One call in a request. A long computation may await only `pause`, between its parts. No other request runs in the meantime. */
export type QueuedCall<T> = (pause: () => Promise<void>) => T | Promise<T>;

export interface Waiter {
  readonly isGone: () => boolean;
  /** Limits the server's responses that clients have not read yet. A request starts once there is capacity for its response. */
  readonly budget: Pick<SendBudget, "untilCapacity">;
}

/** Runs the requests to all of a node's servers one at a time. */
export type WorkQueue = ReturnType<typeof createWorkQueue>;

/** Maximum number of waiting requests. It is far below the connection limit, so that new clients can replace refused ones. */
export const MAX_WAITING_REQUESTS = 256;
/** How long a request may wait for its start before it is refused. */
const MAX_WAIT_MS = 5_000;
/** How long a request may wait for response capacity before it is refused, because other requests wait behind it. */
const MAX_CAPACITY_WAIT_MS = 2_000;
/** The node is overloaded once the oldest request has waited this long. */
const OVERLOADED_AFTER_MS = 500;
/** Maximum working time without a pause. It is short because making a block takes several turns of the event loop. */
const SLICE_MS = 10;
/**
 * After working for this long, the queue rests for as long as it worked, even if it is not overloaded. Otherwise, clients behind
 * a flood of slow requests would never reach it, because a turn of the event loop accepts only one connection.
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
  /** Resolves after the given time, or rejects if the signal aborts. */
  readonly expire: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Creates a queue. It lets the process do other work every 10 ms or after a longer call. While overloaded and after a long call,
 * it rests for as long as it has worked, so that requests use at most half of the time. An overloaded queue runs the newest
 * request first, because a client that has waited for long is part of the flood or has given up.
 */
export function createWorkQueue(
  deps: WorkQueueDeps = {
    monotonicMs: () => performance.now(),
    rest: (ms) => (ms === 0 ? setImmediate() : setTimeout(ms)),
    expire: (ms, signal) => setTimeout(ms, undefined, { signal }),
  },
) {
  // The waiting requests, oldest first.
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
    // Start a new slice, because the time since the last request was not working time.
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
     * Runs a request's calls in order and resolves with their results. No other request runs between them, so that only one
     * unfinished response is in memory. Rejects with {@link BusyError} if the node is too busy, and with another error if the
     * client is gone, because nobody awaits the results.
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
