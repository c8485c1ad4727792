/** A height and its time. */
export interface Anchor {
  readonly timeMs: number;
  readonly height: bigint;
}

const ANCHOR_EVERY_MS = 3_600_000;
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

/** Returns the mean time between blocks over the last day, ms, or over the longest time that is known. */
export function meanBlockTimeMs(anchors: readonly Anchor[], now: Anchor | undefined): number | undefined {
  if (now === undefined) return undefined;
  const usable = anchors.filter(({ height }) => now.height - height >= MIN_BLOCKS);
  const from = usable.find(({ timeMs }) => now.timeMs - timeMs <= WINDOW_MS) ?? usable.at(-1);
  if (from === undefined || now.timeMs <= from.timeMs) return undefined;
  return (now.timeMs - from.timeMs) / Number(now.height - from.height);
}
