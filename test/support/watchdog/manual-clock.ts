import { abortReason, type Clock } from "../../../src/base/clock.ts";

/** A clock that only moves when told to; sleepers wake in the order of their times. */
export interface ManualClock extends Clock {
  /** Moves on, waking whoever is due; what they do runs to its next wait before time goes on. */
  readonly advance: (ms: number) => Promise<void>;
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** Creates a clock at a wall-clock time. */
export function createManualClock(startMs: number): ManualClock {
  let nowMs = startMs;
  const sleepers = new Set<Sleeper>();
  const sleep = (delayMs: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortReason(signal));
        return;
      }
      const onAbort = (): void => {
        sleepers.delete(sleeper);
        reject(abortReason(signal));
      };
      const wake = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const sleeper = { dueMs: nowMs + delayMs, wake };
      sleepers.add(sleeper);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  const advance = async (ms: number): Promise<void> => {
    const endMs = nowMs + ms;
    await settled();
    for (;;) {
      const [next] = [...sleepers].toSorted((a, b) => a.dueMs - b.dueMs);
      if (next === undefined || next.dueMs > endMs) break;
      nowMs = Math.max(nowMs, next.dueMs);
      sleepers.delete(next);
      next.wake();
      await settled();
    }
    nowMs = endMs;
  };
  return { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep, advance };
}

/** Everything that needs no timer and no socket has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
