import { MINUTE_MS } from "../../platform/base/time.ts";
import type { MissGrowth, SigningInfo } from "./standing-views.ts";

/** Times over which the growth is measured. */
const SPANS_MS = [MINUTE_MS, 5 * MINUTE_MS] as const;
/** Shortest time between two stored readings: at most 61 are stored. */
const STEP_MS = 5000;
/** With fewer blocks, one miss would be taken for an outage. */
const MIN_BLOCKS = 10n;

/** A reading of the window. */
interface Sample {
  readonly atMs: number;
  readonly index: bigint;
  readonly missed: bigint;
  readonly start: bigint;
}

/**
 * Creates a function that takes each reading of the signing info, and returns the quickest growth of the missed blocks over the last
 * minute and the last five. Undefined until a span has ten blocks. A window that began again forgets the readings before.
 */
export function createGrowthTracker(): (info: SigningInfo, nowMs: number) => MissGrowth | undefined {
  let samples: readonly Sample[] = [];
  return ({ indexOffset: index, missedBlocks: missed, startHeight: start }, nowMs) => {
    const since = (first: Sample): MissGrowth => ({
      missed: missed - first.missed,
      blocks: index - first.index,
    });
    const last = samples.at(-1);
    if (last !== undefined && (index < last.index || start !== last.start)) samples = [];
    const growths = SPANS_MS.flatMap((spanMs) => {
      const first = samples.find(({ atMs }) => nowMs - atMs <= spanMs);
      if (first === undefined || index - first.index < MIN_BLOCKS) return [];
      return [since(first)];
    });
    const newest = samples.findLast((first) => index - first.index >= MIN_BLOCKS);
    const isDue = samples.length === 0 || nowMs - (samples.at(-1)?.atMs ?? 0) >= STEP_MS;
    if (isDue)
      samples = [
        ...samples.filter(({ atMs }) => nowMs - atMs <= Math.max(...SPANS_MS)),
        { atMs: nowMs, index, missed, start },
      ];
    const [quickest] = growths.toSorted(quickestFirst);
    return quickest && { ...quickest, isOver: newest !== undefined && since(newest).missed <= 0n };
  };
}

function quickestFirst(a: MissGrowth, b: MissGrowth): number {
  const difference = b.missed * a.blocks - a.missed * b.blocks;
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}
