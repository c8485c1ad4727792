import {
  closeBlock,
  gasUpToPrice,
  initialState,
  priceAfter,
  type State,
  targetOf,
} from "../../cosmos/fee-market/market.ts";
import { type Dec18, DEC18_ONE } from "../../platform/base/decimal.ts";
import { minInt } from "../../platform/base/integers.ts";
import { ceilQuo, type Demand, rateFactor, type SteadyState } from "./steady-state.ts";

export type Remedy =
  /** multiply all update periods by `factor`; absent if others leave no gas */
  | { readonly kind: "longer-periods"; readonly factor: number; readonly costPerDay: bigint }
  /**
   * raise the price ceiling to `ceiling`, twice its current value. One burst can then send `burstResults` results. The steady state
   * does not change. `costPerDay` is the cost of one burst per day
   */
  | {
      readonly kind: "higher-ceiling";
      readonly ceiling: Dec18;
      readonly burstResults: number;
      readonly costPerDay: bigint;
    }
  /** deliver results without calling their contracts; absent if that saves nothing */
  | { readonly kind: "fewer-callbacks"; readonly lateBlocks: number; readonly costPerDay: bigint };

/**
 * Returns changes that would reduce `steady`'s lateness. `quiet` is the steady state without callbacks; undefined if that saves
 * nothing.
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

/** Maximum length of a burst. If demand is only slightly above the market, the price takes very long to reach a ceiling. */
const MAX_BURST_BLOCKS = 1_000;

/**
 * Simulates one burst from the lowest price, with one pending result per query. The burst ends at the price `ceiling`, or once the
 * market can sustain the remaining results.
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
    // A query has at most one pending result. Its next result is due after its period.
    due = groups.map(({ updatePeriod }, index) =>
      Math.min(1, (due[index] ?? 0) * (1 - share) + 1 / Number(updatePeriod)),
    );
    state = closeBlock({ ...state, window: state.window.with(Number(state.index), gas + othersGas) }, params);
  }
  return { results: Math.floor(results), cost: ceilQuo(fees, DEC18_ONE * DEC18_ONE) };
}
