import { setTimeout } from "node:timers/promises";

/** Thrown when too many searches wait. HTTP servers reply 503, gRPC with Unavailable. */
export class BusyError extends Error {
  constructor() {
    super("too many searches of transactions and blocks are waiting; try again later");
    this.name = "BusyError";
  }
}

/** Header of a reply to a client that should try again, for {@link BusyError}. */
export const RETRY_AFTER: Readonly<Record<string, string>> = { "Retry-After": "1" };

/** Runs the searches of all servers of a node, one after the other. */
export interface SearchQueue {
  /**
   * Runs the calls of a request in order, with time for other work after each, and resolves with their results. Between two calls
   * of one request no other request runs, so that one unfinished response is in memory. Rejects with {@link BusyError} when too
   * many calls wait, and with an error when the client is gone: calls that nobody waits for do not run.
   */
  readonly run: <T>(calls: readonly (() => T | Promise<T>)[], isGone: () => boolean) => Promise<readonly T[]>;
}

/** Calls that may wait. Each takes up to some tenths of a second when the blocks are full. */
export const MAX_WAITING_SEARCHES = 50;

function disconnected(): Error {
  return new Error("the client has disconnected");
}

interface WaitingRequest {
  readonly calls: number;
  readonly isGone: () => boolean;
  readonly start: () => Promise<void>;
  readonly drop: () => void;
}

/**
 * Creates a queue. A search is one step without a pause, in which the process makes no block. `rest` lets other work run for as
 * long as the last search took, so that searches take at most half of the time.
 */
export function createSearchQueue(
  deps: { readonly monotonicMs: () => number; readonly rest: (ms: number) => Promise<unknown> } = {
    monotonicMs: () => performance.now(),
    rest: (ms) => setTimeout(ms),
  },
): SearchQueue {
  let waiting: WaitingRequest[] = [];
  let isRunning = false;
  const runAll = async (): Promise<void> => {
    isRunning = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next.start();
    isRunning = false;
  };
  const hasRoom = (more: number): boolean =>
    waiting.reduce((sum, { calls }) => sum + calls, more) <= MAX_WAITING_SEARCHES;
  const dropGone = (): void => {
    for (const request of waiting) if (request.isGone()) request.drop();
    waiting = waiting.filter((request) => !request.isGone());
  };
  const runCalls = async <T>(calls: readonly (() => T | Promise<T>)[], isGone: () => boolean) => {
    const results: T[] = [];
    for (const call of calls) {
      if (isGone()) throw disconnected();
      const startedMs = deps.monotonicMs();
      results.push(await call());
      await deps.rest(deps.monotonicMs() - startedMs);
    }
    return results;
  };
  return {
    run: (calls, isGone) => {
      if (!hasRoom(calls.length)) dropGone();
      if (!hasRoom(calls.length)) return Promise.reject(new BusyError());
      return new Promise((resolve, reject) => {
        const start = () => runCalls(calls, isGone).then(resolve, reject);
        waiting.push({ calls: calls.length, isGone, start, drop: () => reject(disconnected()) });
        if (!isRunning) void runAll();
      });
    },
  };
}
