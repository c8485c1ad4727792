import type { MsgTransfer } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/tx.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { parseAddress } from "../../runtime/address.ts";
import { type Coin, formatCoin, isDenom, parseCoins } from "../../runtime/coins.ts";
import { wrapErrors } from "../../runtime/errors.ts";
import { validateChannelId, validatePortId } from "../ibc/host/identifiers.ts";
import { validateSentDenom } from "./denom.ts";
import {
  ErrIbcInsufficientFunds,
  ErrIbcInvalidAddress,
  ErrIbcInvalidCoins,
  ErrInvalidMemo,
} from "./errors.ts";

const MAX_RECEIVER_BYTES = 2048;
const MAX_MEMO_BYTES = 32_768;

/** Stateless checks of MsgTransfer (`ValidateBasic`), in ibc-go's order. Throws `ModuleError`. */
export function validateTransfer(message: MsgTransfer, bech32Prefix: string): void {
  named("invalid source port ID", () => validatePortId(message.sourcePort));
  named("invalid source channel ID", () => validateChannelId(message.sourceChannel));
  const coin = coinOf(message);
  if (!isDenom(coin.denom) || coin.amount < 0n) throw ErrIbcInvalidCoins(formatCoin(coin));
  if (coin.amount === 0n) throw ErrIbcInsufficientFunds(formatCoin(coin));
  try {
    parseAddress(bech32Prefix, message.sender);
  } catch (error) {
    throw ErrIbcInvalidAddress(`string could not be parsed as address: ${errorText(error)}`);
  }
  if (message.receiver.trim() === "") throw ErrIbcInvalidAddress("missing recipient address");
  if (Buffer.byteLength(message.receiver) > MAX_RECEIVER_BYTES)
    throw ErrIbcInvalidAddress(`recipient address must not exceed ${MAX_RECEIVER_BYTES} bytes`);
  if (Buffer.byteLength(message.memo) > MAX_MEMO_BYTES)
    throw ErrInvalidMemo(`memo must not exceed ${MAX_MEMO_BYTES} bytes`);
  validateSentDenom(coin.denom);
}

/** Returns the coin of a message. Throws sdk/2 for an amount that is no integer. */
export function coinOf({ token }: Pick<MsgTransfer, "token">): Coin {
  const [coin] = parseCoins([token ?? { denom: "", amount: "" }]);
  return coin ?? { denom: "", amount: 0n };
}

function named(words: string, check: () => void): void {
  wrapErrors((error) => error.wrap(words), check);
}
