/**
 * Flags for processes that run beside as many others as there are cores. V8's own threads, which compile and collect garbage, gain nothing
 * there and take a fifth more processor time in all. With a larger budget, only functions that run long are optimized: the tests' others
 * end before the time to optimize them has paid off.
 */
export const PROCESS_FLAGS: readonly string[] = ["--single-threaded", "--interrupt-budget=600000"];

/**
 * Flags for Vitest's workers. A larger young generation is collected less often, which saves a tenth of the processor time. All functions are
 * compiled to machine code at their first call, because too few are optimized later.
 */
export const WORKER_FLAGS: readonly string[] = [
  ...PROCESS_FLAGS,
  "--min-semi-space-size=128",
  "--max-semi-space-size=128",
  "--always-sparkplug",
];
