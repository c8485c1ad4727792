import type { BlockCounts } from "../ledger/block-counts.ts";
import type { Rollup } from "../ledger/ledger-view.ts";
import { type Forecast, type Policy, rewardCents } from "./assessment.ts";
import type { SeenMonth } from "./headroom.ts";
import { type SuccessRate, type Tier, tierOf } from "./reward-tier.ts";

/** Past periods from which the forecast is drawn. */
export interface ForecastSamples {
  /** Counts of recent days and hours. */
  readonly days: readonly Rollup[];
  readonly hours: readonly Rollup[];
}

/** Periods below which a forecast is drawn from shorter ones. */
const MIN_SAMPLES = 3;

/** Resampled months. Enough for a tenth and a ninetieth percentile; the forecast is made in every poll. */
const RESAMPLES = 200;

/** Draws for one month, at most. Of hours, one draw stands for several: what is wrong in one hour is often wrong in the next. */
const MAX_DRAWS = 31;

/**
 * Forecasts the end of a month.
 *
 * The middle is the bad share of the last 28 days applied to the remaining blocks. The band holds 80 % of the months that
 * are resampled from these days (a bootstrap), so a day with an outage has its true weight. The random numbers are fixed:
 * equal input gives an equal forecast. With fewer than three days, hours take their place.
 */
export function forecastOf(month: SeenMonth, samples: ForecastSamples, policy: Policy): Forecast {
  const { basis, periods } = choosePeriods(month, samples);
  const misses = projectMisses(periods, month.remaining);
  const rateWith = (further: bigint): SuccessRate => endRate(month, further);
  const rates = { low: rateWith(misses.high), middle: rateWith(misses.middle), high: rateWith(misses.low) };
  const all = <T>(of: (rate: SuccessRate) => T): Readonly<Record<"low" | "middle" | "high", T>> => ({
    low: of(rates.low),
    middle: of(rates.middle),
    high: of(rates.high),
  });
  return {
    ...rates,
    tiers: all((rate): Tier => tierOf(rate, policy.least)),
    rewardCents: all((rate) => rewardCents(policy, rate)),
    basis,
  };
}

/** Rate at the end of a month in which `further` of the remaining blocks are bad. */
export function endRate({ good, bad, remaining }: SeenMonth, further: bigint): SuccessRate {
  const misses = further > remaining ? remaining : further;
  return { good: good + remaining - misses, total: good + bad + remaining };
}

interface Periods {
  readonly basis: Forecast["basis"];
  readonly periods: readonly BlockCounts[];
}

function choosePeriods(month: SeenMonth, { days, hours }: ForecastSamples): Periods {
  const recentDays = usable(days);
  if (recentDays.length >= MIN_SAMPLES) return { basis: "recent days", periods: recentDays };
  const recentHours = usable(hours);
  if (recentHours.length >= MIN_SAMPLES) return { basis: "recent hours", periods: recentHours };
  return { basis: "month so far", periods: [{ good: month.good, bad: month.bad, unknown: 0n }] };
}

/** Measured counts of the periods with enough blocks: a period that just began says little. */
function usable(rollups: readonly Rollup[]): readonly BlockCounts[] {
  const measured = rollups.map(({ counts, estimated }) => ({
    good: counts.good - estimated.good,
    bad: counts.bad - estimated.bad,
    unknown: 0n,
  }));
  const most = measured.reduce((max, { good, bad }) => (good + bad > max ? good + bad : max), 0n);
  return measured.filter(({ good, bad }) => good + bad > 0n && (good + bad) * 4n >= most);
}

interface Misses {
  readonly low: bigint;
  readonly middle: bigint;
  readonly high: bigint;
}

/** Bad blocks among the remaining ones. */
function projectMisses(periods: readonly BlockCounts[], remaining: bigint): Misses {
  const bad = periods.reduce((sum, period) => sum + period.bad, 0n);
  const total = periods.reduce((sum, period) => sum + period.good + period.bad, 0n);
  // Half of the divisor is added, so that the quotient is rounded and not truncated.
  const middle = total === 0n ? 0n : (bad * remaining + total / 2n) / total;
  if (periods.length < MIN_SAMPLES || bad === 0n) return { low: middle, middle, high: middle };
  const draws = resample(periods, Number(total) / periods.length, Number(remaining));
  const at = (share: number): bigint => BigInt(Math.round(draws[Math.floor(share * (RESAMPLES - 1))] ?? 0));
  const [low, high] = [at(0.1), at(0.9)];
  // A few bad days pull the mean above the ninetieth percentile: the band always contains the middle.
  return { low: low < middle ? low : middle, middle, high: high > middle ? high : middle };
}

/** Bad blocks of resampled remainders of the month, ascending. */
function resample(periods: readonly BlockCounts[], blocksEach: number, remaining: number): Float64Array {
  const shares = periods.map(({ good, bad }) => Number(bad) / Number(good + bad));
  const random = createFixedRandom();
  const blocksOfDraw = Math.max(blocksEach, remaining / MAX_DRAWS);
  const draws = new Float64Array(RESAMPLES);
  for (let index = 0; index < RESAMPLES; index++) {
    let misses = 0;
    for (let left = remaining; left > 0; left -= blocksOfDraw)
      misses += (shares[Math.floor(random() * shares.length)] ?? 0) * Math.min(left, blocksOfDraw);
    draws[index] = misses;
  }
  return draws.toSorted();
}

/** Numbers in [0, 1) that are the same in every call (a linear congruential generator, Numerical Recipes). */
function createFixedRandom(): () => number {
  let state = 20_261_001;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
