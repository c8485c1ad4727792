import { addCounts, badShare, type BlockCounts, NO_BLOCKS, type Rollup } from "../ledger/ledger-view.ts";
import { BURN_WINDOWS, rewardCents } from "./assessment.ts";
import type { Band, BurnWindow, Forecast, Headroom, Policy, RegimeName } from "./assessment.ts";
import { allowedMisses, allowedShare, BOUNDARIES, tierOf, timeToLossMs } from "./reward-tier.ts";
import type { Boundary, SuccessRate, Tier } from "./reward-tier.ts";
import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import type { Dec18 } from "../../platform/base/decimal.ts";

/** The past periods on which the forecast is based. */
interface ForecastSamples {
  /** Counts for each of the last 28 days, oldest first, and for each hour of the last three days. */
  readonly days: readonly Rollup[];
  readonly hours: readonly Rollup[];
  /** The blocks measured in the last 6 hours, 24 hours and 3 days. */
  readonly last: Readonly<Record<"6h" | "24h" | "3d", BlockCounts>>;
}

/** Minimum number of past periods to resample; with fewer, the forecast uses shorter periods. */
const MIN_SAMPLES = 3;

/** Number of resampled months: enough for the 10th and 90th percentiles, and cheap enough to repeat at every poll. */
const RESAMPLES = 200;

/** Maximum number of random draws per month, so that a drawn hour stands for several hours in a row. Problems often persist for hours. */
const MAX_DRAWS = 31;

/** A recurring loss is measured as the median bad share of the last seven days, or of five or six days if fewer are known. */
const RECURRING_DAYS = 7;
const MIN_RECURRING_DAYS = 5;

/** Minimum bad share of a drawn day that is worse than all known days, equal to one hour's blocks. */
const LEAST_UNSEEN = 1 / 24;

/** Distance between the mean and the 10th percentile of a normal distribution, in standard deviations. */
const TENTH = 1.2816;

/**
 * Forecasts a month's final success rate and number of bad blocks.
 *
 * The middle value assumes that an ongoing loss continues for the remaining blocks; see {@link expectedShare}. The band covers 80 %
 * of the months resampled from the last 28 days (a bootstrap), in which a day with an outage recurs as often as it did before. With
 * probability 1 / (n + 1), a drawn day is worse than all n known days. The band is never narrower than the random variation of
 * single blocks. The random numbers are fixed, so equal input gives an equal forecast. If fewer than three days are known, hours
 * are used instead.
 */
export function forecastOf(month: SeenMonth, samples: ForecastSamples, policy: Policy): Forecast {
  const { basis, periods } = choosePeriods(month, samples);
  const misses = projectMisses(periods, month, expectedShare(month, samples));
  const rateWith = (further: bigint): SuccessRate => endRate(month, further);
  const rates = { low: rateWith(misses.high), middle: rateWith(misses.middle), high: rateWith(misses.low) };
  const all = <T>(of: (rate: SuccessRate) => T): Band<T> => ({
    low: of(rates.low),
    middle: of(rates.middle),
    high: of(rates.high),
  });
  return {
    ...rates,
    tiers: all((rate): Tier => tierOf(rate, policy.least)),
    rewardCents: all((rate) => rewardCents(policy, rate)),
    basis,
    regimes: regimesOf(month, samples, policy),
  };
}

/** Returns the rate at month end if `further` more blocks are bad. */
export function endRate({ good, bad, remaining }: SeenMonth, further: bigint): SuccessRate {
  const misses = further > remaining ? remaining : further;
  return { good: good + remaining - misses, total: good + bad + remaining };
}

/** Returns how the month ends if its remaining blocks are like the last six hours, the last three days, or the month so far. */
function regimesOf(month: SeenMonth, { last }: ForecastSamples, policy: Policy): Forecast["regimes"] {
  const blocks: readonly (readonly [RegimeName, BlockCounts])[] = [
    ["now", last["6h"]],
    ["days", last["3d"]],
    ["month", { good: month.good, bad: month.bad, unknown: 0n }],
  ];
  return blocks.flatMap(([name, counts]) => {
    const share = badShare(counts);
    if (share === undefined) return [];
    const end = endRate(month, blocksOf(share, month.remaining));
    return [{ name, badShare: share, end, tier: tierOf(end, policy.least) }];
  });
}

