import {
  closeBlock,
  gasUpToPrice,
  initialState,
  type MarketParams,
  priceAfter,
  type State,
  targetOf,
} from "../../cosmos/fee-market/market.ts";
import { type Dec18, DEC18_ONE, mulDec18, parseDec18 } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import { DAY_MS } from "../../platform/base/time.ts";

/** A group of queries that have the same period and gas. */
export interface QueryLoad {
  readonly queries: number;
  /** Number of local blocks between two results of a query, at least 1; undefined for a TX query, whose results arrive irregularly. */
  readonly updatePeriod: bigint | undefined;
  readonly gas: bigint;
  /** Gas per result if the chain does not call the contract; equals `gas` if the query has no callback. */
  readonly gasWithoutCallback: bigint;
}

/**
 * Estimated ratio of fees paid to gas used × block price. The ratio exceeds 1, because the gas limit and the offered price both
 * include a margin. The estimate applies until the relayer has measured the ratio.
 */
export const FEE_FACTOR = parseDec18("1.05");

/** The market state and settings that determine the cost of results together with the queries. */
export interface MarketFacts {
  readonly params: MarketParams;
  readonly othersGas: bigint;
  /** Maximum price at which a burst may send a backlog. */
  readonly ceiling: Dec18;
  readonly blockMs: number;
  /** Price paid per unit of gas used, divided by the block's price. Fees are paid for gas limits, which include a margin. */
  readonly feeFactor: Dec18;
  readonly batch: {
    /** Gas for the transaction and client updates in each block with results; 0 if `QueryLoad.gas` includes a share of this gas. */
    readonly fixedGas: bigint;
    /** Share of a block that a burst may use, per mille. */
    readonly blockSharePermille: bigint;
  };
}

/** The queries' lateness, and their cost at the market's lowest price, in the long run and without changes to queries or market. */
export type SteadyState = ReturnType<typeof steadyState>;

interface Group {
  readonly queries: number;
  readonly updatePeriod: bigint;
  /** Total gas of one result for each of the group's queries. */
  readonly gas: bigint;
}

interface Demand extends MarketFacts {
  readonly groups: readonly Group[];
}

/** Groups KV queries by period. Queries with the same period are equally late, so only their total gas matters. */
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
 * Computes the steady state, in time linear in the number of distinct periods.
 *
 * The relayer sends the most overdue results first and fills each block up to the market's target. If demand exceeds the target,
 * all results become late by the same number of blocks L, at which the sum of gas / (period + L) equals the sustainable gas.
 */
export function steadyState(demand: Demand) {
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
    /** Gas per block that the relayer can use without changing the price: the market's target minus other senders' gas. */
    sustainableGas,
    /** Gas per block if every result is on time, rounded up. Results are late if `demandGas` exceeds `sustainableGas`. */
    demandGas,
    /** Number of results per block that the market can sustain if each query keeps its share of the results. */
    sustainableResults: isAbove ? results : demandResults * rateFactor(demand, Number(sustainableGas)),
    /** Number of results per block if every result is on time. */
    demandResults,
    /**
     * Number of blocks by which each result is late in the steady state; 0 if the market meets the demand, `Infinity` if other
     * senders leave no gas.
     */
    lateBlocks,
    resultsPerDay,
    /** Fees per day in the fee denom's base unit, rounded up. */
    costPerDay: feesOf(gas, price),
    /** Fees per result in the fee denom's base unit; 0 if there are no results. */
    costPerResult: perResult(mulDec18(gas, price), resultsPerDay),
  };
}

/** Returns the fees for gas at a price, in the fee denom's base unit, rounded up. */
export function feesOf(gas: Dec18, price: Dec18): bigint {
  return ceilQuo(gas * price, DEC18_ONE * DEC18_ONE);
}

export function gasPerDay(gas: Dec18, intervalMs: number): Dec18 {
  const intervalUs = BigInt(Math.max(1, Math.round(intervalMs * 1_000)));
  return (gas * BigInt(DAY_MS * 1_000)) / intervalUs;
}

function perResult(fees: Dec18, results: number): Dec18 {
  const millionths = BigInt(Math.round(results * 1e6));
  return millionths === 0n ? 0n : (fees * 1_000_000n) / millionths;
}

