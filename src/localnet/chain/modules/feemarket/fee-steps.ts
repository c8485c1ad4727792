import type { AuthKeeper } from "../auth/keeper.ts";
import type { BankKeeper } from "../bank/keeper.ts";
import { goString } from "../../../../platform/base/bytes.ts";
import { ceilDec18, type Dec18, formatDec18 } from "../../../../platform/base/decimal.ts";
import type { AnteStep, TxEnvironment } from "../../runtime/ante-step.ts";
import type { Context } from "../../runtime/context.ts";
import { event } from "../../runtime/events.ts";
import { parseSigner } from "../../runtime/signature-steps.ts";
import { type DecodedTx, feeOf, feePayerOf } from "../../runtime/tx.ts";
import { ESCROW_NAME, storedParams, MODULE_NAME } from "./params.ts";
import { State as WireState } from "../../../../cosmos/proto/gen/feemarket/feemarket/v1/genesis.ts";
import {
  createItem,
  createRequiredItem,
  integerCodec,
  mappedCodec,
  messageCodec,
  rememberingCodec,
} from "../../store/collections.ts";
import * as market from "../../../../cosmos/fee-market/market.ts";
import * as errors from "../../runtime/errors.ts";
import * as money from "../../runtime/coins.ts";

interface FeeDeps {
  readonly bank: Pick<
    BankKeeper,
    "sendToModule" | "sendFromModule" | "sendBetweenModules" | "balances" | "burn"
  >;
  readonly accounts: Pick<AuthKeeper, "has" | "get" | "parseAddress" | "formatAddress">;
}

/** Module account that receives the fees while the market is disabled. */
const FEE_COLLECTOR = "fee_collector";

/**
 * Creates the ante step that checks the offered fee against the price of the gas limit and moves the complete offer into escrow
 * (x/feemarket v1.1.1 `FeeMarketCheckDecorator`). The messages' gas is not known yet, so the post step splits the offer into fee
 * and tip.
 *
 * The gas price read at the end looks superfluous, but the Go code performs it, and each read consumes gas.
 *
 * If the market is disabled, the fee is left to the SDK's step, {@link deductFee}. `minGasPrices` are the node's prices, which
 * only its mempool requires.
 */
