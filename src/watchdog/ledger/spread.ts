import type { MonthEdge } from "../observation.ts";
import { type BlockCounts, isNoBlocks, partOfCounts, subtractCounts } from "./block-counts.ts";
import { monthOf, monthStartMs, nextMonthMs } from "./month.ts";

/** Blocks that were made in a stretch of time. */
export interface Stretch {
  readonly counts: BlockCounts;
  readonly fromMs: number;
  readonly toMs: number;
  /** Heights before the first and of the last block. */
  readonly heights?: { readonly from: bigint; readonly to: bigint } | undefined;
  /** First block of the month of `toMs`. */
  readonly edge?: MonthEdge | undefined;
}

/** Part of a count with its time. */
export interface StretchPart {
  readonly counts: BlockCounts;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Splits a stretch by month. The sum of the parts is the input. With the height of the first block of the new month, the
 * split is by blocks; then it is exact when all blocks have one result. Otherwise it is in proportion to the time. When
 * `fromMs` is after `toMs` (the clock was set back), all blocks belong to the month of `toMs`.
 */
export function splitByHeight(stretch: Stretch): readonly StretchPart[] {
  const { counts, fromMs, toMs } = stretch;
  const parts: StretchPart[] = [];
  let remaining = counts;
  for (let startMs = fromMs; monthOf(startMs) < monthOf(toMs); startMs = nextMonthMs(startMs)) {
    const edgeMs = nextMonthMs(startMs);
    const share = shareByHeight(stretch, edgeMs) ?? shareByTime(stretch, edgeMs - startMs);
    // One millisecond before the edge: the end of the month that the blocks belong to.
    if (!isNoBlocks(share)) parts.push({ counts: share, fromMs: startMs, toMs: edgeMs - 1 });
    remaining = subtractCounts(remaining, share);
  }
  // Shares are rounded down. The last month gets the remainder, so that no block is lost.
  const startMs = Math.min(toMs, Math.max(fromMs, monthStartMs(monthOf(toMs))));
  if (!isNoBlocks(remaining)) parts.push({ counts: remaining, fromMs: startMs, toMs });
  return parts;
}

/** Blocks before the first block of the new month; undefined when the stretch does not begin in the month before it. */
function shareByHeight(
  { counts, fromMs, toMs, heights, edge }: Stretch,
  edgeMs: number,
): BlockCounts | undefined {
  if (heights === undefined || edge === undefined) return undefined;
  if (edge.month !== monthOf(toMs) || edge.month !== monthOf(edgeMs)) return undefined;
  if (nextMonthMs(fromMs) !== edgeMs || heights.to <= heights.from) return undefined;
  const blocks = heights.to - heights.from;
  const before = clamp(edge.firstHeight - 1n - heights.from, blocks);
  const share = partOfCounts(counts, before, blocks);
  // Rounding down must not lose a block. Most blocks are good.
  const total = ((counts.good + counts.bad + counts.unknown) * before) / blocks;
  const rounded = total - share.good - share.bad - share.unknown;
  return { ...share, good: clamp(share.good + rounded, counts.good) };
}

function shareByTime({ counts, fromMs, toMs }: Stretch, partMs: number): BlockCounts {
  return partOfCounts(counts, BigInt(Math.round(partMs)), BigInt(Math.round(toMs - fromMs)));
}

function clamp(value: bigint, most: bigint): bigint {
  if (value < 0n) return 0n;
  return value > most ? most : value;
}

/** Spreads a count evenly over the spans between two times. The sum of the shares is the count. */
export function spread(
  counts: BlockCounts,
  fromMs: number,
  toMs: number,
  spanMs: number,
): readonly { readonly startMs: number; readonly counts: BlockCounts }[] {
  const totalMs = BigInt(Math.round(toMs - fromMs));
  const upTo = (atMs: number): BlockCounts =>
    atMs >= toMs ? counts : partOfCounts(counts, BigInt(Math.round(atMs - fromMs)), totalMs);
  const shares: { startMs: number; counts: BlockCounts }[] = [];
  let booked = partOfCounts(counts, 0n, 1n);
  for (let startMs = Math.floor(fromMs / spanMs) * spanMs; startMs <= toMs; startMs += spanMs) {
    const sum = upTo(startMs + spanMs);
    shares.push({ startMs, counts: subtractCounts(sum, booked) });
    booked = sum;
  }
  return shares;
}
