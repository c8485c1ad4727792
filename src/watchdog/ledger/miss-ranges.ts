import { MINUTE_MS } from "../../platform/base/time.ts";
import type { BlockCounts } from "./block-counts.ts";

/**
 * Blocks with a bad one among them, as consecutive polls counted them. A range lies in the minute of its end, and so in one hour and one
 * day: the bad blocks of its ranges add up to those of a rollup.
 */
export interface MissRange {
  /** Times of the blocks before the first and at the last one, ms. */
  readonly fromMs: number;
  readonly toMs: number;
  /** First and last block. Absent when the node reports no height. */
  readonly blocks?: { readonly from: bigint; readonly to: bigint };
  readonly good: bigint;
  readonly bad: bigint;
}

/** Ranges that stay in memory. The state file has more. */
export const MAX_RECENT_RANGES = 1000;

/** Where a count ended: the time and height of its last block. */
interface CountedTo {
  readonly timeMs: number;
  readonly height?: bigint;
}

/** Longest time between two readings whose blocks are one range: a rollup counts those of a longer one evenly over its time. */
const SHORT_MS = MINUTE_MS;

/** Adds the blocks between two readings. Good ones alone add nothing. Consecutive ranges of one minute without a good block are joined. */
export function addMisses(
  ranges: readonly MissRange[],
  { good, bad }: BlockCounts,
  from: CountedTo | undefined,
  to: CountedTo | undefined,
): readonly MissRange[] {
  if (bad === 0n || from === undefined || to === undefined) return ranges;
  if (to.timeMs < from.timeMs || to.timeMs - from.timeMs > SHORT_MS) return ranges;
  const hasBlocks = from.height !== undefined && to.height !== undefined && to.height > from.height;
  const range: MissRange = {
    fromMs: from.timeMs,
    toMs: to.timeMs,
    ...(hasBlocks ? { blocks: { from: from.height + 1n, to: to.height } } : {}),
    good,
    bad,
  };
  const last = ranges.at(-1);
  if (last === undefined || !continues(last, range)) return [...ranges, range].slice(-MAX_RECENT_RANGES);
  const joined: MissRange = {
    fromMs: last.fromMs,
    toMs: range.toMs,
    ...(last.blocks === undefined || range.blocks === undefined
      ? {}
      : { blocks: { from: last.blocks.from, to: range.blocks.to } }),
    good: 0n,
    bad: last.bad + range.bad,
  };
  return [...ranges.slice(0, -1), joined];
}

/** Moves the ranges that a wrong clock dated after `timeMs` to it. Their starts stay different: they identify them. */
export function correctMisses(ranges: readonly MissRange[], timeMs: number): readonly MissRange[] {
  const later = ranges.filter(({ toMs }) => toMs > timeMs).length;
  return ranges.map((range, index) =>
    range.toMs <= timeMs ? range : { ...range, fromMs: timeMs - later + index, toMs: timeMs },
  );
}

function continues(last: MissRange, next: MissRange): boolean {
  const isSameMinute = Math.floor(last.toMs / MINUTE_MS) === Math.floor(next.toMs / MINUTE_MS);
  const hasNext =
    last.blocks === undefined || next.blocks === undefined
      ? last.blocks === next.blocks && last.toMs === next.fromMs
      : last.blocks.to + 1n === next.blocks.from;
  return isSameMinute && hasNext && last.good === 0n && next.good === 0n;
}

/** Returns the ranges whose last block is in [fromMs, toMs). */
export function missesWithin(
  ranges: readonly MissRange[],
  fromMs: number,
  toMs: number,
): readonly MissRange[] {
  return ranges.filter((range) => range.toMs >= fromMs && range.toMs < toMs);
}
