import { toHex } from "../../platform/base/bytes.ts";
import { BLOCK_ID_FLAG, type Commit, type Validator } from "./block-types.ts";

/**
 * Computes the time of the next block (BFT time): the median of the commit's vote times, weighted by power (CometBFT
 * `MedianTime`). `validators` is the set that signed, in any order. Votes for nil count, absent votes do not. Returns
 * undefined if there is no vote.
 */
export function medianTimeNs(
  commit: Pick<Commit, "signatures">,
  validators: readonly Validator[],
): bigint | undefined {
  const powers = new Map(validators.map((one) => [toHex(one.address), one.power]));
  const votes = commit.signatures
    .filter((sig) => sig.flag !== BLOCK_ID_FLAG.absent)
    .flatMap(({ validatorAddress, timestampNs }) => {
      const power = powers.get(toHex(validatorAddress));
      return power === undefined ? [] : [{ timestampNs, power }];
    })
    .toSorted((a, b) => (a.timestampNs < b.timestampNs ? -1 : 1));
  // Go also truncates this division and compares with <=. Another rounding would give another time, and another block
  // hash.
  let median = votes.reduce((sum, vote) => sum + vote.power, 0n) / 2n;
  for (const vote of votes) {
    if (median <= vote.power) return vote.timestampNs;
    median -= vote.power;
  }
  return undefined;
}
