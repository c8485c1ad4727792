import { DEC18_ONE, formatDec18, ceilDec18, type Dec18 } from "../../../../platform/base/decimal.ts";
import { Params as WireParams } from "../../../../cosmos/proto/gen/feemarket/feemarket/v1/params.ts";
import {
  GenesisState,
  State as WireState,
} from "../../../../cosmos/proto/gen/feemarket/feemarket/v1/genesis.ts";
import * as wire from "../../../../cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import type { AnteStep, TxEnvironment } from "../../runtime/ante-step.ts";
import { type Context, type ChainModule, type QueryHandler, event } from "../../runtime/context.ts";
import { GenesisError, genesisSchema, partOr } from "../../runtime/genesis.ts";
import { queryHandlers } from "../../runtime/handlers.ts";
import * as market from "../../../../cosmos/fee-market/market.ts";
import type { AuthKeeper } from "../auth/keeper.ts";
import type { BankKeeper } from "../bank/keeper.ts";
import { goString } from "../../../../platform/base/bytes.ts";
import { parseSigner } from "../../runtime/signature-steps.ts";
import { type DecodedTx, feeOf, feePayerOf } from "../../runtime/tx.ts";
import * as collections from "../../store/collections.ts";
import * as errors from "../../runtime/errors.ts";
import * as money from "../../runtime/coins.ts";

const MODULE_NAME = "feemarket";

/** Module account that keeps a transaction's fee in escrow between the ante step and the post step. */
export const ESCROW_NAME = "feemarket-fee-collector";

/** Returns the deployed chain's parameters with the given fee denomination. */
export function defaultParams(feeDenom: string): market.Params {
  return {
    ...market.DEPLOYED_MARKET,
    feeDenom,
    enabled: true,
    distributeFees: true,
    sendTipToProposer: true,
  };
}

export const storedParams = collections.createRequiredItem(
  MODULE_NAME,
  Uint8Array.of(1),
  collections.rememberingCodec(
    collections.mappedCodec(collections.messageCodec(WireParams), market.paramsFromWire, market.paramsToWire),
  ),
);

/**
 * Returns the first invalid field and the reason, or undefined if all fields are valid. The checks, their order and their error
 * texts match Go.
 */
export function findParamsError(
  params: market.Params,
): { readonly field: string; readonly text: string } | undefined {
  const half = DEC18_ONE / 2n;
  const rules: readonly (readonly [field: string, holds: boolean, text: string])[] = [
    ["window", params.window > 0n, "window cannot be zero"],
    ["alpha", params.alpha >= 0n, "alpha cannot be negative"],
    ["beta", params.beta >= 0n && params.beta <= DEC18_ONE, "beta must be between [0, 1]"],
    ["gamma", params.gamma >= 0n && params.gamma <= half, "gamma must be between [0, 0.5]"],
    ["delta", params.delta >= 0n, "delta cannot be negative"],
    ["max_block_utilization", params.maxBlockUtilization > 1n, "max block utilization must be above 1"],
    ["min_base_gas_price", params.minBaseGasPrice > 0n, "min base gas price cannot be zero or negative"],
    [
      "max_learning_rate",
      params.maxLearningRate >= params.minLearningRate,
      `max learning rate cannot be less than min learning rate ${formatDec18(params.minLearningRate)}`,
    ],
    ["min_learning_rate", params.minLearningRate >= 0n, "min learning rate cannot be negative"],
    ["fee_denom", money.isDenom(params.feeDenom), "fee denom must be set"],
  ];
  const broken = rules.find(([, holds]) => !holds);
  return broken === undefined ? undefined : { field: broken[0], text: broken[2] };
}

interface FeemarketOptions {
  /** Fee denomination, used if the genesis contains no parameters. */
  readonly feeDenom: string;
  /** Minimum gas prices that the node's mempool enforces while the fee market is disabled. Default: none. */
  readonly minGasPrices?: readonly GasPrice[];
}

interface FeemarketDeps extends SettleDeps {
  /** Burns the fees paid in a block. Without this function, the fee recipient keeps the fees. */
  readonly burnFees?: (context: Context) => void;
}

export interface FeemarketModule extends ChainModule {
  readonly takeFee: AnteStep;
  readonly settleFee: AnteStep;
  /** Returns the maximum gas that a transaction can use, or undefined while the fee market is disabled. */
  readonly maxTxGas: (context: Context) => bigint | undefined;
}

