import { namedQueries, query, SERVICE } from "./query-pages.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/dex/query.ts";
import { fromHex } from "../../../../platform/base/bytes.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import { formatAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import type { WireType } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { deposit } from "./deposit.ts";
import { cancelLimitOrder, withdrawFilled } from "./limit-order-payouts.ts";
import * as messages from "./messages.ts";
import { parseMultiHopSwap, parsePlaceLimitOrder } from "./messages.ts";
import { multiHopSwap } from "./multi-hop.ts";
import { placeLimitOrder } from "./place-limit-order.ts";
import type { DexBank, DexKeepers } from "./types.ts";
import { withdraw } from "./withdraw.ts";

/** Creator and receiver of simulated deposits, orders and swaps (x/dex `DummyAddress`). No whitelist holds it. */
const DUMMY_ADDRESS = fromHex("083d2d0bb414b1f8f3655d10927f3ccc231d2d8f");

/** A query that runs a message without effects. */
interface Simulation<Message, Request, Response> {
  /** Throws `ModuleError`. */
  readonly parse: (message: Message, bech32Prefix: string) => Request;
  readonly run: (context: Context, request: Request, keepers: DexKeepers) => Response;
  /** The creator of the message owns what the message takes, so its own address counts. */
  readonly isOfOwner?: boolean;
}

/** A query `Simulate…` over encoded messages. */
interface SimulationQuery {
  readonly rpc: string;
  readonly answer: (context: Context, request: Uint8Array, keepers: DexKeepers) => Uint8Array;
}

/** The simulations and the deprecated estimates, under paths of this chain's name. */
export function createSimulations(keepers: DexKeepers): readonly QueryHandler[] {
  const simulations = SIMULATIONS.map(({ rpc, answer }) => ({
    path: `${SERVICE}/${rpc}`,
    query: (context: Context, request: Uint8Array) => answer(context, request, keepers),
  }));
  return namedQueries(keepers.chainName, [...createEstimates(keepers), ...simulations]);
}

/** Nobody pays, nothing is stored, no event is emitted, and a paused module responds too. */
const SIMULATIONS: readonly SimulationQuery[] = [
  simulationQuery("SimulateDeposit", wire.QuerySimulateDepositRequest, wire.QuerySimulateDepositResponse, {
    parse: messages.parseDeposit,
    run: deposit,
  }),
  simulationQuery(
    "SimulateWithdrawal",
    wire.QuerySimulateWithdrawalRequest,
    wire.QuerySimulateWithdrawalResponse,
    { parse: messages.parseWithdrawal, run: withdraw, isOfOwner: true },
  ),
  simulationQuery(
    "SimulatePlaceLimitOrder",
    wire.QuerySimulatePlaceLimitOrderRequest,
    wire.QuerySimulatePlaceLimitOrderResponse,
    { parse: messages.parsePlaceLimitOrder, run: placeLimitOrder },
  ),
  simulationQuery(
    "SimulateWithdrawFilledLimitOrder",
    wire.QuerySimulateWithdrawFilledLimitOrderRequest,
    wire.QuerySimulateWithdrawFilledLimitOrderResponse,
    { parse: messages.parseTrancheMessage, run: withdrawFilled, isOfOwner: true },
  ),
  simulationQuery(
    "SimulateCancelLimitOrder",
    wire.QuerySimulateCancelLimitOrderRequest,
    wire.QuerySimulateCancelLimitOrderResponse,
    { parse: messages.parseTrancheMessage, run: cancelLimitOrder, isOfOwner: true },
  ),
  simulationQuery(
    "SimulateMultiHopSwap",
    wire.QuerySimulateMultiHopSwapRequest,
    wire.QuerySimulateMultiHopSwapResponse,
    { parse: messages.parseMultiHopSwap, run: multiHopSwap },
  ),
];

function simulationQuery<Message, Request, Response>(
  rpc: string,
  request: WireType<{ msg: Message | undefined }>,
  response: WireType<{ resp: Response | undefined }>,
  simulation: Simulation<Message, Request, Response>,
): SimulationQuery {
  return {
    rpc,
    answer: (context, bytes, keepers) => {
      const { msg } = request.decode(bytes);
      // The deployed module reads fields of the absent message and panics.
      if (msg === undefined)
        throw new QueryError(
          GrpcCode.Internal,
          "runtime error: invalid memory address or nil pointer dereference",
        );
      return response.encode({ resp: simulate(context, msg, simulation, keepers) }).finish();
    },
  };
}

function simulate<Message, Request, Response>(
  context: Context,
  message: Message,
  { parse, run, isOfOwner }: Simulation<Message, Request, Response>,
  keepers: DexKeepers,
): Response {
  const { bech32Prefix, bank } = keepers;
  const dummy = formatAddress(bech32Prefix, DUMMY_ADDRESS);
  const simulated = isOfOwner ? message : { ...message, creator: dummy, receiver: dummy };
  const request = parse(simulated, bech32Prefix);
  return discarding(context, (inner) => run(inner, request, { ...keepers, bank: withoutMoves(bank) }));
}

/** Runs a message with its payments and discards the state. The deprecated estimates use it. */
function estimate<Message, Request, Response>(
  context: Context,
  message: Message,
  { parse, run }: Pick<Simulation<Message, Request, Response>, "parse" | "run">,
  keepers: DexKeepers,
): Response {
  const request = parse(message, keepers.bech32Prefix);
  return discarding(context, (inner) => run(inner, request, keepers));
}

/** A bank that knows balances and moves nothing. */
function withoutMoves(bank: DexBank): DexBank {
  return { ...bank, sendToDex: nothing, sendFromDex: nothing, mint: nothing, burn: nothing };
}

function nothing(): void {}

/** Runs `work` on a layer that is dropped, with its writes and events. */
function discarding<T>(context: Context, work: (inner: Context) => T): T {
  const outcome: { result?: { readonly value: T } } = {};
  const dropped = new Error("dropped");
  try {
    context.atomically((inner) => {
      outcome.result = { value: work(inner) };
      throw dropped;
    });
  } catch (thrown) {
    if (thrown !== dropped) throw thrown;
  }
  return outcome.result?.value ?? unreachable("a layer without a result");
}

/** The deprecated estimates. Unlike a simulation, an estimate fails when the creator cannot pay. */
function createEstimates(keepers: DexKeepers): readonly QueryHandler[] {
  return [
    query(
      "EstimateMultiHopSwap",
      wire.QueryEstimateMultiHopSwapRequest,
      wire.QueryEstimateMultiHopSwapResponse,
      (context, request) => {
        const swap = { parse: parseMultiHopSwap, run: multiHopSwap };
        const { coinOut } = estimate(context, request, swap, keepers);
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
        const response = estimate(context, message, order, keepers);
        const { coinIn, takerCoinIn, takerCoinOut } = response;
        return { totalInCoin: coinIn, swapInCoin: takerCoinIn, swapOutCoin: takerCoinOut };
      },
    ),
  ];
}
