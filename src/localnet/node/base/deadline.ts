import { type Interrupt, InterruptedError } from "../../chain/runtime/gas.ts";

/**
 * Default maximum processor time for a query or simulation. While one runs, the node makes no blocks and answers no other
 * request. A block's gas alone would let an endless loop run for six seconds.
 */
export const DEFAULT_QUERY_TIME_MS = 500;

/** Clocks that a deadline reads, in ms. */
export interface DeadlineDeps {
  readonly monotonicMs: () => number;
  /** Processor time that this process has used. */
  readonly cpuMs: () => number;
}

const SYSTEM: DeadlineDeps = {
  monotonicMs: () => performance.now(),
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};

/**
 * Returns a function that throws `InterruptedError` once this process has used more than `limitMs` of processor time since the
 * call. Other processes' load does not count, so that a request ends in the same way on a busy machine.
 */
export function createDeadline(limitMs: number, deps: DeadlineDeps = SYSTEM): Interrupt {
  const startMs = deps.monotonicMs();
  const startCpuMs = deps.cpuMs();
  return () => {
    // Check the elapsed time first, because it is faster to read and, without other threads, never below the processor time.
    if (deps.monotonicMs() - startMs < limitMs || deps.cpuMs() - startCpuMs < limitMs) return;
    throw new InterruptedError(
      `the node ended this request after ${limitMs} ms of processor time, the limit for queries and simulations (query_time in the chain file)`,
    );
  };
}
