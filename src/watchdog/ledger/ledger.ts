import type { NodeReading } from "../sources/node-reading.ts";
import { advance, type Baseline, type LedgerStep } from "./advance.ts";
import { addCounts, type BlockCounts, isNoBlocks, NO_BLOCKS } from "./block-counts.ts";
import { type Month, splitByMonth } from "./month.ts";

/** Block counts of one chain. */
export interface Ledger {
  /** Absent before the first reading. */
  readonly baseline?: Baseline;
  /** Months without a block are absent. */
  readonly months: ReadonlyMap<Month, BlockCounts>;
}

/** The ledger before the first reading. */
export const EMPTY_LEDGER: Ledger = { months: new Map() };

/** Counts one reading of the node. Returns the new ledger and the step that it added. */
export function countReading(
  ledger: Ledger,
  reading: NodeReading,
  atMs: number,
): { readonly ledger: Ledger; readonly step: LedgerStep } {
  const step = advance(ledger.baseline, reading, atMs);
  const months = new Map(ledger.months);
  for (const { month, counts } of splitByMonth(step.counts, step.fromMs, atMs)) {
    if (!isNoBlocks(counts)) months.set(month, addCounts(months.get(month) ?? NO_BLOCKS, counts));
  }
  return { ledger: { baseline: step.baseline, months }, step };
}

/** Returns the counts of one month; zero for a month without blocks. */
export function countsOf(ledger: Ledger, month: Month): BlockCounts {
  return ledger.months.get(month) ?? NO_BLOCKS;
}
