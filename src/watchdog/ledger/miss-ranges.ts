import { MINUTE_MS } from "../../platform/base/time.ts";
import type { BlockCounts, MissRange } from "./ledger-view.ts";
import type { CountedTo } from "../sources/observation.ts";

/** Maximum number of ranges in memory; the state file contains up to 50,000. */
export const MAX_RECENT_RANGES = 1000;

/** The blocks between two readings form a range only if the readings are at most this far apart; otherwise, only rollups count them. */
const SHORT_MS = MINUTE_MS;

/**
 * Adds the blocks between two readings, unless all are good. Joins consecutive ranges within the same minute if they have no good
 * blocks.
 */
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

/**
 * Moves ranges that a wrong clock dated after `timeMs` back to `timeMs`. Each range's start time remains unique, because it
 * identifies the range.
 */
export function correctMisses(ranges: readonly MissRange[], timeMs: number): readonly MissRange[] {
  let later = ranges.filter(({ toMs }) => toMs > timeMs).length;
  return ranges.map((range) =>
    range.toMs <= timeMs ? range : { ...range, fromMs: timeMs - later--, toMs: timeMs },
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

/** Returns the ranges whose last block falls within [fromMs, toMs). */
export function missesWithin(
  ranges: readonly MissRange[],
  fromMs: number,
  toMs: number,
): readonly MissRange[] {
  return ranges.filter((range) => range.toMs >= fromMs && range.toMs < toMs);
}
