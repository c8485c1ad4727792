import {
  closeBlock,
  gasUpToPrice,
  initialState,
  type MarketParams,
  priceAfter,
  type State,
  targetOf,
} from "../../cosmos/fee-market/market.ts";
import { type Dec18, DEC18_ONE } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import { DAY_MS } from "../../platform/base/time.ts";

/** Queries of equal period and gas. */
export interface QueryLoad {
  readonly queries: number;
  /** Local blocks between two results of a query, at least 1. */
  readonly updatePeriod: bigint;
  /** Gas of one result. */
  readonly gas: bigint;
  /** The same, when the chain does not call the contract. Equal to `gas` for a query without a callback. */
  readonly gasWithoutCallback: bigint;
}

/** What a forecast depends on. */
export interface ForecastInput {
  readonly loads: readonly QueryLoad[];
  readonly params: MarketParams;
  /** Gas of others in a block. */
  readonly othersGas: bigint;
  /** Price up to which a backlog may burst; see {@link ceilingOf}. */
  readonly ceiling: Dec18;
  /** Time between two local blocks, ms. */
  readonly blockMs: number;
  /** Price that is paid for a unit of used gas, divided by the block's price: fees are paid for gas limits, with a margin. */
  readonly feeFactor: Dec18;
  readonly batch: {
    /** Gas of a block with results besides the results: its transaction and client updates. 0 when `QueryLoad.gas` has a share of it. */
    readonly fixedGas: bigint;
    /** Share of a block that a burst may use, per mille. */
    readonly blockSharePermille: bigint;
  };
}

/** What a set of queries costs at a market, and how late its results are in the steady state. */
export interface Forecast {
  /** Gas that the relayer can use of each block while the price stays as it is: target less others. */
  readonly sustainableGas: bigint;
  /** Gas of each block if every result were on time, rounded up. Demand is above the market when it exceeds `sustainableGas`. */
  readonly demandGas: bigint;
  /** Results of a block that the market bears: of these queries, in the proportions of the steady state. */
  readonly sustainableResults: number;
  /** Results of a block if every one were on time. */
  readonly demandResults: number;
  /**
   * Blocks by which each result is late in the steady state; 0 when the market bears the demand, `Infinity` when others leave
   * nothing.
   */
  readonly lateBlocks: number;
  readonly resultsPerDay: number;
  /** Fees of a day, in units of the fee denom, rounded up. */
  readonly costPerDay: bigint;
  /** Fees of a result, in units of the fee denom; 0 without results. */
  readonly costPerResult: Dec18;
  /** What would make the results timely, with its cost. Empty when they are. */
  readonly remedies: readonly Remedy[];
}

/** A change that reduces the lateness. */
export type Remedy =
  /** all update periods are multiplied by `factor`; absent when others leave nothing */
  | { readonly kind: "longer-periods"; readonly factor: number; readonly costPerDay: bigint }
  /**
   * a ceiling of `ceiling`, twice the present one, lets one burst send `burstResults` results; the steady state is unchanged.
   * `costPerDay` is the cost of one such burst a day
   */
  | {
      readonly kind: "higher-ceiling";
      readonly ceiling: Dec18;
      readonly burstResults: number;
      readonly costPerDay: bigint;
    }
  /** no result calls its contract; absent when that saves nothing */
  | { readonly kind: "fewer-callbacks"; readonly lateBlocks: number; readonly costPerDay: bigint };

/** Returns the price above which only urgent results are sent. */
export function ceilingOf(
  { gas }: { readonly gas: { readonly price?: { readonly comfortable: Dec18 } | undefined } },
  { minBaseGasPrice }: Pick<MarketParams, "minBaseGasPrice">,
): Dec18 {
  return gas.price?.comfortable ?? 2n * minBaseGasPrice;
}

/** A cap above this many minima does not protect: the price gets there only when blocks are full. */
const USEFUL_CAP = 100n;

/** Returns what is wrong with the configured prices, and what to do. Undefined when they suit the market. */
export function adviseOnPrices(
  { ceiling, cap }: { readonly ceiling: Dec18; readonly cap: Dec18 },
  { minBaseGasPrice: minimum }: Pick<MarketParams, "minBaseGasPrice">,
): readonly [text: string, advice: string] | undefined {
  const times = (price: Dec18): string => `${(Number(price) / Number(minimum)).toFixed(1)} × the minimum`;
  if (cap < minimum)
    return [`gas.max_price is ${times(cap)}: nothing is sent`, "raise gas.max_price to twice the minimum"];
  if (ceiling < minimum)
    return [
      `gas.price.comfortable is ${times(ceiling)}: only urgent results are sent`,
      "raise gas.price.comfortable to the minimum or more, or remove it",
    ];
  if (ceiling >= cap && cap > USEFUL_CAP * minimum)
    return [
      `gas.price.comfortable is not below gas.max_price, which is ${times(cap)}: a backlog fills every block, and 300 full blocks raise the price 400,000-fold; the relayer pays up to gas.max_price`,
      "remove gas.price.comfortable, or lower gas.max_price",
    ];
  return undefined;
}

