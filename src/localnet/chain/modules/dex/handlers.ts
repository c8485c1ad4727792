import { encodeMessage } from "../../../../cosmos/proto/encode.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/dex/query.ts";
import * as tx from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/registry.ts";
import { fromHex } from "../../../../platform/base/bytes.ts";
import { formatAddress } from "../../runtime/address.ts";
import { type Context, dryRun } from "../../runtime/context.ts";
import { GrpcCode, QueryError, wrapErrors } from "../../runtime/errors.ts";
import { toMessageHandler, type WireType } from "../../runtime/handlers.ts";
import type { MessageHandler, QueryHandler } from "../../runtime/module.ts";
import { deposit } from "./deposit.ts";
import { ErrDexPaused, orPanic, unregistered } from "./errors.ts";
import { cancelLimitOrder, withdrawFilled } from "./limit-order-payouts.ts";
import * as messages from "./messages.ts";
import { checkAmountTexts, checkDecimalTexts } from "./messages.ts";
import { multiHopSwap, simulateMultiHopSwap } from "./multi-hop.ts";
import { moduleParams } from "./params.ts";
import { placeLimitOrder } from "./place-limit-order.ts";
import { namedQueries, query } from "./query-pages.ts";
import type { DexBank, DexKeepers } from "./types.ts";
import { withdraw } from "./withdraw.ts";

/** The stateless checks of a message, and its effects. */
interface Operation<Message, Request, Response> {
  /** Throws `ModuleError`. */
  readonly parse: (message: Message, bech32Prefix: string) => Request;
  readonly run: (context: Context, request: Request, keepers: DexKeepers) => Response;
}

/** Operations of the six messages of users. The simulations run the same. */
const OPERATIONS = {
  deposit: { parse: messages.parseDeposit, run: deposit },
  withdrawal: { parse: messages.parseWithdrawal, run: withdraw },
  placeLimitOrder: { parse: messages.parsePlaceLimitOrder, run: placeLimitOrder },
  withdrawFilledLimitOrder: { parse: messages.parseTrancheMessage, run: withdrawFilled },
  cancelLimitOrder: { parse: messages.parseTrancheMessage, run: cancelLimitOrder },
  multiHopSwap: { parse: messages.parseMultiHopSwap, run: multiHopSwap },
} as const;

/** A message of a user. */
interface UserMessage<Message, Request, Response> extends Operation<Message, Request, Response> {
  readonly name: string;
  readonly type: WireType<Message>;
  readonly response: WireType<Response>;
  /**
   * Checks the texts of numbers, in the order of their fields; absent without such fields. Go decodes them with the transaction,
   * so that CheckTx rejects a malformed one. Throws a plain error.
   */
  readonly checkNumbers?: (message: Message) => void;
}

