import { raceAbort } from "../../base/abort.ts";

/** Lets work through one at a time, in the order of arrival. */
export type Turnstile = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Creates a turnstile. Whoever waits leaves with the signal's reason when it fires. */
export function createTurnstile(): Turnstile {
  let last: Promise<void> = Promise.resolve();
  return async (work, signal) => {
    const before = last;
    let leave = nobodyWaits;
    last = new Promise((resolve) => {
      leave = resolve;
    });
    try {
      await raceAbort(before, signal);
      return await work();
    } finally {
      // Who gives up while waiting must not let the next one overtake the one before.
      before.then(leave, leave);
    }
  };
}

function nobodyWaits(): void {}
