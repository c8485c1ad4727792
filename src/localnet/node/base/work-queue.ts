import { setImmediate, setTimeout } from "node:timers/promises";
import type { SendBudget } from "../../../platform/http/http-connections.ts";

/** Thrown if a request has waited too long or too many are waiting. HTTP servers return 503, the gRPC server Unavailable. */
export class BusyError extends Error {
  constructor() {
    super("the node is busy with other requests; try again later");
    this.name = "BusyError";
  }
}

/** Response header that asks a client to try again after {@link BusyError}. */
export const RETRY_AFTER: Readonly<Record<string, string>> = { "Retry-After": "1" };

/** One call in a request. A long computation awaits `pause` between its parts, and nothing else: no other request runs. */
export type QueuedCall<T> = (pause: () => Promise<void>) => T | Promise<T>;

export interface Waiter {
  readonly isGone: () => boolean;
  /** The server's responses that clients have not read yet. A request starts once there is capacity for its response. */
  readonly budget: Pick<SendBudget, "untilCapacity">;
}

/** Runs the requests to all of a node's servers one at a time. */
export type WorkQueue = ReturnType<typeof createWorkQueue>;

/** Maximum number of waiting requests. It is far below the number of connections, so that new clients can replace refused ones. */
export const MAX_WAITING_REQUESTS = 256;
/** Time after which a request that has not started is refused. */
const MAX_WAIT_MS = 5_000;
/** Time after which a request is refused if there is no capacity for its response, because other requests wait behind it. */
const MAX_CAPACITY_WAIT_MS = 2_000;
/** The node is overloaded once the oldest request has waited this long. */
const OVERLOADED_AFTER_MS = 500;
/** Maximum working time without a pause. Making a block takes several turns of the event loop. */
const SLICE_MS = 10;
/**
 * After working for this long, the queue rests for as long as it worked, even if it is not overloaded. Otherwise, since each turn
 * of the event loop accepts only one connection, clients behind a flood of slow requests would never reach the queue.
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
 * Creates a queue. It lets the process do other work every 10 ms, or after each call that takes longer. While overloaded and
 * after a long call, it rests for as long as it has worked, so that requests take at most half of the time. An overloaded queue
 * runs the newest request first: during a flood, a client that has waited for a long time is part of the flood, or has given up.
 */
export function createWorkQueue(
  deps: WorkQueueDeps = {
    monotonicMs: () => performance.now(),
    rest: (ms) => (ms === 0 ? setImmediate() : setTimeout(ms)),
    expire: (ms, signal) => setTimeout(ms, undefined, { signal }),
  },
) {
  // Oldest first.
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
    // The time since the last request was not spent in the queue.
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
     * Runs a request's calls in order and resolves with their results. No other request runs between two calls in the same request,
     * so only one unfinished response is in memory. Rejects with {@link BusyError} if the node is too busy, and with another error
     * if the client is gone, because calls whose results nobody awaits do not run.
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
