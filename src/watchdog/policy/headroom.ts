import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import type { Dec18 } from "../../platform/base/decimal.ts";
import type { BlockCounts } from "../ledger/block-counts.ts";
import { BURN_WINDOWS, type BurnWindow, type Headroom, type Policy } from "./assessment.ts";
import { allowedMisses, allowedShare, BOUNDARIES, type Boundary, timeToLossMs } from "./reward-tier.ts";

/** Counted and expected blocks in a month that is not over. */
export interface SeenMonth {
  readonly good: bigint;
  readonly bad: bigint;
  /** Number of blocks until the end of the month. */
  readonly remaining: bigint;
}

export interface OpenMonth extends SeenMonth {
  /** Blocks of the month with unknown results: before the watchdog's first reading, and between a reading and a restart. */
  readonly unseen: bigint;
}

/** Returns the headroom to each boundary, "full" first. `blockTimeMs` must be positive. */
export function headroomOf(
  month: OpenMonth,
  policy: Policy,
  blockTimeMs: number,
  windows: Readonly<Record<BurnWindow, BlockCounts>>,
): readonly Headroom[] {
  const share = lastingShare(windows, blockTimeMs);
  return BOUNDARIES.map((boundary) => {
    const least = policy.least[boundary];
    const state = stateOf(month, least);
    const seen = missesLeft(month, least);
    // Unseen blocks can still make up for the counted ones.
    const misses = state === "open" && seen < 0n ? 0n : seen;
    return {
      boundary,
      state,
      misses,
      outageMs: misses < 0n ? 0 : Math.round(Number(misses) * blockTimeMs),
      lostInMs:
        state === "open"
          ? timeToLossMs({ misses, remaining: month.remaining }, share, blockTimeMs)
          : undefined,
      // Blocks that may not be bad must be good.
      requiredGood: month.remaining - misses,
      requiredRate: requiredRate(misses, month.remaining),
      burnRates: burnRates(windows, least),
    };
  });
}

/** Returns how many more bad blocks may follow before the month ends below a boundary; negative if it does anyway. */
function missesLeft({ good, bad, remaining }: SeenMonth, least: Dec18): bigint {
  return allowedMisses(good + bad + remaining, least) - bad;
}

/** Lost and clinched are certain, regardless of the unseen blocks' results. */
function stateOf({ good, bad, remaining, unseen }: OpenMonth, least: Dec18): Headroom["state"] {
  const misses = allowedMisses(good + bad + remaining + unseen, least) - bad;
  if (misses < 0n) return "lost";
  return misses - unseen >= remaining ? "clinched" : "open";
}

/**
 * Returns the bad share of a loss that lasts and is ongoing: the smaller of the shares in the last six hours and three days.
 * Blocks in these periods that were not counted are treated as good: a loss that began an hour ago is not a loss of three days.
 */
function lastingShare(windows: Readonly<Record<BurnWindow, BlockCounts>>, blockTimeMs: number): number {
  const shareOf = ({ good, bad }: BlockCounts, windowMs: number): number =>
    Number(bad) / Math.max(1, Number(good + bad), windowMs / blockTimeMs);
  return Math.min(shareOf(windows["6h"], 6 * HOUR_MS), shareOf(windows["3d"], 3 * DAY_MS));
}

function requiredRate(misses: bigint, remaining: bigint): number {
  // No block remains to change the outcome: impossible if lost, otherwise nothing is required.
  if (remaining === 0n) return misses < 0n ? Number.POSITIVE_INFINITY : 0;
  return Number(remaining - misses) / Number(remaining);
}

function burnRates(windows: Readonly<Record<BurnWindow, BlockCounts>>, least: Dec18): Headroom["burnRates"] {
  const allowed = allowedShare(least);
  const rates: Partial<Record<BurnWindow, number>> = {};
  for (const window of BURN_WINDOWS) {
    const { good, bad } = windows[window];
    // A boundary of 100 % allows no miss, so there is no budget to burn.
    if (good + bad > 0n && allowed > 0) rates[window] = Number(bad) / Number(good + bad) / allowed;
  }
  return rates;
}

export function missesByBoundary(month: SeenMonth, policy: Policy): Readonly<Record<Boundary, bigint>> {
  return { full: missesLeft(month, policy.least.full), none: missesLeft(month, policy.least.none) };
}
