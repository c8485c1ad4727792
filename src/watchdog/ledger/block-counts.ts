/** Blocks by what is known of their oracle call. */
export interface BlockCounts {
  readonly good: bigint;
  readonly bad: bigint;
  /** Blocks that passed while nobody counted: between the last look and a restart of the node. */
  readonly unknown: bigint;
}

/** No block at all. */
export const NO_BLOCKS: BlockCounts = { good: 0n, bad: 0n, unknown: 0n };

/** Sum, class by class. */
export function addCounts(a: BlockCounts, b: BlockCounts): BlockCounts {
  return { good: a.good + b.good, bad: a.bad + b.bad, unknown: a.unknown + b.unknown };
}

/** Whether no class has a block. */
export function isNoBlocks(counts: BlockCounts): boolean {
  return counts.good === 0n && counts.bad === 0n && counts.unknown === 0n;
}
