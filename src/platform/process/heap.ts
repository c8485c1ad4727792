import { setFlagsFromString } from "node:v8";

/**
 * Lets the heap grow by only half of its live size between garbage collections. V8's default allows several times the live size: a
 * relayer with 5,000 queries would take 370 MB instead of 240 MB without being faster. Call this function before the daemon starts,
 * in a process that runs a single daemon.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString("--heap-growing-percent=50");
}
