import type { LedgerStep } from "../ledger/advance.ts";

/** Times at which the node's counters last grew, wall clock, ms. Undefined: no growth since the start of the watchdog. */
export interface NodeOracleCalls {
  readonly lastGoodMs: number | undefined;
  readonly lastBadMs: number | undefined;
}

/** No oracle call so far. */
export const NO_ORACLE_CALLS: NodeOracleCalls = { lastGoodMs: undefined, lastBadMs: undefined };

/** Adds the calls of one ledger step. `step` is undefined when the node could not be read. */
export function recordOracleCalls(
  calls: NodeOracleCalls,
  step: LedgerStep | undefined,
  nowMs: number,
  windowMs: number,
): NodeOracleCalls {
  // A step over a long time (the first reading, or one after a gap) does not say when its calls were made.
  if (step === undefined || nowMs - step.fromMs > windowMs) return calls;
  return {
    lastGoodMs: step.counts.good > 0n ? nowMs : calls.lastGoodMs,
    lastBadMs: step.counts.bad > 0n ? nowMs : calls.lastBadMs,
  };
}

/** Whether the sidecar answers the node: a call succeeded within the window, and none has failed since. */
export function isNodeServed(
  { lastGoodMs, lastBadMs }: NodeOracleCalls,
  nowMs: number,
  windowMs: number,
): boolean {
  // Polls can be more frequent than blocks. A poll without a new block adds no call, so times are compared, not counts.
  if (lastGoodMs === undefined || nowMs - lastGoodMs > windowMs) return false;
  // Equal times: one poll saw both results in unknown order. The failure counts, since it can raise the alert.
  return lastBadMs === undefined || lastGoodMs > lastBadMs;
}
