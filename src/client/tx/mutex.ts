import { raceAbort } from "../../base/abort.ts";

/** Runs one piece of work at a time, in the order of the calls. */
export interface Mutex {
  /** Waits for its turn and runs `work`. Rejects with the signal's reason when the signal aborts before that. */
  readonly runExclusive: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;
}

/** Creates an unlocked mutex. */
export function createMutex(): Mutex {
  let last: Promise<void> = Promise.resolve();
  return {
    runExclusive: async (work, signal) => {
      const previous = last;
      let release = (): void => {};
      last = new Promise((resolve) => {
        release = resolve;
      });
      try {
        await raceAbort(previous, signal);
        return await work();
      } finally {
        // An aborted caller leaves while `previous` may still run. Its successor must wait for `previous` too.
        previous.then(release, release);
      }
    },
  };
}
