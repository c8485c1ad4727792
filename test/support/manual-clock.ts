import { abortReason, onAbort, type WaitSignal } from "../../src/platform/base/abort.ts";
import { type Clock } from "../../src/platform/base/clock.ts";

/** A clock whose time moves only when the test moves it. Wall-clock and monotonic time are the same. */
export interface ManualClock extends Clock {
  /** Moves time forward by `ms`. Stops at each instant at which a sleeper wakes, until the woken code sleeps again. */
  readonly advance: (ms: number) => Promise<void>;
  /** As `advance`, up to the wall-clock time `ms`. */
  readonly runUntil: (ms: number) => Promise<void>;
  /** Number of pending sleeps. */
  readonly sleeping: () => number;
}

interface PendingSleep {
  readonly atMs: number;
  /** Sleeps of one instant end in the order in which they began. */
  readonly order: number;
  readonly wake: () => void;
}

/** Creates a clock at `startMs`. */
export function createManualClock(startMs: number): ManualClock {
  let now = startMs;
  let order = 0;
  const pending = new Set<PendingSleep>();
  const sleep = (delayMs: number, signal: WaitSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortReason(signal));
        return;
      }
      const entry: PendingSleep = {
        atMs: now + Math.max(0, delayMs),
        order: order++,
        wake: () => {
          pending.delete(entry);
          unwatch();
          resolve();
        },
      };
      pending.add(entry);
      const unwatch = onAbort(signal, (reason) => {
        pending.delete(entry);
        reject(reason);
      });
    });
  const runUntil = async (ms: number): Promise<void> => {
    for (;;) {
      await settled();
      const next = earliest(pending, ms);
      if (next === undefined) break;
      now = Math.max(now, next.atMs);
      next.wake();
    }
    now = Math.max(now, ms);
  };
  return {
    nowMs: () => now,
    monotonicMs: () => now,
    sleeping: () => pending.size,
    sleep,
    runUntil,
    advance: (ms) => runUntil(now + ms),
  };
}

/** The next pending sleep that ends by `untilMs`. */
function earliest(pending: ReadonlySet<PendingSleep>, untilMs: number): PendingSleep | undefined {
  let first: PendingSleep | undefined;
  for (const one of pending) {
    if (one.atMs > untilMs) continue;
    const isEarlier =
      first === undefined || one.atMs < first.atMs || (one.atMs === first.atMs && one.order < first.order);
    if (isEarlier) first = one;
  }
  return first;
}

/** Resolves when all code that waits for neither time nor sockets has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** A clock whose sleeps move the time and end at once, so that loops run without a test that moves the clock. */
export interface SteppingClock extends Clock {
  readonly advance: (ms: number) => void;
  /** Durations of all sleeps in order, ms. */
  readonly sleeps: readonly number[];
}

/** Creates a stepping clock at 0. Every sleep calls `onSleep`. */
export function createSteppingClock(onSleep: () => void = () => {}): SteppingClock {
  let nowMs = 0;
  const sleeps: number[] = [];
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (delayMs, signal) => {
      if (signal.aborted) throw abortReason(signal);
      sleeps.push(delayMs);
      nowMs += delayMs;
      onSleep();
      await settled();
      if (signal.aborted) throw abortReason(signal);
    },
    advance: (ms) => {
      nowMs += ms;
    },
    sleeps,
  };
}
