import { type Dec18, DEC18_ONE, mulDec18 } from "../../platform/base/decimal.ts";
import { addAmounts, sumsBy } from "../result/amounts.ts";
import { minInt } from "../../platform/base/integers.ts";
import { DAY_MS, MINUTE_MS } from "../../platform/base/time.ts";
import {
  demandOf,
  feesOf,
  gasPerDay,
  type MarketFacts,
  type QueryLoad,
  remediesFor,
  type Remedy,
  type SteadyState,
  steadyState,
} from "./steady-state.ts";

export interface ForecastInput extends MarketFacts {
  readonly loads: readonly QueryLoad[];
}

/** A prediction of the queries' cost and lateness in a fee market, based on their periods and gas. */
export interface Forecast extends SteadyState {
  /** Changes that would reduce the lateness, with their cost; empty if results are on time. */
  readonly remedies: readonly Remedy[];
}

/** Forecasts the steady state. Takes time linear in the number of loads, so that a forecast for each status request is affordable. */
export function forecast({ loads, ...facts }: ForecastInput): Forecast {
  const demand = demandOf(loads, facts);
  const steady = steadyState(demand);
  if (steady.lateBlocks === 0) return { ...steady, remedies: [] };
  const isQuieter = loads.some(({ gas, gasWithoutCallback }) => gasWithoutCallback < gas);
  const quiet = isQuieter
    ? steadyState(demandOf(loads, facts, ({ gas, gasWithoutCallback }) => minInt(gas, gasWithoutCallback)))
    : undefined;
  return { ...steady, remedies: remediesFor(demand, steady, quiet) };
}

export interface RegisteredLoad extends QueryLoad {
  readonly id: bigint;
  readonly owner: string;
  /** Number of local blocks since the query's registration; undefined if unknown. */
  readonly ageBlocks: bigint | undefined;
}

/** A query's gas and cost over a period. Query 0 represents light clients that no query uses. */
interface MeasuredQuery {
  readonly queryId: bigint;
  readonly owner: string;
  readonly results: number;
  readonly gas: bigint;
  readonly fee: bigint;
}

/** Measurements over one period, from which the forecast extrapolates. */
export interface Regime {
  readonly name: "hours" | "days" | "month";
  /** Time for which the relayer ran during the period, ms. */
  readonly runningMs: number;
  /** Time from the start of the period until now, ms. */
  readonly lengthMs: number;
  readonly queries: readonly MeasuredQuery[];
}

export const FORECAST_PRICES = ["now", "cap"] as const;
export type ForecastPrice = (typeof FORECAST_PRICES)[number];

export interface SpendingInput {
  readonly loads: readonly RegisteredLoad[];
  /** Local block time, ms; undefined until known. */
  readonly blockMs: number | undefined;
  /** Number of blocks by which the fee market delays each result, as in {@link SteadyState.lateBlocks}. */
  readonly lateBlocks: number;
  readonly regimes: readonly Regime[];
  /** Fees of each of the last whole hours, whose variation determines the estimate's width. */
  readonly hours: readonly { readonly fee: bigint }[];
  /** Price per unit of gas used, at the current gas price and at `gas.max_price`. */
  readonly price: Record<ForecastPrice, Dec18>;
  /** Costs of the current calendar month so far. */
  readonly month: readonly MeasuredQuery[];
  readonly monthLeftMs: number;
  /** Amount that the relayer may spend: the balance minus its reserve, or the remaining fee grant; undefined if unknown. */
  readonly available: bigint | undefined;
}

/** An estimated range of fees. `low` equals `high` only if no more fees are expected. */
export interface Range {
  readonly low: bigint;
  readonly expected: bigint;
  readonly high: bigint;
}

/** Estimates of the time until the funds run out, ms. */
export interface TimeLeft {
  readonly soonestMs: number;
  readonly expectedMs: number;
  /** The longest estimate, which is infinite if the lowest estimated spending is zero. */
  readonly latestMs: number;
}

export interface SpendingForecast {
  /** The measured periods on which the estimate is based, at least one. */
  readonly regimes: readonly { readonly name: Regime["name"]; readonly feePerDay: bigint }[];
  /** Relative margin by which the range of the periods' estimates is widened at both ends. */
  readonly width: number;
  readonly perDay: Record<ForecastPrice, Range>;
  /** Paid and expected fees for the whole month. */
  readonly month: Record<ForecastPrice, Range>;
  readonly empty: Record<ForecastPrice, TimeLeft | undefined>;
  /** Each owner's cost so far, and the expected cost of the whole month, most expensive first. */
  readonly owners: readonly { readonly owner: string; readonly spent: bigint; readonly month: Range }[];
  /** Number of registered queries that are younger than the longest measured period. */
  readonly newQueries: number;
  /** Number of measured queries that no longer exist. */
  readonly goneQueries: number;
}