/**
 * Returns the expected bad share of the remaining blocks, assuming that an ongoing loss does not end. A loss is ongoing if it
 * persists or recurs. A persisting loss is measured as the smaller of the last six hours' and the last three days' bad shares, so
 * that neither a past outage nor one that has just begun is projected onto the whole month. A recurring loss is measured as the
 * smaller of the last 24 hours' bad share and the median of seven days' bad shares.
 */
function expectedShare(month: SeenMonth, { last, days }: ForecastSamples): number {
  const shares = usable(days).map((day) => badShare(day) ?? 0);
  const own = badShare({ good: month.good, bad: month.bad, unknown: 0n }) ?? 0;
  // If the last three days have no blocks, use the last day with blocks.
  const recent = badShare(last["3d"]) ?? shares.at(-1) ?? own;
  const lasting = Math.min(badShare(last["6h"]) ?? recent, recent);
  const recurring = shares.slice(-RECURRING_DAYS).toSorted((a, b) => a - b);
  if (recurring.length < MIN_RECURRING_DAYS) return lasting;
  const median = recurring[Math.floor((recurring.length - 1) / 2)] ?? 0;
  return Math.max(lasting, Math.min(badShare(last["24h"]) ?? 0, median));
}

function choosePeriods(
  month: SeenMonth,
  { days, hours }: ForecastSamples,
): Pick<Forecast, "basis"> & { readonly periods: readonly BlockCounts[] } {
  const recentDays = usable(days);
  if (recentDays.length >= MIN_SAMPLES) return { basis: "recent days", periods: recentDays };
  const recentHours = usable(hours);
  if (recentHours.length >= MIN_SAMPLES) return { basis: "recent hours", periods: recentHours };
  return { basis: "month so far", periods: [{ good: month.good, bad: month.bad, unknown: 0n }] };
}

/** Returns the measured counts of the periods with enough blocks, because a period that has just begun is not representative. */
function usable(rollups: readonly Rollup[]): readonly BlockCounts[] {
  const measured = rollups.map(({ counts, estimated }) => ({
    good: counts.good - estimated.good,
    bad: counts.bad - estimated.bad,
    unknown: 0n,
  }));
  const most = measured.reduce((max, { good, bad }) => (good + bad > max ? good + bad : max), 0n);
  return measured.filter(({ good, bad }) => good + bad > 0n && (good + bad) * 4n >= most);
}

/** Estimates how many of the remaining blocks will be bad. */
function projectMisses(
  periods: readonly BlockCounts[],
  { remaining }: SeenMonth,
  share: number,
): Band<bigint> {
  const middle = blocksOf(share, remaining);
  const sum = periods.reduce(addCounts, NO_BLOCKS);
  const draws = resample(periods, Number(sum.good + sum.bad) / periods.length, Number(remaining));
  const at = (part: number): number => Math.round(draws[Math.floor(part * (RESAMPLES - 1))] ?? 0);
  const chance = TENTH * chanceOf(share, Number(sum.good + sum.bad), Number(remaining));
  const low = Math.min(at(0.1), Math.floor(Number(middle) - chance));
  const high = Math.max(at(0.9), Math.ceil(Number(middle) + chance));
  // The number of bad blocks cannot exceed the number of remaining blocks.
  const within = (count: number): bigint => BigInt(Math.max(0, Math.min(Number(remaining), count)));
  return { low: within(low), middle, high: within(high) };
}

/**
 * Returns the standard deviation of the number of bad blocks among `remaining`, given a bad share that was measured over `measured`
 * blocks. Half a bad block is added, so that the result is positive even if no block was bad. The result is zero without remaining
 * blocks, and infinite without measured blocks.
 */
function chanceOf(share: number, measured: number, remaining: number): number {
  if (remaining === 0) return 0;
  const p = (share * measured + 0.5) / (measured + 1);
  return Math.sqrt(remaining * p * (1 - p) * (1 + remaining / measured));
}

function blocksOf(share: number, blocks: bigint): bigint {
  return BigInt(Math.round(share * Number(blocks)));
}

