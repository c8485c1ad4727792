import type { NodeReading } from "../sources/node-reading.ts";
import { advance, type Baseline, type LedgerStep, relationOf } from "./advance.ts";
import { addCounts, type BlockCounts, isNoBlocks, NO_BLOCKS } from "./block-counts.ts";
import { type Month, splitByMonth } from "./month.ts";

/** Block counts of one chain. */
export interface Ledger {
  /** Absent before the first reading. */
  readonly baseline?: Baseline;
  /** Months without a block are absent. */
  readonly months: ReadonlyMap<Month, BlockCounts>;
  /** Present while two nodes answer in turn. Not stored: after a restart of the watchdog the next change shows them again. */
  readonly conflict?: Conflict;
}

/** Two nodes that answer in turn. */
interface Conflict {
  /** The last reading. */
  readonly last: Baseline;
  /** Last time at which another node answered than before. */
  readonly changedAtMs: number;
}

/** Time after which one node answers alone. */
const SETTLED_MS = 300_000;

/** The ledger before the first reading. */
export const EMPTY_LEDGER: Ledger = { months: new Map() };

/** Result of counting one reading. */
export interface Counting {
  readonly ledger: Ledger;
  /** What the reading added. Undefined while two nodes answer in turn: neither is counted. */
  readonly step: LedgerStep | undefined;
}

/** Counts one reading of the node. */
export function countReading(ledger: Ledger, reading: NodeReading, atMs: number): Counting {
  const conflict = nextConflict(ledger, reading, atMs);
  if (conflict !== undefined) return { ledger: { ...ledger, conflict }, step: undefined };
  const step = advance(ledger.baseline, reading, atMs);
  const months = new Map(ledger.months);
  for (const { month, counts } of splitByMonth(step.counts, step.fromMs, atMs)) {
    if (!isNoBlocks(counts)) months.set(month, addCounts(months.get(month) ?? NO_BLOCKS, counts));
  }
  return { ledger: { baseline: step.baseline, months }, step };
}

/** Returns the conflict after a reading; undefined without one, or when one node has answered alone for long enough. */
function nextConflict(
  { baseline, conflict }: Ledger,
  reading: NodeReading,
  atMs: number,
): Conflict | undefined {
  if (baseline === undefined) return undefined;
  const last = { ...reading, atMs };
  if (relationOf(conflict?.last ?? baseline, reading) === "other") return { last, changedAtMs: atMs };
  if (conflict === undefined || atMs - conflict.changedAtMs >= SETTLED_MS) return undefined;
  return { last, changedAtMs: conflict.changedAtMs };
}

/** Returns the counts of one month; zero for a month without blocks. */
export function countsOf(ledger: Ledger, month: Month): BlockCounts {
  return ledger.months.get(month) ?? NO_BLOCKS;
}
