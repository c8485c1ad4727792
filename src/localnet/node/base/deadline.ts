import { type Interrupt, InterruptedError } from "../../chain/runtime/gas.ts";

/**
 * Default CPU time limit for a query or simulation. While either is running, the node makes no blocks and handles no other
 * requests. If only the block gas limit applied, an endless loop could run for six seconds.
 */
export const DEFAULT_QUERY_TIME_MS = 500;

/** Clocks with which a deadline measures elapsed time and CPU time, in ms. */
export interface DeadlineDeps {
  readonly monotonicMs: () => number;
  /** CPU time used by this process so far. */
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
 * Returns a function that throws `InterruptedError` once this process has used more than `limitMs` of CPU time since the call. CPU
 * time excludes other processes, so the machine's load does not matter.
 */
export function createDeadline(limitMs: number, deps: DeadlineDeps = SYSTEM): Interrupt {
  const startMs = deps.monotonicMs();
  const startCpuMs = deps.cpuMs();
  return () => {
    // Check the elapsed time first, because it is faster to read and, without other threads, never less than the CPU time.
    if (deps.monotonicMs() - startMs < limitMs || deps.cpuMs() - startCpuMs < limitMs) return;
    throw new InterruptedError(
      `the node ended this request after ${limitMs} ms of processor time, the limit for queries and simulations (query_time in the chain file)`,
    );
  };
}
