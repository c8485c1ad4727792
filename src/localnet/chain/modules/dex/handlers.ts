import * as tx from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { fromHex } from "../../../../platform/base/bytes.ts";
import { formatAddress } from "../../runtime/address.ts";
import { type Context, dryRun } from "../../runtime/context.ts";
import { GrpcCode, QueryError, wrapErrors } from "../../runtime/errors.ts";
import { type MessageDefinition, messageHandlers } from "../../runtime/handlers.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { deposit } from "./deposit.ts";
import { ErrDexPaused, orPanic, unregistered } from "./errors.ts";
import { cancelLimitOrder, withdrawFilled } from "./limit-order-payouts.ts";
import * as messages from "./messages.ts";
import { checkAmountTexts, checkDecimalTexts } from "./messages.ts";
import { multiHopSwap, simulateMultiHopSwap } from "./multi-hop.ts";
import { moduleParams } from "./params.ts";
import { placeLimitOrder } from "./place-limit-order.ts";
import type { Queries } from "./query-pages.ts";
import type { DexBank, DexKeepers } from "./types.ts";
import { withdraw } from "./withdraw.ts";

/** A message's stateless checks and its effects. */
interface Operation<Message, Request, Response> {
  /** Throws `ModuleError`. */
  readonly parse: (message: Message, bech32Prefix: string) => Request;
  readonly run: (context: Context, request: Request, keepers: DexKeepers) => Response;
}

/** Operations for the six user messages. The simulations run the same operations. */
const OPERATIONS = {
  deposit: { parse: messages.parseDeposit, run: deposit },
  withdrawal: { parse: messages.parseWithdrawal, run: withdraw },
  placeLimitOrder: { parse: messages.parsePlaceLimitOrder, run: placeLimitOrder },
  withdrawFilledLimitOrder: { parse: messages.parseTrancheMessage, run: withdrawFilled },
  cancelLimitOrder: { parse: messages.parseTrancheMessage, run: cancelLimitOrder },
  multiHopSwap: { parse: messages.parseMultiHopSwap, run: multiHopSwap },
} as const;

/** Handlers for the six user messages and MsgUpdateParams. */
export function createHandlers(keepers: DexKeepers): readonly MessageHandler[] {
  return messageHandlers(
    tx.Msg,
    {
      Deposit: userMessage("MsgDeposit", OPERATIONS.deposit, keepers, ({ amountsA, amountsB }) =>
        checkAmountTexts(...amountsA, ...amountsB),
      ),
      Withdrawal: userMessage("MsgWithdrawal", OPERATIONS.withdrawal, keepers, ({ sharesToRemove }) =>
        checkAmountTexts(...sharesToRemove),
      ),
      PlaceLimitOrder: userMessage("MsgPlaceLimitOrder", OPERATIONS.placeLimitOrder, keepers, (message) => {
        checkAmountTexts(message.amountIn, message.maxAmountOut);
        checkDecimalTexts(message.limitSellPrice, message.minAverageSellPrice);
      }),
      WithdrawFilledLimitOrder: userMessage(
        "MsgWithdrawFilledLimitOrder",
        OPERATIONS.withdrawFilledLimitOrder,
        keepers,
      ),
      CancelLimitOrder: userMessage("MsgCancelLimitOrder", OPERATIONS.cancelLimitOrder, keepers),
      MultiHopSwap: userMessage("MsgMultiHopSwap", OPERATIONS.multiHopSwap, keepers, (message) => {
        checkAmountTexts(message.amountIn);
        checkDecimalTexts(message.exitLimitPrice);
      }),
      UpdateParams: (context, message) => updateParams(context, message, keepers),
    },
    keepers.chainName,
  );
}

/**
 * Creates a handler for a user message. `checkDecoded` checks numbers given as text, in field order, and throws a plain error; it
 * is absent if there are no such fields. Go parses these numbers while decoding the transaction, so CheckTx rejects malformed
 * ones.
 */
function userMessage<Message, Request, Response>(
  name: string,
  { parse, run }: Operation<Message, Request, Response>,
  keepers: DexKeepers,
  checkDecoded?: (message: Message) => void,
): MessageDefinition<Message, Response> {
  return {
    ...(checkDecoded === undefined ? {} : { checkDecoded }),
    handle: (context, message) => {
      const request = validated(name, () => parse(message, keepers.bech32Prefix));
      if (moduleParams.get(context).paused) throw ErrDexPaused();
      return orPanic(() => run(context, request, keepers));
    },
  };
}

function validated<T>(name: string, check: () => T): T {
  return wrapErrors((error) => error.wrap(`failed to validate ${name}`), check);
}