/**
 * Computes what queries cost at a market and how late they are. Cheap enough for each status: linear in the number of loads, and
 * otherwise in that of different periods.
 *
 * The relayer sends the latest results first and fills each block up to the market's target. When the demand is above that, all
 * lateness approaches the same number of blocks L, with which the sum of gas / (period + L) is what the market bears.
 */
export function forecast({ loads, ...facts }: ForecastInput): Forecast {
  const demand = { ...facts, groups: byPeriod(loads, ({ gas }) => gas) };
  const steady = steadyState(demand);
  if (steady.lateBlocks === 0) return { ...steady, remedies: [] };
  const isQuieter = loads.some(({ gas, gasWithoutCallback }) => gasWithoutCallback < gas);
  const quiet = steadyState({
    ...facts,
    groups: byPeriod(loads, ({ gas, gasWithoutCallback }) => minInt(gas, gasWithoutCallback)),
  });
  return {
    ...steady,
    remedies: [
      ...periodsAndCeiling(demand, steady),
      ...(isQuieter
        ? [{ kind: "fewer-callbacks", lateBlocks: quiet.lateBlocks, costPerDay: quiet.costPerDay } as const]
        : []),
    ],
  };
}

/** Queries of equal period. */
interface Group {
  readonly queries: number;
  readonly updatePeriod: bigint;
  /** Gas of one result of each of them. */
  readonly gas: bigint;
}

type Facts = Omit<ForecastInput, "loads"> & { readonly groups: readonly Group[] };

/** All results of one period are equally late, so only the sum of their gas matters. */
function byPeriod(loads: readonly QueryLoad[], gasOf: (load: QueryLoad) => bigint): readonly Group[] {
  const groups = new Map<bigint, Group>();
  for (const load of loads) {
    const { updatePeriod } = load;
    const { queries, gas } = groups.get(updatePeriod) ?? { queries: 0, gas: 0n };
    const total = gas + BigInt(load.queries) * gasOf(load);
    groups.set(updatePeriod, { queries: queries + load.queries, updatePeriod, gas: total });
  }
  return [...groups.values()];
}

function steadyState(input: Facts): Omit<Forecast, "remedies"> {
  const sustainableGas = maxInt(targetOf(input.params) - input.othersGas, 0n);
  const demand = demandOf(input);
  const demandGas = ceilQuo(demand.gas, DEC18_ONE);
  const demandResults = Number(demand.results) / Number(DEC18_ONE);
  const isAbove = demandGas > sustainableGas;
  const lateBlocks = isAbove ? lateBlocksAt(input, Number(sustainableGas)) : 0;
  const results = isAbove ? rateAt(input, lateBlocks).results : demandResults;
  const resultsPerDay = (results * DAY_MS) / input.blockMs;
  const fees = feesPerDay(input, isAbove ? sustainableGas * DEC18_ONE : demand.gas);
  return {
    sustainableGas,
    demandGas,
    sustainableResults: isAbove ? results : demandResults * rateFactor(input, Number(sustainableGas)),
    demandResults,
    lateBlocks,
    resultsPerDay,
    costPerDay: ceilQuo(fees, DEC18_ONE),
    costPerResult: perResult(fees, resultsPerDay),
  };
}

/** Gas and results of a block. */
interface Rate {
  readonly gas: number;
  readonly results: number;
}

/** Returns gas and results of a block if every result were on time, without the error of floating point. */
function demandOf({ groups, batch }: Facts): { readonly gas: Dec18; readonly results: Dec18 } {
  let [gas, results] = [0n, 0n];
  for (const group of groups) {
    gas += (group.gas * DEC18_ONE) / group.updatePeriod;
    results += (BigInt(group.queries) * DEC18_ONE) / group.updatePeriod;
  }
  return { gas: gas + batch.fixedGas * minInt(results, DEC18_ONE), results };
}

/**
 * Returns gas and results of a block when all results are late by `lateBlocks`. The phases of the queries are independent, so with
 * less than one result a block, that part of the blocks has the fixed gas.
 */
function rateAt({ groups, batch }: Pick<Facts, "groups" | "batch">, lateBlocks: number): Rate {
  let [gas, results] = [0, 0];
  for (const group of groups) {
    const interval = Number(group.updatePeriod) + lateBlocks;
    gas += Number(group.gas) / interval;
    results += group.queries / interval;
  }
  return { gas: gas + Number(batch.fixedGas) * Math.min(results, 1), results };
}