/** Handlers of the six messages of users, and of MsgUpdateParams. */
export function createHandlers(keepers: DexKeepers): readonly MessageHandler[] {
  return [
    userHandler(keepers, {
      ...OPERATIONS.deposit,
      name: "MsgDeposit",
      type: tx.MsgDeposit,
      response: tx.MsgDepositResponse,
      checkNumbers: ({ amountsA, amountsB }) => checkAmountTexts(...amountsA, ...amountsB),
    }),
    userHandler(keepers, {
      ...OPERATIONS.withdrawal,
      name: "MsgWithdrawal",
      type: tx.MsgWithdrawal,
      response: tx.MsgWithdrawalResponse,
      checkNumbers: ({ sharesToRemove }) => checkAmountTexts(...sharesToRemove),
    }),
    userHandler(keepers, {
      ...OPERATIONS.placeLimitOrder,
      name: "MsgPlaceLimitOrder",
      type: tx.MsgPlaceLimitOrder,
      response: tx.MsgPlaceLimitOrderResponse,
      checkNumbers: ({ amountIn, maxAmountOut, limitSellPrice, minAverageSellPrice }) => {
        checkAmountTexts(amountIn, maxAmountOut);
        checkDecimalTexts(limitSellPrice, minAverageSellPrice);
      },
    }),
    userHandler(keepers, {
      ...OPERATIONS.withdrawFilledLimitOrder,
      name: "MsgWithdrawFilledLimitOrder",
      type: tx.MsgWithdrawFilledLimitOrder,
      response: tx.MsgWithdrawFilledLimitOrderResponse,
    }),
    userHandler(keepers, {
      ...OPERATIONS.cancelLimitOrder,
      name: "MsgCancelLimitOrder",
      type: tx.MsgCancelLimitOrder,
      response: tx.MsgCancelLimitOrderResponse,
    }),
    userHandler(keepers, {
      ...OPERATIONS.multiHopSwap,
      name: "MsgMultiHopSwap",
      type: tx.MsgMultiHopSwap,
      response: tx.MsgMultiHopSwapResponse,
      checkNumbers: ({ amountIn, exitLimitPrice }) => {
        checkAmountTexts(amountIn);
        checkDecimalTexts(exitLimitPrice);
      },
    }),
    toMessageHandler<tx.MsgUpdateParams>({
      typeUrl: toChainTypeUrl("/neutron.dex.MsgUpdateParams", keepers.chainName),
      type: tx.MsgUpdateParams,
      signers: ({ authority }) => [authority],
      handle: (context, message) => updateParams(context, message, keepers),
    }),
  ];
}

function userHandler<Message extends { readonly creator: string }, Request, Response>(
  keepers: DexKeepers,
  { name, type, response, checkNumbers, parse, run }: UserMessage<Message, Request, Response>,
): MessageHandler {
  const { chainName, bech32Prefix } = keepers;
  return toMessageHandler<Message>({
    typeUrl: toChainTypeUrl(`/neutron.dex.${name}`, chainName),
    type: {
      decode: (bytes) => {
        const message = type.decode(bytes);
        checkNumbers?.(message);
        return message;
      },
    },
    signers: ({ creator }) => [creator],
    handle: (context, message) => {
      const request = validated(name, () => parse(message, bech32Prefix));
      if (moduleParams.get(context).paused) throw ErrDexPaused();
      return encodeMessage(
        response,
        orPanic(() => run(context, request, keepers)),
      );
    },
  });
}

function validated<T>(name: string, check: () => T): T {
  return wrapErrors((error) => error.wrap(`failed to validate ${name}`), check);
}

/** MsgUpdateParams replaces all parameters, also while the module is paused. */
function updateParams(
  context: Context,
  message: tx.MsgUpdateParams,
  { authority, bech32Prefix }: DexKeepers,
): Uint8Array {
  validated("MsgUpdateParams", () => messages.checkUpdateParams(message, bech32Prefix));
  if (message.authority !== authority)
    throw unregistered(
      `rpc error: code = PermissionDenied desc = invalid authority; expected ${authority}, got ${message.authority}`,
    );
  if (message.params !== undefined) moduleParams.set(context, message.params);
  return tx.MsgUpdateParamsResponse.encode({}).finish();
}

// Simulations: queries that run the same operations.

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
      { rpc: "SimulatePlaceLimitOrder", parse: messages.parsePlaceLimitOrder, run: simulateOrder },
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
      { rpc: "SimulateMultiHopSwap", parse: messages.parseMultiHopSwap, run: simulateMultiHopSwap },
      { request: wire.QuerySimulateMultiHopSwapRequest, response: wire.QuerySimulateMultiHopSwapResponse },
      keepers,
    ),
  ];
}

/** Unlike the message, the simulation names the token of an order that charges nothing. */
function simulateOrder(
  context: Context,
  request: messages.OrderRequest,
  keepers: DexKeepers,
): tx.MsgPlaceLimitOrderResponse {
  const response = placeLimitOrder(context, request, keepers);
  return { ...response, coinIn: { denom: request.tokenIn, amount: response.coinIn?.amount ?? "0" } };
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
