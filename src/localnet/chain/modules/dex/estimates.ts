import * as wire from "../../../../cosmos/proto/gen/neutron/dex/query.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { parseMultiHopSwap, parsePlaceLimitOrder } from "./messages.ts";
import { multiHopSwap } from "./multi-hop.ts";
import { placeLimitOrder } from "./place-limit-order.ts";
import { query } from "./query-forms.ts";
import { estimate } from "./simulations.ts";
import type { DexEnvironment } from "./types.ts";

/** The deprecated estimates. Unlike a simulation, an estimate fails when the creator cannot pay. */
export function createEstimates(environment: DexEnvironment): readonly QueryHandler[] {
  return [
    query(
      "EstimateMultiHopSwap",
      wire.QueryEstimateMultiHopSwapRequest,
      wire.QueryEstimateMultiHopSwapResponse,
      (context, request) => {
        const swap = { parse: parseMultiHopSwap, run: multiHopSwap };
        const { coinOut } = estimate(context, request, swap, environment);
        return { coinOut };
      },
    ),
    query(
      "EstimatePlaceLimitOrder",
      wire.QueryEstimatePlaceLimitOrderRequest,
      wire.QueryEstimatePlaceLimitOrderResponse,
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
