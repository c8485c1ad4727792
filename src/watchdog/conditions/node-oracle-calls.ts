import type { LedgerStep } from "../ledger/advance.ts";

/** When the node was last seen to count a good and a bad oracle call, wall clock, ms. */
export interface NodeEvidence {
  readonly goodMs: number | undefined;
  readonly badMs: number | undefined;
}

/** Nothing seen yet. */
export const NO_EVIDENCE: NodeEvidence = { goodMs: undefined, badMs: undefined };

/**
 * Adds what a step of the ledger shows. A step over more than `windowMs` (the first one, or one after a gap) tells
 * nothing about now. `step` is undefined when the node could not be read.
 */
export function addEvidence(
  before: NodeEvidence,
  step: LedgerStep | undefined,
  nowMs: number,
  windowMs: number,
): NodeEvidence {
  if (step === undefined || nowMs - step.fromMs > windowMs) return before;
  return {
    goodMs: step.counts.good > 0n ? nowMs : before.goodMs,
    badMs: step.counts.bad > 0n ? nowMs : before.badMs,
  };
}

/**
 * Whether the sidecar serves the node: within the window its calls have succeeded, and none has failed since. Looks may
 * be more frequent than blocks, so one without a block says nothing by itself.
 */
export function isNodeServed({ goodMs, badMs }: NodeEvidence, nowMs: number, windowMs: number): boolean {
  if (goodMs === undefined || nowMs - goodMs > windowMs) return false;
  return badMs === undefined || goodMs > badMs;
}
