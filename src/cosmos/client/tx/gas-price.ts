import { ceilDec18, type Dec18, formatDec18, mulDec18, parseDec18 } from "../../../platform/base/decimal.ts";
import { GasPriceRequest, GasPriceResponse } from "../../proto/gen/feemarket/feemarket/v1/query.ts";
import type { ChainClient } from "../chain-client.ts";
import { ClientError } from "../errors.ts";
import { badResponse } from "../rpc/rpc-response.ts";

const GAS_PRICE_PATH = "/feemarket.feemarket.v1.Query/GasPrice";

/** Rules for the gas price of a transaction. */
export interface GasPricePolicy {
  /** Fee denom. */
  readonly denom: string;
  /** Factor on the chain's price, at least 1. Covers a rise of the price until inclusion. */
  readonly multiplier: Dec18;
  /** Highest price to pay for one unit of gas. */
  readonly cap: Dec18;
  /** Price on a chain without a fee market. Undefined makes such a chain an error. */
  readonly fallback?: Dec18;
}

/** Reads the fee market's price and applies the policy; see {@link planGasPrice}. */
export async function readGasPrice(
  client: Pick<ChainClient, "grpcQuery">,
  policy: GasPricePolicy,
  signal: AbortSignal,
): Promise<Dec18> {
  const request = GasPriceRequest.encode({ denom: policy.denom }).finish();
  try {
    return planGasPrice(decodeGasPrice(await client.grpcQuery(GAS_PRICE_PATH, request, signal)), policy);
  } catch (error) {
    if (policy.fallback !== undefined && isRefusal(error)) return policy.fallback;
    throw error;
  }
}

/** Decodes a `GasPriceResponse`. On the wire a decimal is an integer of 10^-18 units; "0.0025" is accepted too. */
export function decodeGasPrice(response: Uint8Array): Dec18 {
  const amount = GasPriceResponse.decode(response).price?.amount ?? "";
  if (/^\d{1,60}$/.test(amount)) return BigInt(amount);
  if (/^\d{1,40}\.\d{1,18}$/.test(amount)) return parseDec18(amount);
  throw badResponse("chain", "price.amount", "is not a decimal number");
}

/**
 * Returns the chain's price times the multiplier, at most the cap. Throws `gas-price-above-cap` when the chain's price
 * alone exceeds the cap, because the chain would refuse the transaction.
 */
export function planGasPrice(basePrice: Dec18, policy: GasPricePolicy): Dec18 {
  if (basePrice > policy.cap)
    throw new ClientError(
      {
        code: "gas-price-above-cap",
        denom: policy.denom,
        price: formatDec18(basePrice),
        cap: formatDec18(policy.cap),
      },
      `the chain's gas price of ${formatDec18(basePrice)}${policy.denom} exceeds the cap of ${formatDec18(policy.cap)}`,
    );
  const wanted = mulDec18(basePrice, policy.multiplier);
  return wanted > policy.cap ? policy.cap : wanted;
}

/** Returns the fee for a gas limit, rounded up to whole coins. */
export function feeFor(gasPrice: Dec18, gasLimit: bigint): bigint {
  return ceilDec18(gasPrice * gasLimit);
}

function isRefusal(error: unknown): boolean {
  return error instanceof ClientError && error.facts.code === "abci";
}