/** Upper bound of the gas used to pay out a fee. The payout's gas is not added to the block's utilization. */
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
      if (params.enabled) storedState.set(context, market.closeBlock(storedState.get(context), params));
    },
    initGenesis: (context, genesis) => initGenesis(context, genesis, options.feeDenom),
    exportGenesis: (context) => SCHEMA.print({ ...readParams(context), ...readState(context) }),
    takeFee: createTakeFee(deps, options.minGasPrices),
    settleFee: createSettleFee(deps),
    maxTxGas: (context) => {
      const { enabled, maxBlockUtilization } = storedParams.get(context);
      return enabled ? maxBlockUtilization + PAYOUT_GAS : undefined;
    },
  };
}

const SCHEMA = genesisSchema(MODULE_NAME, "feemarket.feemarket.v1.GenesisState", GenesisState);

/**
 * Reads parameters and state. The default parameters are the deployed chain's, with `feeDenom`. By default, the initial gas price
 * is the minimum gas price.
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
  storedState.set(context, state);
  enabledHeight.set(context, -1n);
}

const readParams = (context: Context) => ({ params: market.paramsToWire(storedParams.get(context)) });
const readState = (context: Context) => ({ state: market.toWire(storedState.get(context)) });

const queries: readonly QueryHandler[] = queryHandlers(wire.Query, {
  Params: readParams,
  State: readState,
  GasPrice: (context, { denom }) => ({ price: toDecCoin(gasPriceIn(context, denom)) }),
  GasPrices: (context) => ({
    prices: [toDecCoin(gasPriceIn(context, storedParams.get(context).feeDenom))],
  }),
});

function toDecCoin({ denom, amount }: GasPrice): { denom: string; amount: string } {
  return { denom, amount: amount.toString() };
}

interface FeeDeps {
  readonly bank: Pick<
    BankKeeper,
    "sendToModule" | "sendFromModule" | "sendBetweenModules" | "balances" | "burn"
  >;
  readonly accounts: Pick<AuthKeeper, "has" | "get" | "parseAddress" | "formatAddress">;
}

/** Module account that receives the fees while the fee market is disabled. */
const FEE_COLLECTOR = "fee_collector";

/**
 * Creates the ante step that checks the offered fee against the price of the gas limit and moves the entire offer into escrow
 * (x/feemarket v1.1.1 `FeeMarketCheckDecorator`). At this time, the messages' gas usage is unknown, so the post step splits the
 * offer into fee and tip.
 *
 * Like Go, reads the gas price again at the end, because each read consumes gas.
 *
 * If the fee market is disabled, {@link deductFee} takes the fee as in the SDK. `minGasPrices` are the node's minimum prices, which
 * only its mempool enforces.
 */
function createTakeFee(deps: FeeDeps, minGasPrices: readonly GasPrice[] = []): AnteStep {
  return (context, tx) => {
    if (!storedParams.get(context).enabled) return deductFee(context, tx, deps, minGasPrices);
    if (context.height === 0n) return; // Genesis transactions pay no fee.
    const isSimulation = context.mode === "simulate";
    const { gasLimit } = feeOf(tx);
    if (!isSimulation && gasLimit === 0n) throw errors.ErrInvalidGasLimit("must provide positive gas");
    const { feeDenom } = storedParams.get(context);
    const offered = offeredFee(tx, feeDenom, isSimulation);
    const price = requirePrice(context, offered);
    // A simulated transaction may offer less than the price, because clients simulate before they know the fee.
    if (!isSimulation) {
      const used = context.gas.used();
      errors.wrapErrors("error checking fee", () =>
        splitFee(offered, price, { limit: gasLimit, used, charged: gasLimit }),
      );
    }
    errors.wrapErrors("error escrowing funds", () => escrow(context, tx, offered, deps));
    gasPriceIn(context, feeDenom);
  };
}

function requirePrice(context: Context, { denom }: money.Coin): GasPrice {
  return errors.wrapErrors(`unable to get min gas price for denom ${denom}`, () =>
    gasPriceIn(context, denom),
  );
}

