import { encodeMessage } from "../../../../cosmos/proto/encode.ts";
import * as tx from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/registry.ts";
import type { Context } from "../../runtime/context.ts";
import { toMessageHandler, type WireType } from "../../runtime/handlers.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { wrapErrors } from "../../runtime/errors.ts";
import { cancelLimitOrder, withdrawFilled } from "./limit-order-payouts.ts";
import { deposit } from "./deposit.ts";
import { ErrDexPaused, orPanic, unregistered } from "./errors.ts";
import { checkAmountTexts, checkDecimalTexts } from "./messages.ts";
import * as messages from "./messages.ts";
import { multiHopSwap } from "./multi-hop.ts";
import { moduleParams } from "./params.ts";
import { placeLimitOrder } from "./place-limit-order.ts";
import type { DexKeepers } from "./types.ts";
import { withdraw } from "./withdraw.ts";

/** A message of a user: its stateless checks, and what it does with the checked request. */
interface UserMessage<Message, Request, Response> {
  readonly name: string;
  readonly type: WireType<Message>;
  readonly response: WireType<Response>;
  /**
   * Checks the texts of numbers, in the order of their fields; absent without such fields. Go decodes them with the transaction,
   * so that CheckTx refuses a malformed one. Throws a plain error.
   */
  readonly checkNumbers?: (message: Message) => void;
  /** Throws `ModuleError`. */
  readonly parse: (message: Message, bech32Prefix: string) => Request;
  readonly run: (context: Context, request: Request, keepers: DexKeepers) => Response;
}

/** Handlers of the six messages of users, and of MsgUpdateParams. */
export function createHandlers(keepers: DexKeepers): readonly MessageHandler[] {
  return [
    userHandler(keepers, {
      name: "MsgDeposit",
      type: tx.MsgDeposit,
      response: tx.MsgDepositResponse,
      checkNumbers: ({ amountsA, amountsB }) => checkAmountTexts(...amountsA, ...amountsB),
      parse: messages.parseDeposit,
      run: deposit,
    }),
    userHandler(keepers, {
      name: "MsgWithdrawal",
      type: tx.MsgWithdrawal,
      response: tx.MsgWithdrawalResponse,
      checkNumbers: ({ sharesToRemove }) => checkAmountTexts(...sharesToRemove),
      parse: messages.parseWithdrawal,
      run: withdraw,
    }),
    userHandler(keepers, {
      name: "MsgPlaceLimitOrder",
      type: tx.MsgPlaceLimitOrder,
      response: tx.MsgPlaceLimitOrderResponse,
      checkNumbers: ({ amountIn, maxAmountOut, limitSellPrice, minAverageSellPrice }) => {
        checkAmountTexts(amountIn, maxAmountOut);
        checkDecimalTexts(limitSellPrice, minAverageSellPrice);
      },
      parse: messages.parsePlaceLimitOrder,
      run: placeLimitOrder,
    }),
    userHandler(keepers, {
      name: "MsgWithdrawFilledLimitOrder",
      type: tx.MsgWithdrawFilledLimitOrder,
      response: tx.MsgWithdrawFilledLimitOrderResponse,
      parse: messages.parseTrancheMessage,
      run: withdrawFilled,
    }),
    userHandler(keepers, {
      name: "MsgCancelLimitOrder",
      type: tx.MsgCancelLimitOrder,
      response: tx.MsgCancelLimitOrderResponse,
      parse: messages.parseTrancheMessage,
      run: cancelLimitOrder,
    }),
    userHandler(keepers, {
      name: "MsgMultiHopSwap",
      type: tx.MsgMultiHopSwap,
      response: tx.MsgMultiHopSwapResponse,
      checkNumbers: ({ amountIn, exitLimitPrice }) => {
        checkAmountTexts(amountIn);
        checkDecimalTexts(exitLimitPrice);
      },
      parse: messages.parseMultiHopSwap,
      run: multiHopSwap,
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
