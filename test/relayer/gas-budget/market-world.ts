import {
  addUtilization,
  closeBlock,
  initialState,
  type Params,
  type State,
} from "../../../src/cosmos/fee-market/market.ts";
import type { Dec18 } from "../../../src/platform/base/decimal.ts";
import { minInt } from "../../../src/platform/base/integers.ts";
import { defaultParams } from "../../../src/localnet/chain/modules/feemarket/module.ts";
import { createMarket, type Market } from "../../../src/relayer/gas-budget/create-market.ts";
import type { MarketBudget } from "../../../src/relayer/gas-budget/budget.ts";

export const PARAMS = defaultParams("untrn");
export const MINIMUM = PARAMS.minBaseGasPrice;
export const TARGET = PARAMS.maxBlockUtilization / 2n;

/** One block of {@link runMarket}. */
export interface WorldBlock {
  /** Price that the block charged. */
  readonly price: Dec18;
  readonly own: bigint;
  readonly others: bigint;
  readonly budget: MarketBudget;
  /** What the market says of the price when the relayer's transactions of this block are sent. */
  readonly quote: ReturnType<Market["priceAt"]>;
}

export interface MarketLoad {
  readonly blocks: number;
  readonly params?: Params;
  readonly ceiling?: Dec18;
  /** Gas that becomes due in each block. */
  readonly demand: (index: number) => bigint;
  /** Gas that others would use, by the price and the gas that is left beside the relayer. */
  readonly others: (index: number, market: { readonly price: Dec18; readonly left: bigint }) => bigint;
  /** Share of a block that the relayer may use, in percent. */
  readonly blockShare?: bigint;
  /** Gas that becomes due in each block on average; by default little. */
  readonly average?: bigint;
  /** Whether what is due at first has been for long. */
  readonly isOld?: boolean;
  /** Of what is due, the part that the relayer has ready for a block, by the block's index; by default all. */
  readonly ready?: (index: number, backlog: bigint) => bigint;
  /** Blocks after which a state is known to the relayer. */
  readonly delay?: number;
}

/** Runs a relayer's budget against the exact market: each block takes what the budget allows of the backlog. */
export function runMarket(load: MarketLoad): {
  readonly blocks: readonly WorldBlock[];
  readonly market: Market;
} {
  const { params = PARAMS, delay = 0, blockShare = 90n, average = 0n, isOld = false } = load;
  const market = createMarket(
    { ceiling: load.ceiling, cap: 10n ** 18n, denom: params.feeDenom },
    { monotonicMs: () => 0, nowMs: () => 0 },
  );
  market.setParams(params);
  const states: State[] = [initialState(params)];
  const blocks: WorldBlock[] = [];
  let backlog = 0n;
  for (let index = 0; index < load.blocks; index++) {
    const height = BigInt(index + 1);
    const state = states[index] ?? initialState(params);
    const known = states[index - delay];
    if (known !== undefined) market.recordState(height - BigInt(delay), known);
    market.recordComplete(height);
    backlog += load.demand(index);
    market.plan(height, { gas: backlog, oldGas: isOld ? backlog : 0n, demandGas: average });
    const budget = market.budget() ?? {
      gas: params.maxBlockUtilization,
      toleranceGas: 0n,
      singleGas: 0n,
      phase: "unlimited" as const,
    };
    const share = (params.maxBlockUtilization * blockShare) / 100n;
    const own = minInt(minInt(budget.gas, share), load.ready?.(index, backlog) ?? backlog);
    const left = params.maxBlockUtilization - own;
    const others = minInt(load.others(index, { price: state.baseGasPrice, left }), left);
    const quote = market.priceAt(height);
    market.recordSent(height, own);
    market.recordOwn(height + 1n, own, 0n);
    backlog -= own;
    blocks.push({ price: state.baseGasPrice, own, others, budget, quote });
    const used = addUtilization(state, own + others, params);
    states.push(closeBlock("state" in used ? used.state : state, params));
  }
  return { blocks, market };
}