/** MsgUpdateParams: replaces all parameters, even while the module is paused. A message without parameters changes nothing. */
function updateParams(
  context: Context,
  message: tx.MsgUpdateParams,
  { authority, bech32Prefix }: DexKeepers,
): void {
  validated("MsgUpdateParams", () => messages.checkUpdateParams(message, bech32Prefix));
  if (message.authority !== authority)
    throw unregistered(
      `rpc error: code = PermissionDenied desc = invalid authority; expected ${authority}, got ${message.authority}`,
    );
  if (message.params !== undefined) moduleParams.set(context, message.params);
}

// Simulations: queries that run the same operations.

/** Creator and receiver for simulated deposits, orders and swaps (x/dex `DummyAddress`). It is not on any whitelist. */
const DUMMY_ADDRESS = fromHex("083d2d0bb414b1f8f3655d10927f3ccc231d2d8f");

/** Simulations take no payment, store nothing and emit no events. They also work while the module is paused. */
export function simulations(keepers: DexKeepers) {
  return {
    SimulateDeposit: simulation(OPERATIONS.deposit, keepers),
    SimulateWithdrawal: simulation({ isOfOwner: true, ...OPERATIONS.withdrawal }, keepers),
    SimulatePlaceLimitOrder: simulation({ ...OPERATIONS.placeLimitOrder, run: simulateOrder }, keepers),
    SimulateWithdrawFilledLimitOrder: simulation(
      { isOfOwner: true, ...OPERATIONS.withdrawFilledLimitOrder },
      keepers,
    ),
    SimulateCancelLimitOrder: simulation({ isOfOwner: true, ...OPERATIONS.cancelLimitOrder }, keepers),
    SimulateMultiHopSwap: simulation({ ...OPERATIONS.multiHopSwap, run: simulateMultiHopSwap }, keepers),
  } satisfies Queries;
}

/** Unlike the message, the simulation names the token even if the order charges nothing. */
function simulateOrder(
  context: Context,
  request: messages.OrderRequest,
  keepers: DexKeepers,
): tx.MsgPlaceLimitOrderResponse {
  const response = placeLimitOrder(context, request, keepers);
  return { ...response, coinIn: { denom: request.tokenIn, amount: response.coinIn?.amount ?? "0" } };
}

/** A query that runs a message without applying its effects. */
interface Simulation<Message, Request, Response> extends Operation<Message, Request, Response> {
  /** True if the message moves its creator's own assets, in which case the simulation uses the message's creator. */
  readonly isOfOwner?: boolean;
}

function simulation<Message, Request, Response>(
  { isOfOwner = false, parse, run }: Simulation<Message, Request, Response>,
  keepers: DexKeepers,
) {
  const { bech32Prefix, bank } = keepers;
  return (context: Context, { msg }: { readonly msg: Message | undefined }): { resp: Response } => {
    // The deployed module reads fields of the absent message and panics.
    if (msg === undefined)
      throw new QueryError(
        GrpcCode.Internal,
        "runtime error: invalid memory address or nil pointer dereference",
      );
    const dummy = formatAddress(bech32Prefix, DUMMY_ADDRESS);
    const request = parse(isOfOwner ? msg : { ...msg, creator: dummy, receiver: dummy }, bech32Prefix);
    return {
      resp: dryRun(context, (inner) => run(inner, request, { ...keepers, bank: withoutMoves(bank) })),
    };
  };
}

/** Creates a bank that reports balances but moves no coins. */
function withoutMoves(bank: DexBank): DexBank {
  return { ...bank, sendToDex: nothing, sendFromDex: nothing, mint: nothing, burn: nothing };
}

function nothing(): void {}

/** The deprecated estimates. Unlike a simulation, an estimate fails if the creator cannot pay. */
export function estimates(keepers: DexKeepers) {
  return {
    EstimateMultiHopSwap: (context, request) => {
      const { coinOut } = estimate(context, request, OPERATIONS.multiHopSwap, keepers);
      return { coinOut };
    },
    EstimatePlaceLimitOrder: (context, request) => {
      const message = { ...request, limitSellPrice: "", minAverageSellPrice: "" };
      const response = estimate(context, message, OPERATIONS.placeLimitOrder, keepers);
      const { coinIn, takerCoinIn, takerCoinOut } = response;
      return { totalInCoin: coinIn, swapInCoin: takerCoinIn, swapOutCoin: takerCoinOut };
    },
  } satisfies Queries;
}

/** Runs a message, including its payments, and then discards the state changes. */
function estimate<Message, Request, Response>(
  context: Context,
  message: Message,
  { parse, run }: Operation<Message, Request, Response>,
  keepers: DexKeepers,
): Response {
  const request = parse(message, keepers.bech32Prefix);
  return dryRun(context, (inner) => run(inner, request, keepers));
}