export function createTakeFee(deps: FeeDeps, minGasPrices: readonly GasPrice[] = []): AnteStep {
  return (context, tx) => {
    if (!storedParams.get(context).enabled) return deductFee(context, tx, deps, minGasPrices);
    if (context.height === 0n) return; // Genesis transactions pay no fee.
    const isSimulation = context.mode === "simulate";
    const { gasLimit } = feeOf(tx);
    if (!isSimulation && gasLimit === 0n) throw errors.ErrInvalidGasLimit("must provide positive gas");
    const { feeDenom } = storedParams.get(context);
    const offered = offeredFee(tx, feeDenom, isSimulation);
    const price = requirePrice(context, offered);
    // A simulation may offer less than the price, because the client simulates before it knows the fee.
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

/** Moves the offered fee to the fee collector (x/auth 0.50 `DeductFeeDecorator`). Throws sdk/13 if below the node's price. */
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

/** Returns the only coin in the fee; in a simulation, its amount is always 0. Throws feemarket/1 and feemarket/2. */
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

/** Returns the account that pays the fee. Throws if the account does not exist or if the fee names a granter. */
function requirePayer(context: Context, tx: DecodedTx, deps: FeeDeps): Uint8Array {
  const payer = parseSigner(deps.accounts, feePayerOf(tx));
  const granter = feeOf(tx).granter;
  if (granter !== "" && granter !== feePayerOf(tx)) rejectGrant(parseSigner(deps.accounts, granter), payer);
  if (deps.accounts.get(context, payer) === undefined)
    throw errors.ErrUnknownAddress(`fee payer address: ${feePayerOf(tx)} does not exist`);
  return payer;
}

/** Rejects a fee grant, as this chain has none. Same text as for a missing grant; Go prints both addresses as raw bytes. */
function rejectGrant(granter: Uint8Array, payer: Uint8Array): never {
  const text = `${goString(granter)} does not allow to pay fees for ${goString(payer)}`;
  throw errors.ErrNotFound("fee-grant not found").wrap(text);
}

/**
 * Gas that a simulation consumes for the payouts (Go `BankSendGasConsumption`). A simulated transaction usually has no fee, so
 * its payouts move no coins and would consume too little.
 */
const SIMULATED_SETTLEMENT_GAS = 12_490n;

export interface SettleDeps extends FeeDeps {
  /** Module account that receives the fees. */
  readonly feeRecipient: string;
}

/**
 * Creates the post step that pays the fee out of escrow: the fee recipient gets the fee for the gas used, and the proposer gets
 * the remainder as a tip. It also adds the gas to the block's total (x/feemarket v1.1.1 `FeeMarketDeductDecorator`).
 */
export function createSettleFee(deps: SettleDeps): AnteStep {
  return (context, tx, environment) => {
    const isSimulation = context.mode === "simulate";
    const { gasLimit } = feeOf(tx);
    if (context.height === 0n) return;
    if (!isSimulation && gasLimit === 0n) throw errors.ErrInvalidGasLimit("must provide positive gas");
    const params = storedParams.get(context);
    if (!params.enabled || context.height <= (enabledHeight.get(context) ?? -1n)) return;
    const state = storedState.get(context);
    // Read this before the payouts, because their gas is not included in the block's.
    const used = context.gas.used();
    const offered = offeredFee(tx, params.feeDenom, isSimulation);
    const price = requirePrice(context, offered);
    // Splits the offer according to the gas used so far, including the settlement's first reads.
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

/** Adds the gas to the current block's total. Fails the transaction if the block would exceed its maximum. */
function countGas(context: Context, state: market.State, gas: bigint, params: market.Params): void {
  const next = market.addUtilization(state, gas, params);
  if ("exceeded" in next) {
    const text = `block utilization of ${next.exceeded} cannot exceed max block utilization of ${params.maxBlockUtilization}`;
    throw errors.unregisteredError(`unable to update fee market state: ${text}`);
  }
  storedState.set(context, next.state);
}

export const storedState = createRequiredItem(
  MODULE_NAME,
  Uint8Array.of(2),
  rememberingCodec(mappedCodec(messageCodec(WireState), market.fromWire, market.toWire)),
);
/** Height up to which no fee is charged, as decimal text; -1 if fees are charged from the first block. */
export const enabledHeight = createItem(MODULE_NAME, Uint8Array.of(3), integerCodec);

/** Price per unit of gas. */
export interface GasPrice {
  readonly denom: string;
  readonly amount: Dec18;
}

/** Returns the gas price in a denomination. Throws dynamicfees/1100 unless it is the fee denomination. */
export function gasPriceIn(context: Context, denom: string): GasPrice {
  // Read the state before the parameters, as in Go: the order determines the gas used if a later read fails.
  const { baseGasPrice } = storedState.get(context);
  if (storedParams.get(context).feeDenom !== denom) throw ErrUnknownDenom();
  return { denom, amount: baseGasPrice };
}

/** Returns the price of an amount of gas, rounded up to a whole coin. */
function priceOf(gas: bigint, price: GasPrice): bigint {
  return ceilDec18(gas * price.amount);
}

/**
 * Splits an offer into fee and tip. The offer must cover `gas.limit`; the fee pays for `gas.charged`; the error text reports
 * `gas.used`. Throws sdk/13.
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

// Errors of codespace "feemarket" by their Go names (x/feemarket v1.1.1 types/errors.go).
const feemarketError = errors.errorsOf("feemarket");
const ErrNoFeeCoins = feemarketError(1, "no fee coin provided. Must provide one.");
const ErrTooManyFeeCoins = feemarketError(
  2,
  "too many fee coins provided.  Only one fee coin may be provided",
);
/** The fee's denomination has no price. The deployed chain looks up prices in its `dynamicfees` module. */
const ErrUnknownDenom = errors.registerError("dynamicfees", 1100, "unknown denom");
