import { DAY_MS, MINUTE_MS } from "../../platform/base/time.ts";
import { type Dec18, dec18ToNumber } from "../../platform/base/decimal.ts";
import type { QuerySum, SpanSum } from "./cost-ledger.ts";

/** A registered query in a forecast. */
export interface ForecastQuery {
  readonly id: bigint;
  readonly owner: string;
  /** Time between two results, ms; undefined for a TX query, whose results come when they come. */
  readonly intervalMs: number | undefined;
  /** Time since its registration, ms; undefined when it is not known. */
  readonly ageMs: number | undefined;
  /** Expected gas of one result, with its part of transactions and client updates. */
  readonly gas: bigint;
}

/** What was measured in one stretch of time, from which the future is estimated. */
export interface Regime {
  readonly name: "hours" | "days" | "month";
  /** Time in which the relayer ran, ms. */
  readonly runningMs: number;
  /** Time from its start until now, ms. */
  readonly lengthMs: number;
  readonly queries: readonly QuerySum[];
}

export interface ForecastFacts {
  readonly queries: readonly ForecastQuery[];
  readonly regimes: readonly Regime[];
  /** Costs of the last whole hours, for the width. */
  readonly hours: readonly SpanSum[];
  /** Price paid for one unit of used gas: now, and when the price is at `gas.max_price`. */
  readonly price: Record<ForecastPrice, Dec18>;
  /** Fees of the month so far. */
  readonly month: readonly QuerySum[];
  readonly monthLeftMs: number;
  /** Coins that may be spent: the balance without its reserve, or what is left of the fee grant. Undefined: not known, or no limit. */
  readonly available: bigint | undefined;
}

/** The prices of a forecast. */
export const FORECAST_PRICES = ["now", "cap"] as const;
export type ForecastPrice = (typeof FORECAST_PRICES)[number];

/** An estimate with its width. `low` is never equal to `high`, unless all are 0. */
export interface Range {
  readonly low: bigint;
  readonly expected: bigint;
  readonly high: bigint;
}

/** Time until nothing is left, ms. */
export interface TimeLeft {
  readonly soonestMs: number;
  readonly expectedMs: number;
  /** Infinity when the lowest estimate costs nothing. */
  readonly latestMs: number;
}

/** What an owner will cost until the end of the month. */
interface OwnerForecast {
  readonly owner: string;
  readonly spent: bigint;
  readonly month: Range;
}

export interface SpendingForecast {
  /** Measured stretches that the estimate is made of; without one there is no forecast. */
  readonly regimes: readonly { readonly name: Regime["name"]; readonly feePerDay: bigint }[];
  /** Relative width that is added to the regimes on both sides. */
  readonly width: number;
  readonly perDay: Record<ForecastPrice, Range>;
  /** Fees of the whole month: those so far and those to come. */
  readonly month: Record<ForecastPrice, Range>;
  readonly empty: Record<ForecastPrice, TimeLeft | undefined>;
  readonly owners: readonly OwnerForecast[];
  /** Registered queries that were not there in all of the longest regime, and measured ones that are gone. */
  readonly newQueries: number;
  readonly goneQueries: number;
}

/** A regime with less running time says nothing. */
const MIN_RUNNING_MS = 10 * MINUTE_MS;
/** A new query with results for less is estimated from its interval. */
const MIN_AGE_MS = 30 * MINUTE_MS;
/** No estimate is narrower: a block, a result or a price moves that much. */
const MIN_WIDTH = 0.05;
/** With too few hours nothing is known about their spread. */
const UNKNOWN_WIDTH = 0.5;
const MIN_HOURS = 3;

/**
 * Forecasts the spending: in each regime, the gas that the registered queries use, at a price of gas. A query that was registered within
 * the regime counts with its rate since then, or with its interval and the measured gas of a result; one that is gone does not count.
 * Undefined without a regime of ten minutes.
 */
export function forecastSpending(facts: ForecastFacts): SpendingForecast | undefined {
  const usable = facts.regimes.filter(({ runningMs }) => runningMs >= MIN_RUNNING_MS);
  if (usable.length === 0) return undefined;
  const rates = usable.map((regime) => gasRates(facts.queries, regime));
  const width = widthOf(facts.hours);
  const spentBy = sumBy(facts.month, ({ owner }) => owner);
  const spent = facts.month.reduce((sum, { fee }) => sum + fee, 0n);
  const total = rates.map((byOwner) => [...byOwner.values()].reduce((sum, rate) => sum + rate, 0));
  const feesIn = (perMs: readonly number[], ms: number, price: ForecastPrice): Range =>
    rangeOf(
      perMs.map((rate) => rate * ms * dec18ToNumber(facts.price[price])),
      width,
    );
  const perDay = atBothPrices((price) => feesIn(total, DAY_MS, price));
  const owners = new Set([...spentBy.keys(), ...rates.flatMap((byOwner) => [...byOwner.keys()])]);
  return {
    regimes: usable.map(({ name }, index) => ({
      name,
      feePerDay: toBigint((total[index] ?? 0) * DAY_MS * dec18ToNumber(facts.price.now)),
    })),
    width,
    perDay,
    month: atBothPrices((price) => plus(feesIn(total, facts.monthLeftMs, price), spent)),
    empty: atBothPrices((price) => timeLeft(facts.available, perDay[price])),
    owners: [...owners]
      .map((owner) => {
        const own = rates.map((byOwner) => byOwner.get(owner) ?? 0);
        const past = spentBy.get(owner) ?? 0n;
        return { owner, spent: past, month: plus(feesIn(own, facts.monthLeftMs, "now"), past) };
      })
      .toSorted((a, b) => Number(b.month.expected - a.month.expected) || (a.owner < b.owner ? -1 : 1)),
    ...changesOf(facts.queries, usable),
  };
}

