import { type MarketParams, targetOf } from "../../cosmos/fee-market/market.ts";
import { type Dec18, DEC18_ONE, mulDec18, parseDec18 } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import { DAY_MS } from "../../platform/base/time.ts";

/** Queries with the same period and gas. */
export interface QueryLoad {
  readonly queries: number;
  /** Local blocks between two results of a query, at least 1; undefined for a TX query, whose results arrive irregularly. */
  readonly updatePeriod: bigint | undefined;
  /** Gas per result. */
  readonly gas: bigint;
  /** Gas per result if the chain does not call the contract. Equal to `gas` for a query without a callback. */
  readonly gasWithoutCallback: bigint;
}

/**
 * Fees are paid for gas limits at the offered price. The limit and the price slightly exceed the gas used and the price charged,
 * together by about this factor, which applies until one has been measured.
 */
export const FEE_FACTOR = parseDec18("1.05");

/** What determines the cost of results in a market, apart from the queries themselves. */
export interface MarketFacts {
  readonly params: MarketParams;
  /** Others' gas per block. */
  readonly othersGas: bigint;
  /** Price up to which a burst may send a backlog. */
  readonly ceiling: Dec18;
  /** Time between two local blocks, ms. */
  readonly blockMs: number;
  /** Price paid per unit of gas used, divided by the block's price: fees are paid for gas limits, which include a margin. */
  readonly feeFactor: Dec18;
  readonly batch: {
    /** Extra gas in each block with results: transaction and client updates. 0 if `QueryLoad.gas` includes a share of it. */
    readonly fixedGas: bigint;
    /** Share of a block that a burst may use, per mille. */
    readonly blockSharePermille: bigint;
  };
}

/** The cost of a set of queries at a market's lowest price, and how late their results are if nothing changes. */
export interface SteadyState {
  /** Gas that the relayer can use per block without changing the price: the target minus others' gas. */
  readonly sustainableGas: bigint;
  /** Gas per block if every result were on time, rounded up. Demand is above the market when this exceeds `sustainableGas`. */
  readonly demandGas: bigint;
  /** Results per block that the market can sustain, in the proportions of the steady state. */
  readonly sustainableResults: number;
  /** Results per block if every result were on time. */
  readonly demandResults: number;
  /** Blocks by which each result is late in steady state; 0 if the market meets the demand, `Infinity` if others leave no gas. */
  readonly lateBlocks: number;
  readonly resultsPerDay: number;
  /** Fees per day, in units of the fee denom, rounded up. */
  readonly costPerDay: bigint;
  /** Fees per result, in units of the fee denom; 0 without results. */
  readonly costPerResult: Dec18;
}

/** Queries with the same period. */
interface Group {
  readonly queries: number;
  readonly updatePeriod: bigint;
  /** Each query's gas per result. */
  readonly gas: bigint;
}

/** The queries in a market. */
export interface Demand extends MarketFacts {
  readonly groups: readonly Group[];
}

/** Groups KV queries by period: results with the same period are equally late, so only the sum of their gas matters. */
export function demandOf(
  loads: readonly QueryLoad[],
  facts: MarketFacts,
  gasOf: (load: QueryLoad) => bigint = ({ gas }) => gas,
): Demand {
  const groups = new Map<bigint, Group>();
  for (const load of loads) {
    const { updatePeriod } = load;
    if (updatePeriod === undefined) continue;
    const { queries, gas } = groups.get(updatePeriod) ?? { queries: 0, gas: 0n };
    const total = gas + BigInt(load.queries) * gasOf(load);
    groups.set(updatePeriod, { queries: queries + load.queries, updatePeriod, gas: total });
  }
  return { ...facts, groups: [...groups.values()] };
}

/**
 * Computes the steady state. Linear in the number of distinct periods.
 *
 * The relayer sends the latest results first and fills each block up to the market's target. If the demand exceeds that, the
 * lateness of all results approaches the same number of blocks L, at which the sum of gas / (period + L) equals the gas that the
 * market can sustain.
 */
