import { raceAbort } from "../../../platform/base/abort.ts";

/** Runs one piece of work at a time, in the order of the calls. */
export interface Mutex {
  /** Waits for its turn and runs `work`. Rejects with the signal's reason when the signal aborts before that. */
  readonly runExclusive: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;
}

/** Creates an unlocked mutex. */
export function createMutex(): Mutex {
  let last: Promise<void> = Promise.resolve();
  return {
    runExclusive: (work, signal) => {
      const previous = last;
      const result = raceAbort(previous, signal).then(work);
      // An aborted caller leaves while `previous` may still run, so its successor must wait for both.
      last = Promise.allSettled([previous, result]).then(() => undefined);
      return result;
    },
  };
}
