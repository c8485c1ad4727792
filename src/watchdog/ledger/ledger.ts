import type { NodeReading } from "../sources/node-reading.ts";
import { advance, type CounterMark, type LedgerStep } from "./advance.ts";
import { addCounts, type BlockCounts, isNoBlocks, NO_BLOCKS } from "./block-counts.ts";
import { type Month, shareByMonth } from "./month.ts";

/** The count of one chain so far. */
export interface Ledger {
  /** Absent before the first reading. */
  readonly mark?: CounterMark;
  readonly months: ReadonlyMap<Month, BlockCounts>;
}

/** A ledger that has counted nothing. */
export const EMPTY_LEDGER: Ledger = { months: new Map() };

/** Counts one reading of the node; gives the new ledger and what was added. */
export function countReading(
  ledger: Ledger,
  reading: NodeReading,
  atMs: number,
): { readonly ledger: Ledger; readonly step: LedgerStep } {
  const step = advance(ledger.mark, reading, atMs);
  const months = new Map(ledger.months);
  for (const { month, counts } of shareByMonth(step.counts, step.fromMs, atMs)) {
    if (!isNoBlocks(counts)) months.set(month, addCounts(months.get(month) ?? NO_BLOCKS, counts));
  }
  return { ledger: { mark: step.mark, months }, step };
}

/** Blocks of one month; none for a month that the ledger does not have. */
export function countsOf(ledger: Ledger, month: Month): BlockCounts {
  return ledger.months.get(month) ?? NO_BLOCKS;
}
