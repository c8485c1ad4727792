import { setImmediate, setTimeout } from "node:timers/promises";
import type { SendBudget } from "../../../platform/http/http-connections.ts";

/** Thrown when a request waited too long, or too many wait. HTTP servers reply 503, gRPC with Unavailable. */
export class BusyError extends Error {
  constructor() {
    super("the node is busy with other requests; try again later");
    this.name = "BusyError";
  }
}

/** Header of a reply to a client that should try again, for {@link BusyError}. */
export const RETRY_AFTER: Readonly<Record<string, string>> = { "Retry-After": "1" };

/**
 * One call of a request. A call that computes for long awaits `pause` between its parts; it must not wait for anything else, since no
 * other request runs until it ends.
 */
export type QueuedCall<T> = (pause: () => Promise<void>) => T | Promise<T>;

/** The client of a request. */
export interface Waiter {
  readonly isGone: () => boolean;
  /** The unread responses of the client's server. A request starts when there is capacity for its response. */
  readonly budget: Pick<SendBudget, "untilCapacity">;
}

/** Runs the requests of all servers of a node, one after the other. */
export interface WorkQueue {
  /**
   * Runs the calls of a request in order and resolves with their results. Between two calls of one request no other request runs, so
   * that one unfinished response is in memory. Rejects with {@link BusyError} when the node is too busy, and with an error when
   * the client is gone: calls that nobody waits for do not run.
   */
  readonly run: <T>(calls: readonly QueuedCall<T>[], waiter: Waiter) => Promise<readonly T[]>;
}

/** Requests that may wait. Far fewer than connections, so that a new connection can replace one whose request was refused. */
export const MAX_WAITING_REQUESTS = 256;
/** Time after which a request that has not started is refused. */
const MAX_WAIT_MS = 5_000;
/** Time after which a request is refused when there is no capacity for its response: others wait behind it. */
const MAX_CAPACITY_WAIT_MS = 2_000;
/** Waiting time of the oldest request from which the node is overloaded. */
const OVERLOADED_AFTER_MS = 500;
/** Time without a pause. Making a block needs a few turns of the event loop. */
const SLICE_MS = 10;
/**
 * Time of work after which the queue rests as long, also without an overload: a turn of the event loop accepts one connection, so that
 * clients behind a flood of slow requests do not get into the queue otherwise.
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
  /** Resolves after the time, or rejects when the signal aborts. */
  readonly expire: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Creates a queue. It lets other work of the process run every 10 ms, or after each call that takes longer. While it is overloaded and
 * after a long call, it rests as long as it has worked, so that requests take at most half of the time. An overloaded one runs the newest request first: under
 * a flood, a client that has waited for long is part of the flood, or has given up.
 */
export function createWorkQueue(
  deps: WorkQueueDeps = {
    monotonicMs: () => performance.now(),
    rest: (ms) => (ms === 0 ? setImmediate() : setTimeout(ms)),
    expire: (ms, signal) => setTimeout(ms, undefined, { signal }),
  },
): WorkQueue {
  // The oldest first.
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
    // The time since the last request was not the queue's.
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
    run: (calls, waiter) =>
      new Promise((resolve, reject) => {
        const start = () => runCalls(calls, waiter).then(resolve, reject);
        if (waiting.length >= MAX_WAITING_REQUESTS) waiting.shift()?.refuse();
        waiting.push({ sinceMs: deps.monotonicMs(), start, refuse: () => reject(new BusyError()) });
        if (!isRunning) void runAll();
      }),
  };
}
