import { type Interrupt, InterruptedError } from "../../chain/runtime/gas.ts";

/**
 * Default CPU time limit for a query or simulation, during which the node makes no blocks and handles no other requests. Without
 * this limit, a contract's endless loop could run for six seconds before it exceeds the block gas limit.
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
 * time does not advance while other processes run, so the limit doesn't depend on the machine's load.
 */
export function createDeadline(limitMs: number, deps: DeadlineDeps = SYSTEM): Interrupt {
  const startMs = deps.monotonicMs();
  const startCpuMs = deps.cpuMs();
  return () => {
    // Check the elapsed time first, because it is faster to read and, in a single-threaded process, at least as long as the CPU time.
    if (deps.monotonicMs() - startMs < limitMs || deps.cpuMs() - startCpuMs < limitMs) return;
    throw new InterruptedError(
      `the node ended this request after ${limitMs} ms of processor time, the limit for queries and simulations (query_time in the chain file)`,
    );
  };
}
