/** Numbers of blocks, by the result of their oracle call. */
export interface BlockCounts {
  readonly good: bigint;
  readonly bad: bigint;
  /** Blocks made between the last reading and a node restart, which erased their counts. */
  readonly unknown: bigint;
}

export const NO_BLOCKS: BlockCounts = { good: 0n, bad: 0n, unknown: 0n };

export function addCounts(a: BlockCounts, b: BlockCounts): BlockCounts {
  return { good: a.good + b.good, bad: a.bad + b.bad, unknown: a.unknown + b.unknown };
}

/** Returns the number of blocks with any result. */
export function allBlocks({ good, bad, unknown }: BlockCounts = NO_BLOCKS): bigint {
  return good + bad + unknown;
}

export function sumCounts(tallies: Iterable<{ readonly counts: BlockCounts }>): BlockCounts {
  let sum = NO_BLOCKS;
  for (const { counts } of tallies) sum = addCounts(sum, counts);
  return sum;
}

export function isNoBlocks(counts: BlockCounts): boolean {
  return counts.good === 0n && counts.bad === 0n && counts.unknown === 0n;
}

export function subtractCounts(a: BlockCounts, b: BlockCounts): BlockCounts {
  return { good: a.good - b.good, bad: a.bad - b.bad, unknown: a.unknown - b.unknown };
}

/** Returns each field multiplied by `numerator / denominator`, rounded down. */
export function partOfCounts(counts: BlockCounts, numerator: bigint, denominator: bigint): BlockCounts {
  const part = (count: bigint): bigint => (count * numerator) / denominator;
  return { good: part(counts.good), bad: part(counts.bad), unknown: part(counts.unknown) };
}

/** Returns the share of bad blocks; undefined without blocks. */
export function badShare({ good, bad }: BlockCounts): number | undefined {
  return good + bad === 0n ? undefined : Number(bad) / Number(good + bad);
}
