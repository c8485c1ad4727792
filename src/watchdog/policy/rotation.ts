import type { MonthRecord } from "../ledger/ledger-view.ts";
import type { Policy, RotationRisk } from "./assessment.ts";
import { successRate, tierOf } from "./reward-tier.ts";
import { type Month, monthsBefore } from "../ledger/month.ts";

/** Months below the lower boundary in a row after which a validator may be rotated out. */
const IN_A_ROW = 2;
/** Months below it within `WINDOW` months after which it may be. */
const IN_WINDOW = 3;
const WINDOW = 6;

/**
 * Counts the closed months without a reward before `current`. A month without a record, or whose blocks are mostly
 * estimated, does not count as below and ends a row.
 */
export function rotationRisk(current: Month, records: readonly MonthRecord[], policy: Policy): RotationRisk {
  const below = new Set(records.filter((record) => isBelow(record, policy)).map(({ month }) => month));
  const before = monthsBefore(current, WINDOW);
  const row = before.findIndex((month) => !below.has(month));
  const inARow = row < 0 ? WINDOW : row;
  const inLast = (count: number): number => before.slice(0, count).filter((month) => below.has(month)).length;
  return {
    inARow,
    inWindow: inLast(WINDOW - 1),
    state: riskOf(inARow, inLast),
    months: before.filter((month) => below.has(month)).toReversed(),
  };
}

function riskOf(inARow: number, inLast: (count: number) => number): RotationRisk["state"] {
  if (inARow >= IN_A_ROW || inLast(WINDOW) >= IN_WINDOW) return "due";
  return inARow >= IN_A_ROW - 1 || inLast(WINDOW - 1) >= IN_WINDOW - 1 ? "next" : "none";
}

function isBelow({ counts, estimated }: MonthRecord, policy: Policy): boolean {
  const rate = successRate(counts);
  if (rate === undefined || (estimated.good + estimated.bad) * 2n > rate.total) return false;
  return tierOf(rate, policy.least) === "none";
}