function atBothPrices<T>(read: (price: ForecastPrice) => T): Record<ForecastPrice, T> {
  return { now: read("now"), cap: read("cap") };
}

/** Gas for each ms, by owner. */
function gasRates(queries: readonly ForecastQuery[], regime: Regime): ReadonlyMap<string, number> {
  const measured = new Map(regime.queries.map((one) => [one.queryId, one]));
  const perResult = gasPerResult(regime.queries);
  const rates = new Map<string, number>();
  const add = (owner: string, rate: number): void => void rates.set(owner, (rates.get(owner) ?? 0) + rate);
  for (const query of queries) add(query.owner, rateOf(query, measured.get(query.id), regime, perResult));
  // Light clients without a query.
  const shared = measured.get(0n);
  if (shared !== undefined) add(shared.owner, Number(shared.gas) / regime.runningMs);
  return rates;
}

function rateOf(
  { owner, intervalMs, ageMs, gas }: ForecastQuery,
  sum: QuerySum | undefined,
  { runningMs, lengthMs }: Regime,
  perResult: (owner: string) => number | undefined,
): number {
  const wasThere = ageMs === undefined ? sum !== undefined : ageMs >= lengthMs;
  if (wasThere) return Number(sum?.gas ?? 0n) / runningMs;
  const servedMs = Math.min(ageMs ?? 0, runningMs);
  if (sum !== undefined && sum.results > 0 && servedMs >= MIN_AGE_MS) return Number(sum.gas) / servedMs;
  if (intervalMs === undefined)
    return servedMs > 0 ? Number(sum?.gas ?? 0n) / Math.max(servedMs, MIN_AGE_MS) : 0;
  const own = sum !== undefined && sum.results > 0 ? Number(sum.gas) / sum.results : undefined;
  return (own ?? perResult(owner) ?? Number(gas)) / intervalMs;
}

/** Measured gas of a result of an owner, or of all when that owner has none. */
function gasPerResult(queries: readonly QuerySum[]): (owner: string) => number | undefined {
  const all = meanGas(queries);
  const owners = new Map<string, QuerySum[]>();
  for (const one of queries) owners.set(one.owner, [...(owners.get(one.owner) ?? []), one]);
  return (owner) => meanGas(owners.get(owner) ?? []) ?? all;
}

function meanGas(queries: readonly QuerySum[]): number | undefined {
  const results = queries.reduce((sum, one) => sum + one.results, 0);
  return results === 0 ? undefined : Number(queries.reduce((sum, one) => sum + one.gas, 0n)) / results;
}

/** Half the relative width: two standard errors of the mean of an hour. */
function widthOf(hours: readonly SpanSum[]): number {
  const fees = hours.map(({ fee }) => Number(fee));
  const mean = fees.reduce((sum, fee) => sum + fee, 0) / fees.length;
  if (fees.length < MIN_HOURS || mean === 0) return UNKNOWN_WIDTH;
  const variance = fees.reduce((sum, fee) => sum + (fee - mean) ** 2, 0) / (fees.length - 1);
  return Math.min(1, Math.max(MIN_WIDTH, (2 * Math.sqrt(variance / fees.length)) / mean));
}

/** From the lowest regime to the highest, widened; in between the mean. */
function rangeOf(values: readonly number[], width: number): Range {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    low: toBigint(Math.min(...values) * (1 - width)),
    expected: toBigint(mean),
    high: toBigint(Math.max(...values) * (1 + width)),
  };
}

function plus({ low, expected, high }: Range, spent: bigint): Range {
  return { low: low + spent, expected: expected + spent, high: high + spent };
}

function timeLeft(available: bigint | undefined, perDay: Range): TimeLeft | undefined {
  if (available === undefined || perDay.high === 0n) return undefined;
  if (available <= 0n) return { soonestMs: 0, expectedMs: 0, latestMs: 0 };
  const left = Number(available) * DAY_MS;
  return {
    soonestMs: left / Number(perDay.high),
    expectedMs: left / Number(perDay.expected),
    latestMs: left / Number(perDay.low),
  };
}

function changesOf(
  queries: readonly ForecastQuery[],
  regimes: readonly Regime[],
): Pick<SpendingForecast, "newQueries" | "goneQueries"> {
  const longest = regimes.reduce((most, one) => (one.lengthMs > most.lengthMs ? one : most));
  const ids = new Set(queries.map(({ id }) => id));
  return {
    newQueries: queries.filter(({ ageMs }) => ageMs !== undefined && ageMs < longest.lengthMs).length,
    goneQueries: longest.queries.filter(({ queryId }) => queryId !== 0n && !ids.has(queryId)).length,
  };
}

function sumBy(sums: readonly QuerySum[], keyOf: (sum: QuerySum) => string): ReadonlyMap<string, bigint> {
  const found = new Map<string, bigint>();
  for (const one of sums) found.set(keyOf(one), (found.get(keyOf(one)) ?? 0n) + one.fee);
  return found;
}

function toBigint(value: number): bigint {
  return BigInt(Math.round(value));
}
