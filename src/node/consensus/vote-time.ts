/** Nanoseconds that a vote is later than its block at least. */
const MIN_VOTE_DELAY_NS = 1_000_000n;

/** Time of a vote: now, but always after the block that it is for, so that block times rise. */
export function voteTimeNs(nowNs: bigint, blockTimeNs: bigint): bigint {
  const earliest = blockTimeNs + MIN_VOTE_DELAY_NS;
  return nowNs > earliest ? nowNs : earliest;
}
