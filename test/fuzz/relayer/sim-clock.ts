import { abortReason, type Clock } from "../../../src/base/clock.ts";
import { onAbort } from "../../../src/base/on-abort.ts";

/** Simulated time: it passes only while it is run, and stops at each instant at which somebody wakes. */
export interface SimClock extends Clock {
  /** Lets time pass up to `ms`. */
  readonly runUntil: (ms: number) => Promise<void>;
  readonly sleeping: () => number;
}

interface Sleeper {
  readonly atMs: number;
  readonly order: number;
  readonly wake: () => void;
}

/** Creates a clock at `startMs`. Sleepers of one instant wake in the order in which they lay down. */
export function createSimClock(startMs: number): SimClock {
  let now = startMs;
  let order = 0;
  const sleepers = new Set<Sleeper>();
  const next = (untilMs: number): Sleeper | undefined => {
    let first: Sleeper | undefined;
    for (const one of sleepers) {
      if (one.atMs > untilMs) continue;
      if (
        first === undefined ||
        one.atMs < first.atMs ||
        (one.atMs === first.atMs && one.order < first.order)
      )
        first = one;
    }
    return first;
  };
  return {
    nowMs: () => now,
    monotonicMs: () => now,
    sleeping: () => sleepers.size,
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(abortReason(signal));
          return;
        }
        const sleeper: Sleeper = {
          atMs: now + Math.max(0, delayMs),
          order: order++,
          wake: () => {
            sleepers.delete(sleeper);
            forget();
            resolve();
          },
        };
        sleepers.add(sleeper);
        const forget = onAbort(signal, (reason) => {
          sleepers.delete(sleeper);
          reject(reason);
        });
      }),
    runUntil: async (ms) => {
      for (;;) {
        await settled();
        const sleeper = next(ms);
        if (sleeper === undefined) break;
        now = Math.max(now, sleeper.atMs);
        sleeper.wake();
      }
      now = Math.max(now, ms);
    },
  };
}

/** Everything that can go on without time has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
