import { HOUR_MS } from "../../platform/base/time.ts";
/** A height and its time. */
export interface Anchor {
  readonly timeMs: number;
  readonly height: bigint;
}

const ANCHOR_EVERY_MS = HOUR_MS;
const WINDOW_MS = 24 * ANCHOR_EVERY_MS;
/** Blocks that a mean needs. */
const MIN_BLOCKS = 30n;

/** Adds a height to the anchors, one an hour, of the last day and one before it. */
export function addAnchor(anchors: readonly Anchor[], now: Anchor): readonly Anchor[] {
  const last = anchors.at(-1);
  // A lower height is another chain with the same name: the mean begins again.
  if (last !== undefined && now.height < last.height) return [now];
  if (last !== undefined && now.timeMs - last.timeMs < ANCHOR_EVERY_MS) return anchors;
  const kept = anchors.filter(({ timeMs }) => now.timeMs - timeMs <= WINDOW_MS);
  const older = anchors.filter(({ timeMs }) => now.timeMs - timeMs > WINDOW_MS).slice(-1);
  return [...older, ...kept, now];
}

/** A part of the time that takes so many times longer for a block than the usual one has a halt in it. */
const HALT_FACTOR = 1.25;

/**
 * Returns the mean time between blocks over the last day, ms, or over the longest time that is known. Hours with a halt of
 * the chain do not count: it will make its blocks at the usual pace.
 */
export function meanBlockTimeMs(anchors: readonly Anchor[], now: Anchor | undefined): number | undefined {
  if (now === undefined) return undefined;
  const usable = anchors.filter(({ height }) => now.height - height >= MIN_BLOCKS);
  const from = usable.find(({ timeMs }) => now.timeMs - timeMs <= WINDOW_MS) ?? usable.at(-1);
  if (from === undefined || now.timeMs <= from.timeMs) return undefined;
  const points = [...anchors.slice(anchors.indexOf(from)), now];
  const parts = points.flatMap((to, index) => partBetween(points[index - 1], to));
  const usual = usualPace(parts);
  const counted = parts.filter(({ ms, blocks }) => ms / blocks <= usual * HALT_FACTOR);
  const sum = (value: (part: Part) => number): number =>
    counted.reduce((total, part) => total + value(part), 0);
  return sum(({ ms }) => ms) / sum(({ blocks }) => blocks);
}

/** The time between two heights. */
interface Part {
  readonly ms: number;
  readonly blocks: number;
}

function partBetween(from: Anchor | undefined, to: Anchor): readonly Part[] {
  if (from === undefined || to.height <= from.height || to.timeMs <= from.timeMs) return [];
  return [{ ms: to.timeMs - from.timeMs, blocks: Number(to.height - from.height) }];
}

/** Median of the times between blocks, by number of blocks. */
function usualPace(parts: readonly Part[]): number {
  const sorted = parts.toSorted((a, b) => a.ms / a.blocks - b.ms / b.blocks);
  const half = parts.reduce((total, { blocks }) => total + blocks, 0) / 2;
  let passed = 0;
  const middle = sorted.find(({ blocks }) => (passed += blocks) >= half);
  return middle === undefined ? Number.POSITIVE_INFINITY : middle.ms / middle.blocks;
}