/** Minimum time that the relayer must have run in a measured period for the forecast to use the period. */
const MIN_RUNNING_MS = 10 * MINUTE_MS;
/** Age from which a query's own measurements are used. A younger query is estimated from its update period. */
const MIN_AGE_MS = 30 * MINUTE_MS;
/** Minimum relative width of an estimate. A single block, result or price can shift the estimate by this much. */
const MIN_WIDTH = 0.05;
/** Relative width of an estimate if too few hours were measured to determine the fees' variation. */
const UNKNOWN_WIDTH = 0.5;
const MIN_HOURS = 3;

/**
 * Forecasts spending, at the current price and at `gas.max_price`, from the gas that the registered queries used in each measured
 * period (regime). Returns undefined if the relayer has run less than ten minutes in every period.
 *
 * | query | gas rate |
 * |---|---|
 * | registered before the regime | measured over the regime |
 * | registered within the regime | measured since its registration |
 * | too new to measure | period, market lateness, and measured gas per result |
 * | removed | none |
 */
export function forecastSpending(input: SpendingInput): SpendingForecast | undefined {
  const { price, month, monthLeftMs, available } = input;
  const regimes = input.regimes.filter(({ runningMs }) => runningMs >= MIN_RUNNING_MS);
  if (regimes.length === 0) return undefined;
  const rates = regimes.map((regime) => gasByOwner(input, regime));
  const totals = rates.map((byOwner) => sumOf(byOwner.values()));
  const width = widthOf(input.hours);
  const rest = (gas: readonly Dec18[], at: ForecastPrice, spent: bigint): Range =>
    feeRange(
      gas.map((perDay) => (perDay * BigInt(Math.round(monthLeftMs))) / BigInt(DAY_MS)),
      price[at],
      { width, spent },
    );
  const perDay = atBothPrices((at) => feeRange(totals, price[at], { width, spent: 0n }));
  const spentBy = sumsBy(
    month,
    ({ owner }) => owner,
    ({ fee }) => ({ fee }),
  );
  const spentInMonth = sumOf(month.map(({ fee }) => fee));
  const owners = new Set([...spentBy.keys(), ...rates.flatMap((byOwner) => [...byOwner.keys()])]);
  return {
    regimes: regimes.map(({ name }, index) => ({ name, feePerDay: feesOf(totals[index] ?? 0n, price.now) })),
    width,
    perDay,
    month: atBothPrices((at) => rest(totals, at, spentInMonth)),
    empty: atBothPrices((at) => timeLeft(available, perDay[at])),
    owners: [...owners]
      .map((owner) => {
        const spent = spentBy.get(owner)?.fee ?? 0n;
        const gas = rates.map((byOwner) => byOwner.get(owner) ?? 0n);
        return { owner, spent, month: rest(gas, "now", spent) };
      })
      .toSorted((a, b) => Number(b.month.expected - a.month.expected) || (a.owner < b.owner ? -1 : 1)),
    ...changesOf(input, regimes),
  };
}

function atBothPrices<T>(read: (price: ForecastPrice) => T): Record<ForecastPrice, T> {
  return { now: read("now"), cap: read("cap") };
}

function sumOf(values: Iterable<bigint>): bigint {
  return [...values].reduce((sum, value) => sum + value, 0n);
}

function gasByOwner(input: SpendingInput, regime: Regime): ReadonlyMap<string, Dec18> {
  const measured = new Map(regime.queries.map((one) => [one.queryId, one]));
  const meanOf = gasOfResult(regime.queries);
  const rates = new Map<string, Dec18>();
  const add = (owner: string, rate: Dec18): void => void rates.set(owner, (rates.get(owner) ?? 0n) + rate);
  for (const load of input.loads) {
    const sum = measured.get(load.id);
    add(
      load.owner,
      measuredGas(load, sum, regime, input) ?? plannedGas(load, meanGas(sum) ?? meanOf(load), input),
    );
  }
  const shared = measured.get(0n);
  if (shared !== undefined) add(shared.owner, gasPerDay(shared.gas * DEC18_ONE, regime.runningMs));
  return rates;
}

