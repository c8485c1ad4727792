import type { Baseline, LedgerStep } from "./advance.ts";
import {
  addCounts,
  type BlockCounts,
  isNoBlocks,
  NO_BLOCKS,
  partOfCounts,
  subtractCounts,
} from "./block-counts.ts";
import type { Cursor } from "./cursor.ts";

/** What one node added in one poll. */
export interface NodeStep {
  readonly node: string;
  readonly step: LedgerStep;
  /** Its reading before; undefined at its first one. */
  readonly before: Baseline | undefined;
}

/** The node that counts in this poll. */
interface ChosenStep {
  readonly node: string;
  readonly step: LedgerStep;
  /** Blocks that are not counted yet. */
  readonly counts: BlockCounts;
  /** Height before the first of them; undefined when the node reports no height. */
  readonly fromHeight: bigint | undefined;
}

/** Chooses the node that counts; see `countPoll`. Undefined when no node has anything new. */
export function chooseStep(steps: readonly NodeStep[], cursor: Cursor | undefined): ChosenStep | undefined {
  const candidates = steps.flatMap((step) => {
    const part = uncountedPart(step, cursor);
    return part === undefined ? [] : [{ ...step, ...part }];
  });
  // Before the first reading there is nothing to compare: the first node that makes calls counts.
  if (cursor === undefined) return candidates.find(({ counts }) => !isNoBlocks(counts)) ?? candidates[0];
  return candidates.reduce<ChosenStep | undefined>((best, candidate) => {
    if (best === undefined) return candidate;
    const difference = compareShares(candidate.counts, best.counts);
    return difference > 0 || (difference === 0 && candidate.node === cursor.node) ? candidate : best;
  }, undefined);
}

/** Greater than 0 when `a` has the greater share of good blocks. A node that made no call has the least. */
function compareShares(a: BlockCounts, b: BlockCounts): number {
  const [totalA, totalB] = [a.good + a.bad + a.unknown, b.good + b.bad + b.unknown];
  if (totalA === 0n || totalB === 0n) return Number(totalA > 0n) - Number(totalB > 0n);
  const difference = a.good * totalB - b.good * totalA;
  if (difference === 0n) return 0;
  return difference > 0n ? 1 : -1;
}

type UncountedPart = Pick<ChosenStep, "counts" | "fromHeight">;

/** The part of a node's step that the cursor has not passed; undefined without one. */
function uncountedPart(
  { node, step, before }: NodeStep,
  cursor: Cursor | undefined,
): UncountedPart | undefined {
  const whole = { counts: step.counts, fromHeight: before?.height };
  // The node that counted last continues where it was: its own counters decide, to the block.
  if (cursor === undefined || (node === cursor.node && before?.atMs === cursor.atMs)) return whole;
  const { height } = step.baseline;
  if (cursor.height === undefined || height === undefined) return before === undefined ? undefined : whole;
  if (height <= cursor.height) return undefined;
  // A node that was not read before shows how high the chain is, but not what happened to the blocks up to there.
  const from = before?.height ?? height;
  const known = before === undefined ? NO_BLOCKS : step.counts;
  const overlap = cursor.height - from;
  if (overlap <= 0n)
    return { counts: addCounts(known, { ...NO_BLOCKS, unknown: -overlap }), fromHeight: cursor.height };
  const counted = partOfCounts(known, overlap, height - from);
  return { counts: subtractCounts(known, counted), fromHeight: cursor.height };
}
