import { abortReason, onAbort, type Sleeper } from "./abort.ts";

export interface Clock extends Sleeper {
  /** Wall-clock time, ms since the Unix epoch. */
  readonly nowMs: () => number;
  /** Monotonic time for measuring durations, ms from an arbitrary origin. */
  readonly monotonicMs: () => number;
}

/** The system clock, whose pending sleeps keep the process alive. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (delayMs, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortReason(signal));
        return;
      }
      const timer = setTimeout(() => {
        unwatch();
        resolve();
      }, delayMs);
      const unwatch = onAbort(signal, (reason) => {
        clearTimeout(timer);
        reject(reason);
      });
    }),
};
