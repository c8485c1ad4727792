import { type Dec18, DEC18_ONE, mulDec18, quoDec18 } from "../../../../platform/base/decimal.ts";
import type { Requirement } from "./params.ts";

/** A validator's counts for a period. */
export interface Performance {
  readonly inActiveSet: bigint;
  readonly blocks: bigint;
  readonly votes: bigint;
}

/** Rates a period from 0 to 1. Blocks and votes count half each; if either is below its requirement, the rating is 0. */
export function ratingOf(
  { inActiveSet, blocks, votes }: Performance,
  ofBlocks: Requirement,
  ofVotes: Requirement,
): Dec18 {
  if (inActiveSet === 0n) return 0n;
  const missed = (done: bigint): Dec18 => ((inActiveSet - done) * DEC18_ONE) / inActiveSet;
  const parts = [partOf(missed(blocks), ofBlocks), partOf(missed(votes), ofVotes)] as const;
  if (parts[0] === undefined || parts[1] === undefined) return 0n;
  return mulDec18(DEC18_ONE / 2n, parts[0] + parts[1]);
}

/** Returns 1 up to the allowed share of misses, falling to 0 with the square of the excess; undefined below the requirement. */
function partOf(missed: Dec18, { allowed, required }: Requirement): Dec18 | undefined {
  const most = DEC18_ONE - required;
  if (missed > most) return undefined;
  const used = missed <= allowed ? 0n : quoDec18(missed - allowed, most - allowed);
  return DEC18_ONE - mulDec18(used, used);
}

/** Returns a validator's share of the amount for a period, according to its rating. */
export function compensationOf(
  rating: Dec18,
  period: bigint,
  { inActiveSet, blocks }: { readonly inActiveSet: bigint; readonly blocks: bigint },
): bigint {
  return blocks === 0n ? 0n : (rating * period * inActiveSet) / blocks / DEC18_ONE;
}