/** Moves the fee to the fee collector (x/auth 0.50 `DeductFeeDecorator`). Throws sdk/13 if the fee is below the node's minimum. */
function deductFee(context: Context, tx: DecodedTx, deps: FeeDeps, minGasPrices: readonly GasPrice[]): void {
  const { gasLimit, amount } = feeOf(tx);
  const isSimulation = context.mode === "simulate";
  if (!isSimulation && context.height > 0n && gasLimit === 0n)
    throw errors.ErrInvalidGasLimit("must provide positive gas");
  const offered = money.parseCoins(amount);
  const isChecked = context.mode === "check" || context.mode === "recheck";
  if (isChecked && minGasPrices.length > 0) {
    const required = money.mapAmounts(minGasPrices, (price) => ceilDec18(gasLimit * price));
    const isEnough = required.some(({ denom, amount: least }) =>
      offered.some((coin) => coin.denom === denom && coin.amount >= least),
    );
    if (!isEnough)
      throw errors.ErrInsufficientFee(
        `insufficient fees; got: ${money.formatCoins(offered)} required: ${money.formatCoins(required)}`,
      );
  }
  const payer = requirePayer(context, tx, deps);
  if (offered.length > 0) {
    if (!money.areValidCoins(offered))
      throw errors.ErrInsufficientFee(`invalid fee amount: ${money.formatCoins(offered)}`);
    errors.wrapErrors(
      (error) => errors.ErrInsufficientFunds(error.message),
      () => deps.bank.sendToModule(context, payer, FEE_COLLECTOR, offered),
    );
  }
  context.emit(event("tx", { fee: money.formatCoins(offered), fee_payer: feePayerOf(tx) }));
}

/**
 * Returns the fee's only coin or, in a simulation, a zero amount of `feeDenom`. Throws feemarket/2 if the fee has several coins
 * and, outside simulations, feemarket/1 if the fee has no coin.
 */
function offeredFee(tx: DecodedTx, feeDenom: string, isSimulation: boolean): money.Coin {
  const coins = money.parseCoins(feeOf(tx).amount);
  const [offered] = coins;
  if (coins.length > 1) throw ErrTooManyFeeCoins(`got length ${coins.length}`);
  if (isSimulation) return { denom: feeDenom, amount: 0n };
  if (offered === undefined) throw ErrNoFeeCoins("got length 0");
  return offered;
}

function escrow(context: Context, tx: DecodedTx, offered: money.Coin, deps: FeeDeps): void {
  const payer = requirePayer(context, tx, deps);
  deps.bank.sendToModule(context, payer, ESCROW_NAME, offered.amount === 0n ? [] : [offered]);
}

/** Returns the account that pays the fee. Throws if the account does not exist, or if another account grants the fee. */
function requirePayer(context: Context, tx: DecodedTx, deps: FeeDeps): Uint8Array {
  const payer = parseSigner(deps.accounts, feePayerOf(tx));
  const granter = feeOf(tx).granter;
  if (granter !== "" && granter !== feePayerOf(tx)) rejectGrant(parseSigner(deps.accounts, granter), payer);
  if (deps.accounts.get(context, payer) === undefined)
    throw errors.ErrUnknownAddress(`fee payer address: ${feePayerOf(tx)} does not exist`);
  return payer;
}

/**
 * Rejects a fee grant, because this chain has no fee grants. The error text is Go's text for a missing grant, which contains the
 * addresses as raw bytes.
 */
function rejectGrant(granter: Uint8Array, payer: Uint8Array): never {
  const text = `${goString(granter)} does not allow to pay fees for ${goString(payer)}`;
  throw errors.ErrNotFound("fee-grant not found").wrap(text);
}

/**
 * Gas that a simulation consumes for the payouts (Go `BankSendGasConsumption`). A simulated transaction usually offers no fee, so
 * the payouts would move no coins and consume too little gas.
 */
const SIMULATED_SETTLEMENT_GAS = 12_490n;

interface SettleDeps extends FeeDeps {
  /** Module account that receives the fee for the gas used. */
  readonly feeRecipient: string;
}

/**
 * Creates the post step that pays the fee out of escrow. The fee recipient gets the fee for the gas used, and the proposer gets
 * the remainder as a tip. Also adds the transaction's gas to the block's total (x/feemarket v1.1.1 `FeeMarketDeductDecorator`).
 */
function createSettleFee(deps: SettleDeps): AnteStep {
  return (context, tx, environment) => {
    const isSimulation = context.mode === "simulate";
    const { gasLimit } = feeOf(tx);
    if (context.height === 0n) return;
    if (!isSimulation && gasLimit === 0n) throw errors.ErrInvalidGasLimit("must provide positive gas");
    const params = storedParams.get(context);
    if (!params.enabled || context.height <= (enabledHeight.get(context) ?? -1n)) return;
    const state = storedState.get(context);
    // Read the gas usage before the payouts, because the block's total does not include gas used by the payouts.
    const used = context.gas.used();
    const offered = offeredFee(tx, params.feeDenom, isSimulation);
    const price = requirePrice(context, offered);
    // Charge for all gas used so far, including the state and parameter reads of this step.
    const charged = context.gas.used();
    const split = isSimulation
      ? { fee: offered, tip: { denom: offered.denom, amount: 0n } }
      : splitFee(offered, price, { limit: gasLimit, used: charged, charged });
    payOut(context, split, environment, deps);
    countGas(context, state, used, params);
    if (isSimulation) context.gas.consume(SIMULATED_SETTLEMENT_GAS, "simulation send gas consumption");
  };
}

