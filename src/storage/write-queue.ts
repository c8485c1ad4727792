import { type BackoffOptions, backoffMs } from "../base/backoff.ts";
import type { Clock } from "../base/clock.ts";
import { errorText } from "../base/errors.ts";
import { createWakeSignal } from "../base/wake-signal.ts";
import type { SqlDatabase, SqlSession } from "./sql-database.ts";

/** One change of the database. It runs again when its transaction failed. */
type Write = (session: SqlSession) => Promise<void>;

/** Writes that wait for the database, and the error that it returns. */
interface WriteQueueStatus {
  /** Writes that are not durable yet. */
  readonly pending: number;
  /** Offered writes that were dropped since the start, because the queue was full. */
  readonly dropped: number;
  /** Why the last transaction failed; undefined after a success. */
  readonly error: string | undefined;
}

/**
 * Writes to a database behind the program, in order, many in one transaction.
 *
 * When the process dies, the writes of the end are lost, never one in the middle. So a program that can do its last
 * steps again loses nothing. Before a step that must not be done twice it waits for {@link WriteQueue.flushed}.
 */
export interface WriteQueue {
  /** Appends a write that must not be lost. The caller limits their number by waiting for `flushed`. */
  readonly push: (write: Write) => void;
  /** Appends a write that may be lost: it is dropped and counted while the queue is full. */
  readonly offer: (write: Write) => void;
  /** Resolves when all earlier writes are durable. Rejects with the signal's reason when the signal aborts first. */
  readonly flushed: (signal: AbortSignal) => Promise<void>;
  readonly status: () => WriteQueueStatus;
  /** Stops retrying after an error. Writes that are not durable then are lost. */
  readonly stop: () => void;
}

export interface WriteQueueDeps {
  readonly database: Pick<SqlDatabase, "transaction">;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called with the error when writes begin to fail, and with undefined when they succeed again. */
  readonly onError: (error: string | undefined) => void;
}

/** Offered writes that may wait. */
const MAX_OFFERED = 10_000;
/** Writes in one transaction. A commit waits for the disk once, however many writes it has. */
const MAX_BATCH = 500;
const RETRY: BackoffOptions = { minMs: 100, baseMs: 200, maxMs: 2_000 };

/** Creates an empty queue. It writes as soon as something is in it. */
export function createWriteQueue(deps: WriteQueueDeps): WriteQueue {
  const stopped = new AbortController();
  const progress = createWakeSignal();
  const writes: Write[] = [];
  let [durable, noted, dropped] = [0, 0, 0];
  let error: string | undefined;
  let isRunning = false;

  const noteError = (next: string | undefined): void => {
    const isChange = (next === undefined) !== (error === undefined);
    error = next;
    if (isChange) deps.onError(next);
  };
  const writeBatch = async (): Promise<void> => {
    const batch = writes.slice(0, MAX_BATCH);
    await deps.database.transaction(async (session) => {
      for (const write of batch) await write(session);
    });
    writes.splice(0, batch.length);
    durable += batch.length;
  };
  const run = async (): Promise<void> => {
    let failures = 0;
    while (writes.length > 0 && !stopped.signal.aborted) {
      try {
        await writeBatch();
        failures = 0;
        noteError(undefined);
        progress.wake();
      } catch (thrown) {
        noteError(errorText(thrown));
        await deps.clock
          .sleep(backoffMs(failures++, RETRY, deps.random), stopped.signal)
          .catch(() => undefined);
      }
    }
    isRunning = false;
  };
  const push = (write: Write): void => {
    writes.push(write);
    noted += 1;
    if (isRunning) return;
    isRunning = true;
    // In a microtask: the writes of one step of the program travel in one transaction.
    queueMicrotask(() => void run());
  };
  return {
    push,
    offer: (write) => {
      if (writes.length < MAX_OFFERED) push(write);
      else dropped += 1;
    },
    flushed: async (signal) => {
      const upTo = noted;
      for (;;) {
        if (durable >= upTo) return;
        await progress.next(signal);
      }
    },
    status: () => ({ pending: writes.length, dropped, error }),
    stop: () => stopped.abort(new Error("the store is closed")),
  };
}