/**
 * Returns the number of bad blocks in each resampled remainder of the month, ascending. The random numbers are the same in every
 * call (a linear congruential generator, Numerical Recipes).
 */
function resample(periods: readonly BlockCounts[], blocksEach: number, remaining: number): Float64Array {
  const shares = periods.map((period) => badShare(period) ?? 0);
  // Add a day that is worse than all n observed days, which is drawn with probability 1 / (n + 1).
  shares.push(Math.max(LEAST_UNSEEN, ...shares));
  let state = 20_261_001;
  const blocksOfDraw = Math.max(blocksEach, remaining / MAX_DRAWS);
  const draws = new Float64Array(RESAMPLES);
  for (let index = 0; index < RESAMPLES; index++) {
    let misses = 0;
    for (let left = remaining; left > 0; left -= blocksOfDraw) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      misses += (shares[Math.floor((state / 2 ** 32) * shares.length)] ?? 0) * Math.min(left, blocksOfDraw);
    }
    draws[index] = misses;
  }
  return draws.toSorted();
}

/** The blocks counted so far and the blocks still expected, in a month that is not over. */
export interface SeenMonth {
  readonly good: bigint;
  readonly bad: bigint;
  /** Number of blocks that the chain will make until the end of the month. */
  readonly remaining: bigint;
}

export interface OpenMonth extends SeenMonth {
  /**
   * Number of the month's blocks with unknown results, because they were made before the first reading or because a node restart
   * erased them.
   */
  readonly unseen: bigint;
}

/** Returns the headroom to each boundary, "full" first. The mean block time `blockTimeMs` must be positive. */
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
    // Blocks with unknown results may have been good, so an open boundary has at least 0 misses left.
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
      requiredRate: requiredRate(misses, month.remaining),
      burnRates: burnRates(windows, least),
    };
  });
}

/** Returns how many more blocks may be bad before the month ends below a boundary; negative if that is already certain. */
function missesLeft({ good, bad, remaining }: SeenMonth, least: Dec18): bigint {
  return allowedMisses(good + bad + remaining, least) - bad;
}

/** Returns the state of a boundary, which is "lost" or "clinched" only if no result of the unseen blocks can change the state. */
function stateOf({ good, bad, remaining, unseen }: OpenMonth, least: Dec18): Headroom["state"] {
  const misses = allowedMisses(good + bad + remaining + unseen, least) - bad;
  if (misses < 0n) return "lost";
  return misses - unseen >= remaining ? "clinched" : "open";
}

/**
 * Returns the bad share of a lasting loss: the smaller of the last six hours' and the last three days' bad shares. Uncounted blocks
 * in these periods are treated as good, because a loss that began an hour ago has not lasted for three days.
 */
function lastingShare(windows: Readonly<Record<BurnWindow, BlockCounts>>, blockTimeMs: number): number {
  const shareOf = ({ good, bad }: BlockCounts, windowMs: number): number =>
    Number(bad) / Math.max(1, Number(good + bad), windowMs / blockTimeMs);
  return Math.min(shareOf(windows["6h"], 6 * HOUR_MS), shareOf(windows["3d"], 3 * DAY_MS));
}

function requiredRate(misses: bigint, remaining: bigint): number {
  // The month is over, so the outcome is certain.
  if (remaining === 0n) return misses < 0n ? Number.POSITIVE_INFINITY : 0;
  return Number(remaining - misses) / Number(remaining);
}

function burnRates(windows: Readonly<Record<BurnWindow, BlockCounts>>, least: Dec18): Headroom["burnRates"] {
  const allowed = allowedShare(least);
  const rates: Partial<Record<BurnWindow, number>> = {};
  for (const window of BURN_WINDOWS) {
    const { good, bad } = windows[window];
    // A boundary of 100 % allows no misses, so it has no burn rate.
    if (good + bad > 0n && allowed > 0) rates[window] = Number(bad) / Number(good + bad) / allowed;
  }
  return rates;
}

export function missesByBoundary(month: SeenMonth, policy: Policy): Readonly<Record<Boundary, bigint>> {
  return { full: missesLeft(month, policy.least.full), none: missesLeft(month, policy.least.none) };
}
