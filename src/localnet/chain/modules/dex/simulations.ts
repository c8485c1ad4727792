import * as wire from "../../../../cosmos/proto/gen/neutron/dex/query.ts";
import { fromHex } from "../../../../platform/base/bytes.ts";
import { formatAddress } from "../../runtime/address.ts";
import { type Context, dryRun } from "../../runtime/context.ts";
import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import type { WireType } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { type Operation, OPERATIONS } from "./handlers.ts";
import { namedQueries, query } from "./query-pages.ts";
import type { DexBank, DexKeepers } from "./types.ts";

/** Creator and receiver of simulated deposits, orders and swaps (x/dex `DummyAddress`). No whitelist holds it. */
const DUMMY_ADDRESS = fromHex("083d2d0bb414b1f8f3655d10927f3ccc231d2d8f");

/** The simulations and the deprecated estimates, under paths of this chain's name. */
export function createSimulations(keepers: DexKeepers): readonly QueryHandler[] {
  return namedQueries(keepers.chainName, [...createEstimates(keepers), ...simulations(keepers)]);
}

/** Nobody pays, nothing is stored, no event is emitted, and a paused module responds too. */
function simulations(keepers: DexKeepers): readonly QueryHandler[] {
  return [
    simulation(
      { rpc: "SimulateDeposit", ...OPERATIONS.deposit },
      { request: wire.QuerySimulateDepositRequest, response: wire.QuerySimulateDepositResponse },
      keepers,
    ),
    simulation(
      { rpc: "SimulateWithdrawal", isOfOwner: true, ...OPERATIONS.withdrawal },
      { request: wire.QuerySimulateWithdrawalRequest, response: wire.QuerySimulateWithdrawalResponse },
      keepers,
    ),
    simulation(
      { rpc: "SimulatePlaceLimitOrder", ...OPERATIONS.placeLimitOrder },
      {
        request: wire.QuerySimulatePlaceLimitOrderRequest,
        response: wire.QuerySimulatePlaceLimitOrderResponse,
      },
      keepers,
    ),
    simulation(
      { rpc: "SimulateWithdrawFilledLimitOrder", isOfOwner: true, ...OPERATIONS.withdrawFilledLimitOrder },
      {
        request: wire.QuerySimulateWithdrawFilledLimitOrderRequest,
        response: wire.QuerySimulateWithdrawFilledLimitOrderResponse,
      },
      keepers,
    ),
    simulation(
      { rpc: "SimulateCancelLimitOrder", isOfOwner: true, ...OPERATIONS.cancelLimitOrder },
      {
        request: wire.QuerySimulateCancelLimitOrderRequest,
        response: wire.QuerySimulateCancelLimitOrderResponse,
      },
      keepers,
    ),
    simulation(
      { rpc: "SimulateMultiHopSwap", ...OPERATIONS.multiHopSwap },
      { request: wire.QuerySimulateMultiHopSwapRequest, response: wire.QuerySimulateMultiHopSwapResponse },
      keepers,
    ),
  ];
}

/** A query that runs a message without effects. */
interface Simulation<Message, Request, Response> extends Operation<Message, Request, Response> {
  readonly rpc: string;
  /** True: the message moves what its creator owns, so the simulation uses the creator of the message. */
  readonly isOfOwner?: boolean;
}

function simulation<Message, Request, Response>(
  { rpc, isOfOwner = false, parse, run }: Simulation<Message, Request, Response>,
  types: {
    readonly request: WireType<{ msg: Message | undefined }>;
    readonly response: WireType<{ resp: Response | undefined }>;
  },
  keepers: DexKeepers,
): QueryHandler {
  const { bech32Prefix, bank } = keepers;
  return query(rpc, types.request, types.response, (context, { msg }) => {
    // The deployed module reads fields of the absent message and panics.
    if (msg === undefined)
      throw new QueryError(
        GrpcCode.Internal,
        "runtime error: invalid memory address or nil pointer dereference",
      );
    const dummy = formatAddress(bech32Prefix, DUMMY_ADDRESS);
    const request = parse(isOfOwner ? msg : { ...msg, creator: dummy, receiver: dummy }, bech32Prefix);
    const resp = dryRun(context, (inner) => run(inner, request, { ...keepers, bank: withoutMoves(bank) }));
    return { resp };
  });
}

/** A bank that knows balances and moves nothing. */
function withoutMoves(bank: DexBank): DexBank {
  return { ...bank, sendToDex: nothing, sendFromDex: nothing, mint: nothing, burn: nothing };
}

function nothing(): void {}

/** The deprecated estimates. Unlike a simulation, an estimate fails when the creator cannot pay. */
function createEstimates(keepers: DexKeepers): readonly QueryHandler[] {
  return [
    query(
      "EstimateMultiHopSwap",
      wire.QueryEstimateMultiHopSwapRequest,
      wire.QueryEstimateMultiHopSwapResponse,
      (context, request) => {
        const { coinOut } = estimate(context, request, OPERATIONS.multiHopSwap, keepers);
        return { coinOut };
      },
    ),
    query(
      "EstimatePlaceLimitOrder",
      wire.QueryEstimatePlaceLimitOrderRequest,
      wire.QueryEstimatePlaceLimitOrderResponse,
      (context, request) => {
        const message = { ...request, limitSellPrice: "", minAverageSellPrice: "" };
        const response = estimate(context, message, OPERATIONS.placeLimitOrder, keepers);
        const { coinIn, takerCoinIn, takerCoinOut } = response;
        return { totalInCoin: coinIn, swapInCoin: takerCoinIn, swapOutCoin: takerCoinOut };
      },
    ),
  ];
}

/** Runs a message with its payments and drops the state. */
function estimate<Message, Request, Response>(
  context: Context,
  message: Message,
  { parse, run }: Operation<Message, Request, Response>,
  keepers: DexKeepers,
): Response {
  const request = parse(message, keepers.bech32Prefix);
  return dryRun(context, (inner) => run(inner, request, keepers));
}
