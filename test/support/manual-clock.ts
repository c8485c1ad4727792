import { abortReason, type Clock } from "../../src/base/clock.ts";

/** A clock that stands still until it is told to go on. */
export interface ManualClock extends Clock {
  /** Lets time pass; sleepers whose time has come wake, and what they then do runs. */
  readonly advance: (ms: number) => Promise<void>;
  /** Sleepers that wait. */
  readonly sleeping: () => number;
}

/** Creates a clock at the given wall time. */
export function createManualClock(startMs: number): ManualClock {
  let now = startMs;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    nowMs: () => now,
    monotonicMs: () => now,
    sleeping: () => sleepers.size,
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = {
          at: now + delayMs,
          wake: () => {
            sleepers.delete(sleeper);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal.addEventListener("abort", () => {
          sleepers.delete(sleeper);
          reject(abortReason(signal));
        });
      }),
    advance: async (ms) => {
      now += ms;
      for (const sleeper of sleepers) if (sleeper.at <= now) sleeper.wake();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
