import { ceilDec18, type Dec18, formatDec18 } from "../../../base/decimal.ts";
import { State as WireState } from "../../../proto/gen/feemarket/feemarket/v1/genesis.ts";
import { Params as WireParams } from "../../../proto/gen/feemarket/feemarket/v1/params.ts";
import { type Coin, formatCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInsufficientFee } from "../../runtime/sdk-errors.ts";
import {
  type Codec,
  createItem,
  integerCodec,
  messageCodec,
  rememberingCodec,
  type StoredItem,
} from "../../store/collections.ts";
import { ErrUnknownDenom } from "./errors.ts";
import { ENABLED_HEIGHT_KEY, MODULE_NAME, PARAMS_KEY, STATE_KEY } from "./keys.ts";
import * as market from "./market.ts";
import * as params from "./params.ts";

/** What bank does for fees. */
export interface FeeBank {
  readonly sendToModule: (context: Context, from: Uint8Array, module: string, coins: readonly Coin[]) => void;
  readonly sendFromModule: (context: Context, module: string, to: Uint8Array, coins: readonly Coin[]) => void;
  readonly sendBetweenModules: (context: Context, from: string, to: string, coins: readonly Coin[]) => void;
}

/** What auth does for fees. */
export interface FeeAccounts {
  readonly has: (context: Context, address: Uint8Array) => boolean;
  readonly get: (context: Context, address: Uint8Array) => unknown;
  readonly parseAddress: (text: string) => Uint8Array;
  readonly formatAddress: (address: Uint8Array) => string;
}

const paramsCodec: Codec<params.Params> = mapped(messageCodec(WireParams), params.fromWire, params.toWire);
const stateCodec: Codec<market.State> = mapped(messageCodec(WireState), market.fromWire, market.toWire);
const paramsItem = createItem(MODULE_NAME, PARAMS_KEY, paramsCodec);
const stateItem = createItem(MODULE_NAME, STATE_KEY, stateCodec);
/** Height up to which nothing is settled. */
export const enabledHeight = createItem(MODULE_NAME, ENABLED_HEIGHT_KEY, integerCodec);

function mapped<Wire, T extends object>(
  codec: Codec<Wire>,
  from: (wire: Wire) => T,
  to: (value: T) => Wire,
): Codec<T> {
  return rememberingCodec({
    encode: (value) => codec.encode(to(value)),
    decode: (bytes) => from(codec.decode(bytes)),
  });
}

/** The parameters. */
export const storedParams = requiredItem(paramsItem, "parameters");
/** The market's state. */
export const storedState = requiredItem(stateItem, "state");

function requiredItem<T>(item: StoredItem<T>, what: string) {
  return {
    set: item.set,
    get: (context: Context): T => {
      const value = item.get(context);
      if (value === undefined) throw new Error(`this is a bug: the fee market has no ${what} yet`);
      return value;
    },
  };
}

/** Price of one unit of gas. */
export interface GasPrice {
  readonly denom: string;
  readonly amount: Dec18;
}

/** The price in a denomination. Throws dynamicfees/1100 for any but the fee denomination. Reads state, then parameters. */
export function gasPriceIn(context: Context, denom: string): GasPrice {
  const { baseGasPrice } = storedState.get(context);
  if (storedParams.get(context).feeDenom !== denom) throw ErrUnknownDenom();
  return { denom, amount: baseGasPrice };
}

/** A gas amount at a price, rounded up to a whole coin. */
function priceOf(gas: bigint, price: GasPrice): bigint {
  return ceilDec18(gas * price.amount);
}

/**
 * Splits what was offered into fee and tip. The offer must cover the gas limit; the fee is for `gas`.
 * Throws sdk/13.
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
