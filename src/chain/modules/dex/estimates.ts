import * as wire from "../../../proto/gen/neutron/dex/query.ts";
import { toQueryHandler } from "../../runtime/handler-forms.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { parseMultiHopSwap, parsePlaceLimitOrder } from "./messages.ts";
import { multiHopSwap } from "./multi-hop.ts";
import { placeLimitOrder } from "./place-limit-order.ts";
import { estimate } from "./simulations.ts";
import type { DexEnvironment } from "./types.ts";

const SERVICE = "/neutron.dex.Query";

/** The deprecated estimates. Unlike a simulation, an estimate fails when the creator cannot pay. */
export function createEstimates(environment: DexEnvironment): readonly QueryHandler[] {
  return [
    toQueryHandler(
      `${SERVICE}/EstimateMultiHopSwap`,
      {
        request: wire.QueryEstimateMultiHopSwapRequest,
        response: wire.QueryEstimateMultiHopSwapResponse,
      },
      (context, request) => {
        const swap = { parse: parseMultiHopSwap, run: multiHopSwap };
        const { coinOut } = estimate(context, request, swap, environment);
        return { coinOut };
      },
    ),
    toQueryHandler(
      `${SERVICE}/EstimatePlaceLimitOrder`,
      {
        request: wire.QueryEstimatePlaceLimitOrderRequest,
        response: wire.QueryEstimatePlaceLimitOrderResponse,
      },
      (context, request) => {
        const order = { parse: parsePlaceLimitOrder, run: placeLimitOrder };
        const message = { ...request, limitSellPrice: "", minAverageSellPrice: "" };
        const response = estimate(context, message, order, environment);
        const { coinIn, takerCoinIn, takerCoinOut } = response;
        return { totalInCoin: coinIn, swapInCoin: takerCoinIn, swapOutCoin: takerCoinOut };
      },
    ),
  ];
}
