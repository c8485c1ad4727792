import { mulDec18 } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import type { MissGrowth, SigningInfo, SlashingParams } from "../sources/standing-views.ts";
import type { SuccessRate } from "./reward-tier.ts";

/** A validator's exact signing window. */
export interface SigningWindow {
  readonly windowBlocks: bigint;
  /** Number of blocks counted in the window; fewer than its length if the validator entered the set recently. */
  readonly counted: bigint;
  readonly missed: bigint;
  /** Maximum number of misses in a window before the validator is jailed. */
  readonly allowed: bigint;
  /** Number of further misses allowed before the validator is jailed. */
  readonly left: bigint;
  /** Undefined until the first block has been counted. */
  readonly signed: SuccessRate | undefined;
  /** Number of blocks until jail if every block is missed from now on; undefined if the parameters jail nobody for downtime. */
  readonly ifAllMissed: BlockRange | undefined;
  /** Blocks until jail at the current rate of misses. */
  readonly atPresentRate: PresentRate;
}

/** Bounds on a number of blocks, as the chain does not tell which blocks in the window were missed. */
interface BlockRange {
  readonly least: bigint;
  readonly most: bigint;
}

/** "unknown": too few readings. "never": at this rate, the window will never contain too many misses. */
export type PresentRate =
  | { readonly kind: "unknown" }
  | { readonly kind: "never" }
  | { readonly kind: "jail"; readonly blocks: bigint; readonly growth: MissGrowth };

export interface WindowInput {
  readonly params: SlashingParams;
  readonly info: SigningInfo;
  /** The chain's latest height. If undefined (unknown), the validator is assumed to have been in the set long enough. */
  readonly height: bigint | undefined;
  readonly growth: MissGrowth | undefined;
}

/**
 * Computes how full a signing window is. A validator is jailed in a block above `start + window` if its window contains more
 * missed blocks than `window - min · window`, where the product is rounded half to even (`x/slashing` v0.50
 * keeper/infractions.go, types/params.go).
 */
export function signingWindow({ params, info, height, growth }: WindowInput): SigningWindow {
  const { windowBlocks } = params;
  const { missedBlocks: missed, indexOffset, startHeight } = info;
  const allowed = allowedMisses(params);
  const counted = minInt(indexOffset, windowBlocks);
  const needed = missed > allowed ? 1n : allowed + 1n - missed;
  // The first block in which the validator can be jailed at all.
  const earliest = height === undefined ? 1n : startHeight + windowBlocks + 1n - height;
  const isJailable = allowed < windowBlocks;
  return {
    windowBlocks,
    counted,
    missed,
    allowed,
    left: maxInt(allowed - missed, 0n),
    signed: counted === 0n ? undefined : { good: maxInt(counted - missed, 0n), total: counted },
    // A miss in the place of an old miss does not count, and after a whole window every place is a miss.
    ifAllMissed: isJailable
      ? { least: maxInt(needed, earliest), most: maxInt(minInt(needed + missed, windowBlocks), earliest) }
      : undefined,
    atPresentRate: isJailable ? presentRate(needed, earliest, growth, windowBlocks) : { kind: "never" },
  };
}

/** Returns the maximum number of misses in a window before a validator is jailed. */
export function allowedMisses({ windowBlocks, minSigned }: SlashingParams): bigint {
  return windowBlocks - mulDec18(minSigned, windowBlocks);
}

/** After one full window, all current misses have left it, so anything that would take longer never happens. */
function presentRate(
  needed: bigint,
  earliest: bigint,
  growth: MissGrowth | undefined,
  windowBlocks: bigint,
): PresentRate {
  if (growth === undefined) return { kind: "unknown" };
  if (growth.missed <= 0n) return { kind: "never" };
  const blocks = (needed * growth.blocks + growth.missed - 1n) / growth.missed;
  return blocks > windowBlocks
    ? { kind: "never" }
    : { kind: "jail", blocks: maxInt(blocks, earliest), growth };
}
