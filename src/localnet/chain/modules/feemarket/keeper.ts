import { State as WireState } from "../../../../cosmos/proto/gen/feemarket/feemarket/v1/genesis.ts";
import { ceilDec18, type Dec18, formatDec18 } from "../../../../platform/base/decimal.ts";
import { type Coin, formatCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInsufficientFee, registerError } from "../../runtime/errors.ts";
import {
  createItem,
  createRequiredItem,
  integerCodec,
  mappedCodec,
  messageCodec,
  rememberingCodec,
} from "../../store/collections.ts";
import { ENABLED_HEIGHT_KEY, MODULE_NAME, STATE_KEY } from "./keys.ts";
import * as market from "../../../../cosmos/fee-market/market.ts";
import { storedParams } from "./params.ts";

/** Bank module functions that the fee code uses. */
export interface FeeBank {
  readonly sendToModule: (context: Context, from: Uint8Array, module: string, coins: readonly Coin[]) => void;
  readonly sendFromModule: (context: Context, module: string, to: Uint8Array, coins: readonly Coin[]) => void;
  readonly sendBetweenModules: (context: Context, from: string, to: string, coins: readonly Coin[]) => void;
  readonly balances: (context: Context, address: Uint8Array) => Iterable<Coin>;
  readonly burn: (context: Context, module: string, coins: readonly Coin[]) => void;
}

/** Auth module functions that the fee code uses. */
export interface FeeAccounts {
  readonly has: (context: Context, address: Uint8Array) => boolean;
  readonly get: (context: Context, address: Uint8Array) => unknown;
  readonly parseAddress: (text: string) => Uint8Array;
  readonly formatAddress: (address: Uint8Array) => string;
}

export const storedState = createRequiredItem(
  MODULE_NAME,
  STATE_KEY,
  rememberingCodec(mappedCodec(messageCodec(WireState), market.fromWire, market.toWire)),
);
/** Height up to which no fee is charged; -1 if fees are charged from the first block. */
export const enabledHeight = createItem(MODULE_NAME, ENABLED_HEIGHT_KEY, integerCodec);

/** Price per unit of gas. */
export interface GasPrice {
  readonly denom: string;
  readonly amount: Dec18;
}

/** Returns the gas price in a denomination. Throws dynamicfees/1100 unless it is the fee denomination. */
export function gasPriceIn(context: Context, denom: string): GasPrice {
  // State before parameters, as in Go: the order decides the gas used when a later read fails.
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
export function splitFee(
  offered: Coin,
  price: GasPrice,
  gas: { readonly limit: bigint; readonly used: bigint; readonly charged: bigint },
): { readonly fee: Coin; readonly tip: Coin } {
  const { denom } = offered;
  const required = { denom, amount: priceOf(gas.limit, price) };
  if (offered.amount < required.amount) {
    throw ErrInsufficientFee(
      `got: ${formatCoin(offered)} required: ${formatCoin(required)}, minGasPrice: ${formatDec18(price.amount)}${price.denom}, gas: ${gas.used}`,
    );
  }
  const fee = priceOf(gas.charged, price);
  return { fee: { denom, amount: fee }, tip: { denom, amount: offered.amount - fee } };
}

// Errors of codespace "feemarket" by their Go names (x/feemarket v1.1.1 types/errors.go).
export const ErrNoFeeCoins = registerError("feemarket", 1, "no fee coin provided. Must provide one.");
export const ErrTooManyFeeCoins = registerError(
  "feemarket",
  2,
  "too many fee coins provided.  Only one fee coin may be provided",
);
/** The fee's denomination has no price. The deployed chain looks up prices in its `dynamicfees` module. */
const ErrUnknownDenom = registerError("dynamicfees", 1100, "unknown denom");
