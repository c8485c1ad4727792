import { abortReason, type Clock } from "../../../src/base/clock.ts";

/** A clock that stands still until it is moved; a sleep moves it, so that loops run at once. */
export interface SteppingClock extends Clock {
  readonly advance: (ms: number) => void;
  /** What was slept, in order, ms. */
  readonly sleeps: readonly number[];
}

/** Creates a clock at 0 whose sleeps pass at once; `onSleep` is called in each. */
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
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) throw abortReason(signal);
    },
    advance: (ms) => {
      nowMs += ms;
    },
    sleeps,
  };
}
