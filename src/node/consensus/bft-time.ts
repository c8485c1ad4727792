import { toHex } from "../../base/bytes.ts";
import { BLOCK_ID_FLAG, type Commit, type Validator } from "../../comet/block-types.ts";

/** Nanoseconds that a vote is later than its block at least. */
const MIN_VOTE_DELAY_NS = 1_000_000n;

/** Time of a block: the median of the previous commit's times, weighted by voting power; absent votes do not count. */
export function medianTimeNs(commit: Commit, validators: readonly Validator[]): bigint {
  const powers = new Map(validators.map((one) => [toHex(one.address), one.power]));
  const votes = commit.signatures
    .filter((one) => one.flag !== BLOCK_ID_FLAG.absent)
    .map((one) => ({ timeNs: one.timestampNs, power: powers.get(toHex(one.validatorAddress)) ?? 0n }))
    .toSorted((a, b) => (a.timeNs < b.timeNs ? -1 : a.timeNs > b.timeNs ? 1 : 0));
  let half = votes.reduce((sum, vote) => sum + vote.power, 0n) / 2n;
  for (const vote of votes) {
    if (half <= vote.power) return vote.timeNs;
    half -= vote.power;
  }
  throw new Error("this is a bug: a commit without votes has no time");
}

/** Time of a vote: now, but always after the block that it is for, so that block times rise. */
export function voteTimeNs(nowNs: bigint, blockTimeNs: bigint): bigint {
  const earliest = blockTimeNs + MIN_VOTE_DELAY_NS;
  return nowNs > earliest ? nowNs : earliest;
}