export function steadyState(demand: Demand): SteadyState {
  const { params, othersGas, feeFactor, blockMs } = demand;
  const sustainableGas = maxInt(targetOf(params) - othersGas, 0n);
  const onTime = onTimeRate(demand);
  const demandGas = ceilQuo(onTime.gas, DEC18_ONE);
  const demandResults = Number(onTime.results) / Number(DEC18_ONE);
  const isAbove = demandGas > sustainableGas;
  const lateBlocks = isAbove ? lateBlocksAt(demand, Number(sustainableGas)) : 0;
  const results = isAbove ? rateAt(demand, lateBlocks).results : demandResults;
  const resultsPerDay = (results * DAY_MS) / blockMs;
  const gas = gasPerDay(isAbove ? sustainableGas * DEC18_ONE : onTime.gas, blockMs);
  const price = mulDec18(params.minBaseGasPrice, feeFactor);
  return {
    sustainableGas,
    demandGas,
    sustainableResults: isAbove ? results : demandResults * rateFactor(demand, Number(sustainableGas)),
    demandResults,
    lateBlocks,
    resultsPerDay,
    costPerDay: feesOf(gas, price),
    costPerResult: perResult(mulDec18(gas, price), resultsPerDay),
  };
}

/** Returns the fees for gas at a price, in units of the fee denom, rounded up. */
export function feesOf(gas: Dec18, price: Dec18): bigint {
  return ceilQuo(gas * price, DEC18_ONE * DEC18_ONE);
}

/** Returns the gas per day if `gas` is used once per interval. */
export function gasPerDay(gas: Dec18, intervalMs: number): Dec18 {
  const intervalUs = BigInt(Math.max(1, Math.round(intervalMs * 1_000)));
  return (gas * BigInt(DAY_MS * 1_000)) / intervalUs;
}

function perResult(fees: Dec18, results: number): Dec18 {
  const millionths = BigInt(Math.round(results * 1e6));
  return millionths === 0n ? 0n : (fees * 1_000_000n) / millionths;
}

/** Divides and rounds up. */
export function ceilQuo(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

/** Returns gas and results per block if every result were on time, without floating-point error. */
function onTimeRate({ groups, batch }: Demand): { readonly gas: Dec18; readonly results: Dec18 } {
  let [gas, results] = [0n, 0n];
  for (const group of groups) {
    gas += (group.gas * DEC18_ONE) / group.updatePeriod;
    results += (BigInt(group.queries) * DEC18_ONE) / group.updatePeriod;
  }
  return { gas: gas + batch.fixedGas * minInt(results, DEC18_ONE), results };
}

/**
 * Returns gas and results per block if all results are `lateBlocks` late. The queries' phases are independent, so with less than
 * one result per block, only that share of blocks incurs the fixed gas.
 */
function rateAt(
  { groups, batch }: Pick<Demand, "groups" | "batch">,
  lateBlocks: number,
): { readonly gas: number; readonly results: number } {
  let [gas, results] = [0, 0];
  for (const group of groups) {
    const interval = Number(group.updatePeriod) + lateBlocks;
    gas += Number(group.gas) / interval;
    results += group.queries / interval;
  }
  return { gas: gas + Number(batch.fixedGas) * Math.min(results, 1), results };
}

/** Number of bisection steps, which is more than a double has digits. */
const BISECTIONS = 100;

/** Returns the lateness at which the queries use `gas` per block. */
function lateBlocksAt(demand: Demand, gas: number): number {
  if (gas === 0) return Infinity;
  // With L blocks of lateness no query has a rate above 1 / L, so at this bound they use less.
  const all = demand.groups.reduce(
    (sum, group) => sum + Number(group.gas) + group.queries * Number(demand.batch.fixedGas),
    0,
  );
  let [low, high] = [0, all / gas];
  for (let step = 0; step < BISECTIONS; step++) {
    const middle = (low + high) / 2;
    if (rateAt(demand, middle).gas > gas) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the factor by which all rates must be multiplied so that the queries use `gas` per block. 0 without queries. */
export function rateFactor({ groups, batch }: Demand, gas: number): number {
  const { gas: own, results } = rateAt({ groups, batch: { ...batch, fixedGas: 0n } }, 0);
  if (results === 0) return 0;
  const fixed = Number(batch.fixedGas);
  // With less than one result a block, each has the fixed gas of its own block.
  const sparse = gas / (own + fixed * results);
  return results * sparse <= 1 ? sparse : (gas - fixed) / own;
}
