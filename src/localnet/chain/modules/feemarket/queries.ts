import * as wire from "../../../../cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import { toQueryHandler } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { type GasPrice, gasPriceIn, storedState } from "./keeper.ts";
import * as market from "./market.ts";
import * as params from "./params.ts";

const SERVICE = "/feemarket.feemarket.v1.Query";

/** The handlers of `feemarket.feemarket.v1.Query`. */
export const queries: readonly QueryHandler[] = [
  toQueryHandler(
    `${SERVICE}/Params`,
    { request: wire.ParamsRequest, response: wire.ParamsResponse },
    (context) => ({
      params: params.toWire(params.storedParams.get(context)),
    }),
  ),
  toQueryHandler(
    `${SERVICE}/State`,
    { request: wire.StateRequest, response: wire.StateResponse },
    (context) => ({
      state: market.toWire(storedState.get(context)),
    }),
  ),
  toQueryHandler(
    `${SERVICE}/GasPrice`,
    { request: wire.GasPriceRequest, response: wire.GasPriceResponse },
    (context, { denom }) => ({ price: toDecCoin(gasPriceIn(context, denom)) }),
  ),
  toQueryHandler(
    `${SERVICE}/GasPrices`,
    { request: wire.GasPricesRequest, response: wire.GasPricesResponse },
    (context) => ({ prices: [toDecCoin(gasPriceIn(context, params.storedParams.get(context).feeDenom))] }),
  ),
];

function toDecCoin({ denom, amount }: GasPrice): { denom: string; amount: string } {
  return { denom, amount: amount.toString() };
}
