import { GenesisState } from "../../../../cosmos/proto/gen/feemarket/feemarket/v1/genesis.ts";
import * as wire from "../../../../cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import type { AnteStep } from "../../runtime/ante-step.ts";
import type { Context, ChainModule, QueryHandler } from "../../runtime/context.ts";
import { GenesisError, genesisSchema, partOr } from "../../runtime/genesis.ts";
import { queryHandlers } from "../../runtime/handlers.ts";
import { MODULE_NAME, defaultParams, findParamsError, storedParams } from "./params.ts";
import * as market from "../../../../cosmos/fee-market/market.ts";
import * as steps from "./fee-steps.ts";

interface FeemarketOptions {
  /** Fee denomination if the genesis has no parameters. */
  readonly feeDenom: string;
  /** Prices that the node's mempool requires while the market is disabled. Default: none. */
  readonly minGasPrices?: readonly steps.GasPrice[];
}

interface FeemarketDeps extends steps.SettleDeps {
  /** Burns the fees paid in a block. If absent, the fee recipient keeps them. */
  readonly burnFees?: (context: Context) => void;
}

export interface FeemarketModule extends ChainModule {
  readonly takeFee: AnteStep;
  readonly settleFee: AnteStep;
  /** Returns the maximum gas that a transaction can use, or undefined while the market is disabled. */
  readonly maxTxGas: (context: Context) => bigint | undefined;
}

/** An upper bound on the gas for paying out a fee, which happens after the gas is added to the block's utilization. */
const PAYOUT_GAS = 200_000n;

/** Creates the `feemarket` module: gas price, fee escrow and settlement. */
export function createFeemarketModule(options: FeemarketOptions, deps: FeemarketDeps): FeemarketModule {
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: [],
    queries,
    endBlock: (context) => {
      deps.burnFees?.(context);
      const params = storedParams.get(context);
      if (params.enabled)
        steps.storedState.set(context, market.closeBlock(steps.storedState.get(context), params));
    },
    initGenesis: (context, genesis) => initGenesis(context, genesis, options.feeDenom),
    exportGenesis: (context) => SCHEMA.print({ ...readParams(context), ...readState(context) }),
    takeFee: steps.createTakeFee(deps, options.minGasPrices),
    settleFee: steps.createSettleFee(deps),
    maxTxGas: (context) => {
      const { enabled, maxBlockUtilization } = storedParams.get(context);
      return enabled ? maxBlockUtilization + PAYOUT_GAS : undefined;
    },
  };
}

const SCHEMA = genesisSchema(MODULE_NAME, "feemarket.feemarket.v1.GenesisState", GenesisState);

/**
 * Reads parameters and state. Without parameters, the deployed chain's are used with `feeDenom`; without a state, the market
 * starts at the minimum price.
 */
function initGenesis(context: Context, json: JsonValue | undefined, feeDenom: string): void {
  const genesis = SCHEMA.read(json);
  const params = market.paramsFromWire(
    partOr(json, "params", genesis?.params, market.paramsToWire(defaultParams(feeDenom))),
  );
  const error = findParamsError(params);
  if (error !== undefined) throw new GenesisError(`app_state.feemarket.params.${error.field}`, error.text);
  const initial = market.toWire(market.initialState(params));
  const state = market.fromWire(partOr(json, "state", genesis?.state, initial));
  if (BigInt(state.window.length) !== params.window || state.index >= params.window)
    throw new GenesisError("app_state.feemarket.state.window", `expected ${params.window} entries`);
  storedParams.set(context, params);
  steps.storedState.set(context, state);
  steps.enabledHeight.set(context, -1n);
}

const readParams = (context: Context) => ({ params: market.paramsToWire(storedParams.get(context)) });
const readState = (context: Context) => ({ state: market.toWire(steps.storedState.get(context)) });

const queries: readonly QueryHandler[] = queryHandlers(wire.Query, {
  Params: readParams,
  State: readState,
  GasPrice: (context, { denom }) => ({ price: toDecCoin(steps.gasPriceIn(context, denom)) }),
  GasPrices: (context) => ({
    prices: [toDecCoin(steps.gasPriceIn(context, storedParams.get(context).feeDenom))],
  }),
});

function toDecCoin({ denom, amount }: steps.GasPrice): { denom: string; amount: string } {
  return { denom, amount: amount.toString() };
}