/** Returns a query's measured gas per day; undefined for a new query that has too few results. */
function measuredGas(
  load: RegisteredLoad,
  sum: MeasuredQuery | undefined,
  { runningMs, lengthMs }: Regime,
  { blockMs }: SpendingInput,
): Dec18 | undefined {
  const ageMs = ageOf(load, blockMs);
  const used = (sum?.gas ?? 0n) * DEC18_ONE;
  if (ageMs === undefined ? sum !== undefined : ageMs >= lengthMs) return gasPerDay(used, runningMs);
  const servedMs = Math.min(ageMs ?? 0, runningMs);
  if (sum !== undefined && sum.results > 0 && servedMs >= MIN_AGE_MS) return gasPerDay(used, servedMs);
  // Use a TX query's measurement, because the number of its results cannot be predicted.
  const isPlanned = load.updatePeriod !== undefined && blockMs !== undefined;
  return isPlanned ? undefined : gasPerDay(used, Math.max(servedMs, MIN_AGE_MS));
}

/** Returns a query's gas per day at its steady-state rate of results. */
function plannedGas(
  { updatePeriod }: RegisteredLoad,
  gasOfOne: Dec18,
  { blockMs = 0, lateBlocks }: SpendingInput,
): Dec18 {
  const intervalMs = (Number(updatePeriod) + lateBlocks) * blockMs;
  return intervalMs === Infinity ? 0n : gasPerDay(gasOfOne, intervalMs);
}

function ageOf({ ageBlocks }: RegisteredLoad, blockMs: number | undefined): number | undefined {
  return ageBlocks === undefined || blockMs === undefined ? undefined : Number(ageBlocks) * blockMs;
}

/**
 * Returns a function that estimates a query's gas per result. The function prefers the owner's measured mean to the mean over all
 * owners, and this mean to the expected gas.
 */
function gasOfResult(queries: readonly MeasuredQuery[]): (load: RegisteredLoad) => Dec18 {
  const owners = sumsBy(
    queries,
    ({ owner }) => owner,
    ({ gas, results }) => ({ gas, results }),
  );
  const all = meanGas([...owners.values()].reduce((a, b) => addAmounts(a, b), { gas: 0n, results: 0 }));
  return ({ owner, gas }) => meanGas(owners.get(owner)) ?? all ?? gas * DEC18_ONE;
}

function meanGas(sum: Pick<MeasuredQuery, "gas" | "results"> | undefined): Dec18 | undefined {
  return sum === undefined || sum.results === 0 ? undefined : (sum.gas * DEC18_ONE) / BigInt(sum.results);
}

/** Returns half the relative width of an estimate: two standard errors of the hourly mean. */
function widthOf(hours: SpendingInput["hours"]): number {
  const fees = hours.map(({ fee }) => Number(fee));
  const mean = fees.reduce((sum, fee) => sum + fee, 0) / fees.length;
  if (fees.length < MIN_HOURS || mean === 0) return UNKNOWN_WIDTH;
  const variance = fees.reduce((sum, fee) => sum + (fee - mean) ** 2, 0) / (fees.length - 1);
  return Math.min(1, Math.max(MIN_WIDTH, (2 * Math.sqrt(variance / fees.length)) / mean));
}

/**
 * Returns the fees for the lowest and highest gas, widened by `width`, and for the mean gas. Each amount includes the fees already
 * paid (`spent`).
 */
function feeRange(
  gas: readonly Dec18[],
  price: Dec18,
  { width, spent }: { readonly width: number; readonly spent: bigint },
): Range {
  const sorted = gas.toSorted((a, b) => (a < b ? -1 : 1));
  const part = BigInt(Math.round(width * 1e9)) * 1_000_000_000n;
  return {
    low: spent + feesOf(mulDec18(sorted[0] ?? 0n, DEC18_ONE - part), price),
    expected: spent + feesOf(sumOf(gas) / BigInt(gas.length), price),
    high: spent + feesOf(mulDec18(sorted.at(-1) ?? 0n, DEC18_ONE + part), price),
  };
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
  { loads, blockMs }: SpendingInput,
  regimes: readonly Regime[],
): Pick<SpendingForecast, "newQueries" | "goneQueries"> {
  const longest = regimes.reduce((most, one) => (one.lengthMs > most.lengthMs ? one : most));
  const ids = new Set(loads.map(({ id }) => id));
  return {
    newQueries: loads.filter((load) => (ageOf(load, blockMs) ?? Infinity) < longest.lengthMs).length,
    goneQueries: longest.queries.filter(({ queryId }) => queryId !== 0n && !ids.has(queryId)).length,
  };
}
