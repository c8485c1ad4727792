/** Where the time comes from; tests bring their own. */
export interface Clock {
  /** Wall-clock time, ms since the Unix epoch. */
  readonly nowMs: () => number;
  /** Time that never steps back, ms from an arbitrary origin: for durations. */
  readonly monotonicMs: () => number;
  /** Resolves after `delayMs`; rejects with the signal's reason when it is aborted first. */
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

/** The machine's clock. Its sleep keeps the process alive. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (delayMs, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortReason(signal));
        return;
      }
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(abortReason(signal));
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      }, delayMs);
      signal.addEventListener("abort", onAbort, { once: true });
    }),
};

/** The signal's reason as an Error. */
export function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error("aborted", { cause: signal.reason });
}