function payOut(
  context: Context,
  { fee, tip }: { readonly fee: money.Coin; readonly tip: money.Coin },
  { proposerAddress }: TxEnvironment,
  deps: SettleDeps,
): void {
  const { distributeFees, sendTipToProposer } = storedParams.get(context);
  if (distributeFees) deps.bank.sendBetweenModules(context, ESCROW_NAME, deps.feeRecipient, positive(fee));
  if (sendTipToProposer) deps.bank.sendFromModule(context, ESCROW_NAME, proposerAddress, positive(tip));
  context.emit(event("fee_pay", { fee: money.formatCoin(fee) }));
  if (!sendTipToProposer) return;
  const payee = deps.accounts.formatAddress(proposerAddress);
  context.emit(event("tip_pay", { tip: money.formatCoin(tip), tip_payee: payee }));
}

function positive(coin: money.Coin): readonly money.Coin[] {
  return coin.amount > 0n ? [coin] : [];
}

/** Adds a transaction's gas to the current block's total. Fails the transaction if the total would exceed the block's maximum. */
function countGas(context: Context, state: market.State, gas: bigint, params: market.Params): void {
  const next = market.addUtilization(state, gas, params);
  if ("exceeded" in next) {
    const text = `block utilization of ${next.exceeded} cannot exceed max block utilization of ${params.maxBlockUtilization}`;
    throw errors.unregisteredError(`unable to update fee market state: ${text}`);
  }
  storedState.set(context, next.state);
}

export const storedState = collections.createRequiredItem(
  MODULE_NAME,
  Uint8Array.of(2),
  collections.rememberingCodec(
    collections.mappedCodec(collections.messageCodec(WireState), market.fromWire, market.toWire),
  ),
);
/** Height up to which no fee is charged, as decimal text. The value -1 means that fees are charged from block 1. */
export const enabledHeight = collections.createItem(MODULE_NAME, Uint8Array.of(3), collections.integerCodec);

/** Price of one unit of gas in one denomination. */
export interface GasPrice {
  readonly denom: string;
  readonly amount: Dec18;
}

/** Returns the gas price in a denomination. Throws dynamicfees/1100 for any denomination other than the fee denomination. */
function gasPriceIn(context: Context, denom: string): GasPrice {
  // Like Go, read the state before the parameters, because the order determines how much gas is used before a read fails.
  const { baseGasPrice } = storedState.get(context);
  if (storedParams.get(context).feeDenom !== denom) throw ErrUnknownDenom();
  return { denom, amount: baseGasPrice };
}

/** Returns the price of an amount of gas, rounded up to a whole coin. */
function priceOf(gas: bigint, price: GasPrice): bigint {
  return ceilDec18(gas * price.amount);
}

/**
 * Splits an offer into fee and tip. The fee is the price of `gas.charged`. Throws sdk/13 if the offer is less than the price of
 * `gas.limit`. The error text contains `gas.used`.
 */
function splitFee(
  offered: money.Coin,
  price: GasPrice,
  gas: { readonly limit: bigint; readonly used: bigint; readonly charged: bigint },
): { readonly fee: money.Coin; readonly tip: money.Coin } {
  const { denom } = offered;
  const required = { denom, amount: priceOf(gas.limit, price) };
  if (offered.amount < required.amount) {
    throw errors.ErrInsufficientFee(
      `got: ${money.formatCoin(offered)} required: ${money.formatCoin(required)}, minGasPrice: ${formatDec18(price.amount)}${price.denom}, gas: ${gas.used}`,
    );
  }
  const fee = priceOf(gas.charged, price);
  return { fee: { denom, amount: fee }, tip: { denom, amount: offered.amount - fee } };
}

// Errors in the codespace "feemarket", under their Go names (x/feemarket v1.1.1 types/errors.go).
const feemarketError = errors.errorsOf("feemarket");
const ErrNoFeeCoins = feemarketError(1, "no fee coin provided. Must provide one.");
const ErrTooManyFeeCoins = feemarketError(
  2,
  "too many fee coins provided.  Only one fee coin may be provided",
);
/** Thrown for a denomination without a price. The deployed chain looks up prices in its `dynamicfees` module. */
const ErrUnknownDenom = errors.registerError("dynamicfees", 1100, "unknown denom");