function ceilQuo(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

/** Returns gas and results per block if every result is on time, computed without floating-point errors. */
function onTimeRate({ groups, batch }: Demand): { readonly gas: Dec18; readonly results: Dec18 } {
  let [gas, results] = [0n, 0n];
  for (const group of groups) {
    gas += (group.gas * DEC18_ONE) / group.updatePeriod;
    results += (BigInt(group.queries) * DEC18_ONE) / group.updatePeriod;
  }
  return { gas: gas + batch.fixedGas * minInt(results, DEC18_ONE), results };
}

/**
 * Returns gas and results per block if all results are `lateBlocks` blocks late and queries are due independently of each other.
 * With fewer results than blocks, only the blocks with a result use the fixed gas.
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

/** Number of bisection steps, which exceeds the number of binary digits in a double. */
const BISECTIONS = 100;

function lateBlocksAt(demand: Demand, gas: number): number {
  if (gas === 0) return Infinity;
  // If results are L blocks late, no query's rate exceeds 1 / L, so the queries use less than `gas` at this bound.
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

/** Returns the factor by which to multiply all rates so that the queries use `gas` per block; 0 if there are no queries. */
function rateFactor({ groups, batch }: Demand, gas: number): number {
  const { gas: own, results } = rateAt({ groups, batch: { ...batch, fixedGas: 0n } }, 0);
  if (results === 0) return 0;
  const fixed = Number(batch.fixedGas);
  // With fewer results than blocks, no two results share a block, so each result needs the whole fixed gas of its block.
  const sparse = gas / (own + fixed * results);
  return results * sparse <= 1 ? sparse : (gas - fixed) / own;
}

export type Remedy =
  /** Multiply all update periods by `factor`. This remedy is absent if other transactions leave no gas. */
  | { readonly kind: "longer-periods"; readonly factor: number; readonly costPerDay: bigint }
  /**
   * Raise the price ceiling to `ceiling`, twice its current value. One burst can then send `burstResults` results, while the steady
   * state does not change. `costPerDay` is the cost of one burst per day.
   */
  | {
      readonly kind: "higher-ceiling";
      readonly ceiling: Dec18;
      readonly burstResults: number;
      readonly costPerDay: bigint;
    }
  /** Deliver results without calling their contracts. This remedy is absent if contract calls cost nothing. */
  | { readonly kind: "fewer-callbacks"; readonly lateBlocks: number; readonly costPerDay: bigint };

/**
 * Returns changes that would reduce the lateness of `steady`. `quiet` is the steady state without contract calls; undefined if
 * omitting the calls saves nothing.
 */
export function remediesFor(
  demand: Demand,
  steady: SteadyState,
  quiet: SteadyState | undefined,
): readonly Remedy[] {
  const rates = rateFactor(demand, Number(steady.sustainableGas));
  const ceiling = 2n * demand.ceiling;
  const burst = burstUpTo(demand, ceiling, steady.sustainableGas);
  return [
    ...(rates > 0
      ? [{ kind: "longer-periods", factor: 1 / rates, costPerDay: steady.costPerDay } as const]
      : []),
    ...(burst.results > 0
      ? [{ kind: "higher-ceiling", ceiling, burstResults: burst.results, costPerDay: burst.cost } as const]
      : []),
    ...(quiet === undefined
      ? []
      : [{ kind: "fewer-callbacks", lateBlocks: quiet.lateBlocks, costPerDay: quiet.costPerDay } as const]),
  ];
}

/** Maximum length of a simulated burst. If demand is only slightly above the market, the price takes very long to rise. */
const MAX_BURST_BLOCKS = 1_000;

/**
 * Simulates one burst that starts at the lowest price with a pending result for each query. The burst ends at the price `ceiling`,
 * or once the market can sustain the remaining results.
 */
function burstUpTo(
  { groups, params, othersGas, feeFactor, batch }: Demand,
  ceiling: Dec18,
  sustainableGas: bigint,
): { readonly results: number; readonly cost: bigint } {
  const most = minInt(
    (params.maxBlockUtilization * batch.blockSharePermille) / 1_000n,
    params.maxBlockUtilization - othersGas,
  );
  const start = initialState(params);
  let state: State = { ...start, window: start.window.map(() => targetOf(params)) };
  /** The fraction of each group's queries that have a result due. */
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
    // A query has at most one pending result, and its next result is due after its period.
    due = groups.map(({ updatePeriod }, index) =>
      Math.min(1, (due[index] ?? 0) * (1 - share) + 1 / Number(updatePeriod)),
    );
    state = closeBlock({ ...state, window: state.window.with(Number(state.index), gas + othersGas) }, params);
  }
  return { results: Math.floor(results), cost: ceilQuo(fees, DEC18_ONE * DEC18_ONE) };
}
