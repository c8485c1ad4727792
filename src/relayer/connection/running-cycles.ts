/** Cycles of one worker that read and prove at the same time. */
export interface RunningCycles {
  readonly count: () => number;
  /** Number of queries of all of them. */
  readonly queries: () => number;
  /** Starts a cycle over this number of queries. Its `turn` resolves when all cycles before it have ended. */
  readonly start: (queries: number, run: (turn: Promise<void>) => Promise<void>) => void;
  /** Returns the error of a cycle that has ended, once. */
  readonly takeError: () => Error | undefined;
  /** Resolves when all cycles have ended. */
  readonly ended: () => Promise<void>;
}

/** Creates a set without cycles. Calls `onEnd` after each. */
export function createRunningCycles(onEnd: () => void): RunningCycles {
  let count = 0;
  let queries = 0;
  let last = Promise.resolve();
  let error: Error | undefined;
  const toEnd = async (running: Promise<void>, own: number): Promise<void> => {
    try {
      await running;
    } catch (thrown) {
      error = thrown instanceof Error ? thrown : new Error("a cycle failed", { cause: thrown });
    }
    count -= 1;
    queries -= own;
    onEnd();
  };
  return {
    count: () => count,
    queries: () => queries,
    start: (own, run) => {
      count += 1;
      queries += own;
      const before = last;
      const end = toEnd(run(before), own);
      // A cycle may fail before the one in front of it ends.
      last = before.then(() => end);
    },
    takeError: () => {
      const taken = error;
      error = undefined;
      return taken;
    },
    ended: () => last,
  };
}