/** Bisections: more than a double has digits. */
const BISECTIONS = 100;

/** Returns the lateness with which the queries use `gas` of each block. */
function lateBlocksAt(input: Facts, gas: number): number {
  if (gas === 0) return Infinity;
  // With L blocks of lateness no query has a rate above 1 / L, so at this bound they use less.
  const all = input.groups.reduce(
    (sum, group) => sum + Number(group.gas) + group.queries * Number(input.batch.fixedGas),
    0,
  );
  let [low, high] = [0, all / gas];
  for (let step = 0; step < BISECTIONS; step++) {
    const middle = (low + high) / 2;
    if (rateAt(input, middle).gas > gas) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the factor on all rates with which the queries would use `gas` of each block. 0 without queries. */
function rateFactor({ groups, batch }: Facts, gas: number): number {
  const { gas: own, results } = rateAt({ groups, batch: { ...batch, fixedGas: 0n } }, 0);
  if (results === 0) return 0;
  const fixed = Number(batch.fixedGas);
  // With less than one result a block, each has the fixed gas of its own block.
  const sparse = gas / (own + fixed * results);
  return results * sparse <= 1 ? sparse : (gas - fixed) / own;
}

/** Returns the fees of a day for gas in each block at the lowest price, times 10^18. */
function feesPerDay({ params, feeFactor, blockMs }: Facts, gas: Dec18): bigint {
  const blockUs = BigInt(Math.max(1, Math.round(blockMs * 1_000)));
  return ceilQuo(
    gas * params.minBaseGasPrice * feeFactor * BigInt(DAY_MS * 1_000),
    DEC18_ONE * DEC18_ONE * blockUs,
  );
}

function perResult(fees: Dec18, results: number): Dec18 {
  const millionths = BigInt(Math.round(results * 1e6));
  return millionths === 0n ? 0n : (fees * 1_000_000n) / millionths;
}

function ceilQuo(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

function periodsAndCeiling(
  input: Facts,
  { sustainableGas, costPerDay }: Pick<Forecast, "sustainableGas" | "costPerDay">,
): readonly Remedy[] {
  const rates = rateFactor(input, Number(sustainableGas));
  const ceiling = 2n * input.ceiling;
  const burst = burstUpTo(input, ceiling, sustainableGas);
  return [
    ...(rates > 0 ? [{ kind: "longer-periods", factor: 1 / rates, costPerDay } as const] : []),
    ...(burst.results > 0
      ? [{ kind: "higher-ceiling", ceiling, burstResults: burst.results, costPerDay: burst.cost } as const]
      : []),
  ];
}

/** Bursts end before: while the demand is a little above the market, the price takes very long to reach a ceiling. */
const MAX_BURST_BLOCKS = 1_000;

/**
 * Simulates one burst from the lowest price, with a result of every query waiting. It ends when the price has reached
 * `ceiling`, and when no more results wait than the market bears.
 */
function burstUpTo(
  { groups, params, othersGas, feeFactor, batch }: Facts,
  ceiling: Dec18,
  sustainableGas: bigint,
): { readonly results: number; readonly cost: bigint } {
  const most = minInt(
    (params.maxBlockUtilization * batch.blockSharePermille) / 1_000n,
    params.maxBlockUtilization - othersGas,
  );
  const start = initialState(params);
  let state: State = { ...start, window: start.window.map(() => targetOf(params)) };
  /** Share of each group that is due. */
  let due = groups.map(() => 1);
  let [results, fees] = [0, 0n];
  for (let block = 0; block < MAX_BURST_BLOCKS; block++) {
    const dueGas = groups.reduce((sum, { gas }, index) => sum + Number(gas) * (due[index] ?? 0), 0);
    const wanted = minInt(BigInt(Math.floor(dueGas)) + batch.fixedGas, most);
    const gas =
      priceAfter(state, wanted + othersGas, params) <= ceiling
        ? wanted
        : (gasUpToPrice(state, ceiling, params) ?? 0n) - othersGas;
    if (gas <= sustainableGas) break;
    const share = Math.max(0, Math.min(1, Number(gas - batch.fixedGas) / dueGas));
    results += share * groups.reduce((sum, { queries }, index) => sum + queries * (due[index] ?? 0), 0);
    fees += gas * state.baseGasPrice * feeFactor;
    // A query has one result at most, which is sent once: the next is due after its period.
    due = groups.map(({ updatePeriod }, index) =>
      Math.min(1, (due[index] ?? 0) * (1 - share) + 1 / Number(updatePeriod)),
    );
    state = closeBlock({ ...state, window: state.window.with(Number(state.index), gas + othersGas) }, params);
  }
  return { results: Math.floor(results), cost: ceilQuo(fees, DEC18_ONE * DEC18_ONE) };
}
