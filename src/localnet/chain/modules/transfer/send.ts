import type { MsgTransfer } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/tx.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { wrapErrors } from "../../runtime/errors.ts";
import { channelPrefix } from "./denom.ts";
import { ErrIbcUnauthorized, ErrSendDisabled, ErrSequenceSendNotFound } from "./errors.ts";
import { escrowCoin } from "./escrow.ts";
import { transferSent } from "./events.ts";
import { MODULE_NAME } from "./keys.ts";
import { coinOf } from "./messages.ts";
import { encodePacketData } from "./packet-data.ts";
import { fullDenomOf, paramsOf } from "./state.ts";
import type { ChannelEnd, Environment } from "./types.ts";

/**
 * MsgTransfer: takes the coin and sends a packet. A coin that leaves for another chain goes into escrow; a voucher that goes
 * back over its channel is burned. Returns the number of the packet. Throws `ModuleError`.
 */
export function sendTransfer(context: Context, message: MsgTransfer, environment: Environment): bigint {
  const { bank, bech32Prefix, channels } = environment;
  const source: ChannelEnd = { portId: message.sourcePort, channelId: message.sourceChannel };
  // The deployed chain looks for the number before anything else.
  if (channels.nextSequenceSend(context, source) === undefined) {
    throw ErrSequenceSendNotFound(`source port: ${source.portId}, source channel: ${source.channelId}`);
  }
  if (!paramsOf(context).sendEnabled) throw ErrSendDisabled();
  const coin = coinOf(message);
  wrapErrors(
    () => ErrSendDisabled(`transfers are currently disabled for ${coin.denom}`),
    () => bank.requireSendEnabled(context, [coin]),
  );
  const sender = parseAddress(bech32Prefix, message.sender);
  if (bank.isBlocked(sender)) throw ErrIbcUnauthorized(`${message.sender} is not allowed to send funds`);
  const denom = takeCoin(context, environment, { sender, source }, coin);
  const sequence = channels.sendPacket(context, {
    source,
    timeout: {
      height: message.timeoutHeight ?? { revisionNumber: 0n, revisionHeight: 0n },
      timestamp: message.timeoutTimestamp,
    },
    data: encodePacketData({
      denom,
      amount: coin.amount.toString(),
      sender: message.sender,
      receiver: message.receiver,
      memo: message.memo,
    }),
  });
  for (const event of transferSent(message)) context.emit(event);
  return sequence;
}

/** Takes a coin from its sender. Returns its full denomination. */
function takeCoin(
  context: Context,
  environment: Environment,
  { sender, source }: { readonly sender: Uint8Array; readonly source: ChannelEnd },
  coin: Coin,
): string {
  const denom = fullDenomOf(context, coin.denom);
  if (denom.startsWith(channelPrefix(source))) {
    environment.bank.sendToModule(context, sender, MODULE_NAME, [coin]);
    environment.bank.burn(context, MODULE_NAME, [coin]);
  } else escrowCoin(context, environment, { from: sender, end: source }, coin);
  return denom;
}
