import { retry, type Tries } from "../base/retry.ts";
import { type BackoffOptions, createWakeSignal } from "../base/waits.ts";
import type { Clock } from "../base/clock.ts";
import { errorText } from "../base/errors.ts";
import type { SqlDatabase, SqlSession } from "./sql-database.ts";

/** One change to the database, which the queue repeats if the transaction fails. */
type Write = (session: SqlSession) => Promise<void>;

interface WriteQueueStatus {
  /** Number of writes that are not yet durable. */
  readonly pending: number;
  /** Number of offered writes dropped since startup, because the queue was full or the database rejected a value. */
  readonly dropped: number;
  /** Error of the last transaction; undefined if it succeeded. */
  readonly error: string | undefined;
}

export type WriteQueue = ReturnType<typeof createWriteQueue>;

export interface WriteQueueDeps {
  readonly database: Pick<SqlDatabase, "transaction">;
  readonly clock: Clock;
  readonly random: () => number;
  /** Returns true for an error after which this process must stop writing; the queue then discards all pending writes. */
  readonly isFinal?: (error: unknown) => boolean;
  /** Called with the error when writes start to fail, and with undefined when they succeed again. */
  readonly onError: (error: string | undefined) => void;
}

/** Maximum number of pending writes made with `offer`. A write may contain several hundred rows. */
const MAX_OFFERED = 200;
/** Maximum number of writes per transaction. Batches save time, because each commit waits once for the disk, whatever its size. */
const MAX_BATCH = 500;
const RETRY: BackoffOptions = { minMs: 100, baseMs: 200, maxMs: 2_000 };

interface PendingWrite {
  readonly write: Write;
  readonly mayDrop: boolean;
}

interface BatchTries extends Tries {
  size: number;
}

/**
 * Creates a queue that writes to a database asynchronously and in order, with many writes per transaction. Adding a write to an
 * idle queue starts a transaction.
 *
 * If the process is killed, only the most recent writes are lost, never a write in the middle. A program that can safely redo its
 * most recent steps therefore loses no data. Before a step that it must not redo, the program waits for `flushed`.
 */
export function createWriteQueue(deps: WriteQueueDeps) {
  const stopped = new AbortController();
  const progress = createWakeSignal();
  const writes: PendingWrite[] = [];
  /** Sequence numbers: of the last added write, and of the last discarded write. */
  let [added, discarded] = [0, 0];
  let dropped = 0;
  let error: string | undefined;
  let isRunning = false;

  const recordError = (next: string | undefined): void => {
    const isChange = (next === undefined) !== (error === undefined);
    error = next;
    if (isChange) deps.onError(next);
  };
  /** Discards all writes that have not been committed yet. */
  const discard = (): void => {
    writes.length = 0;
    discarded = added;
    progress.wake();
  };
  /** Removes a batch from the front of the queue, unless it has already been discarded. */
  const remove = (batch: readonly PendingWrite[]): void => {
    if (writes[0] === batch[0]) writes.splice(0, batch.length);
    progress.wake();
  };
  const tryWrite = async (batch: readonly PendingWrite[]): Promise<unknown> => {
    try {
      await deps.database.transaction(async (session) => {
        for (const { write } of batch) await write(session);
      });
    } catch (thrown) {
      return thrown ?? new Error("the transaction failed");
    }
    return undefined;
  };
  const writeAll = async (tries: BatchTries): Promise<void> => {
    while (writes.length > 0 && !stopped.signal.aborted) {
      const batch = writes.slice(0, tries.size);
      const thrown = await tryWrite(batch);
      recordError(thrown === undefined ? undefined : errorText(thrown));
      if (thrown === undefined) {
        remove(batch);
        [tries.failures, tries.size] = [0, Math.min(MAX_BATCH, tries.size * 2)];
      } else if (deps.isFinal?.(thrown) === true) discard();
      else if (isUnacceptable(thrown) && batch.length > 1) tries.size = 1;
      else if (isUnacceptable(thrown) && batch[0]?.mayDrop === true) {
        // Drop this write: it would fail at every attempt and block all later writes.
        dropped += 1;
        remove(batch);
      } else throw thrown;
    }
    // Reset the flag before anything else, so that the next added write starts a new run.
    isRunning = false;
  };
  const run = (): Promise<void> => {
    const tries = { failures: 0, size: MAX_BATCH };
    const { clock, random } = deps;
    const { signal } = stopped;
    return retry(() => writeAll(tries), { backoff: RETRY, clock, random, signal, tries });
  };
  const add = (write: PendingWrite): void => {
    writes.push(write);
    added += 1;
    if (isRunning) return;
    isRunning = true;
    // Start in a microtask, so that the writes of one program step share a transaction.
    queueMicrotask(() => void run());
  };
  /**
   * Resolves once all writes added before the call are durable. Rejects if any of these writes was discarded, or with the signal's
   * reason on abort.
   */
  const flushed = async (signal: AbortSignal): Promise<void> => {
    const upTo = added;
    for (;;) {
      if (discarded >= upTo && upTo > 0)
        throw new Error(`the store did not accept a write: ${error ?? "it was discarded"}`);
      if (added - writes.length >= upTo) return;
      await progress.next(signal);
    }
  };
  return {
    /** Appends a write that must not be lost. The caller must limit the number of such writes by waiting for `flushed`. */
    push: (write: Write): void => add({ write, mayDrop: false }),
    /** Appends a write that may be lost. If the queue is full, the write is dropped and counted. */
    offer: (write: Write): void => {
      const offered = writes.reduce((sum, { mayDrop }) => sum + (mayDrop ? 1 : 0), 0);
      if (offered < MAX_OFFERED) add({ write, mayDrop: true });
      else dropped += 1;
    },
    flushed,
    discard,
    status: (): WriteQueueStatus => ({ pending: writes.length, dropped, error }),
    /** Stops retrying failed writes, so that writes that are not yet durable are lost. */
    stop: (): void => stopped.abort(new Error("the store is closed")),
  };
}

/** Returns true if the database rejects a value or statement (SQLSTATE 22, 23 and 42), so that a retry would fail too. */
function isUnacceptable(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError) return true;
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^(?:22|23|42)[0-9A-Z]{3}$|^SQLITE_(?:CONSTRAINT|MISMATCH)/.test(code);
}
