import { FungibleTokenPacketData } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/packet.ts";
import { Order } from "../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { upperHex } from "../../../../platform/base/bytes.ts";
import { enumName, trimGoSpace } from "../../../../platform/base/text.ts";
import { parseAddress } from "../../runtime/address.ts";
import { type Context, event } from "../../runtime/context.ts";
import * as errors from "../../runtime/errors.ts";
import type { Acknowledgement, IBCModule, OpeningChannel, RelayedPacket } from "../ibc/channel/ibc-module.ts";
import { channelCapability, chargeCapability, chargeClaim } from "../ibc/host/capability.ts";
import * as transfer from "./denom.ts";
import * as ibcErrors from "../ibc/host/errors.ts";
import * as packets from "./packet.ts";
import { addTrace, type Keepers, escrowCoin, fullDenomOf, port, unescrowCoin } from "./keeper.ts";
import type { ChannelEndpoint } from "../ibc/host/packet.ts";
import { type Coin, isDenom, parseCoins } from "../../runtime/coins.ts";
import type { MsgTransfer } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/tx.ts";

/** Creates the application for the port `transfer` (ICS-20). */
export function createTransferApplication(keepers: Keepers): IBCModule {
  return {
    moduleName: transfer.MODULE_NAME,
    onOpenInit: (context, channel) => {
      validateChannel(context, channel);
      const isEmpty = trimGoSpace(channel.version) === "";
      if (!isEmpty && channel.version !== transfer.VERSION)
        throw transfer.ErrInvalidVersion(`expected ${transfer.VERSION}, got ${channel.version}`);
      chargeClaim(context, transfer.MODULE_NAME, channelCapability(channel));
      // As on the deployed chain, an empty version is not replaced here. The counterparty chooses the version.
      return channel.version;
    },
    onOpenTry: (context, channel) => {
      validateChannel(context, channel);
      requireVersion(channel.version);
      chargeClaim(context, transfer.MODULE_NAME, channelCapability(channel));
      return transfer.VERSION;
    },
    onOpenAck: (_context, _channel, version) => requireVersion(version),
    onOpenConfirm: () => undefined,
    onCloseInit: () => {
      throw ibcErrors.ErrIbcInvalidRequest("user cannot close channel");
    },
    onCloseConfirm: () => undefined,
    onReceive: (context, packet) => onReceive(context, packet, keepers),
    onAcknowledge: (context, packet, acknowledgement) =>
      onAcknowledge(context, packet, acknowledgement, keepers),
    onTimeout: (context, packet) => {
      const data = dataOf(packet);
      refund(context, packet.source, data, keepers);
      context.emit(
        event("timeout", [
          ["module", transfer.MODULE_NAME],
          ["refund_receiver", data.sender],
          ["refund_denom", data.denom],
          ["refund_amount", data.amount],
          ["memo", data.memo],
        ]),
      );
    },
  };
}

function validateChannel(context: Context, { ordering, portId }: OpeningChannel): void {
  if (ordering !== Order.ORDER_UNORDERED) {
    // Keep the space before the colon, because ibc-go's error message contains the same space.
    throw ibcErrors.ErrInvalidChannelOrdering(
      `expected ORDER_UNORDERED channel, got ${enumName(Order, ordering)} `,
    );
  }
  const own = port.get(context);
  if (portId !== own) throw transfer.ErrInvalidPort(`invalid port: ${portId}, expected ${own}`);
}

function requireVersion(version: string): void {
  if (version !== transfer.VERSION)
    throw transfer.ErrInvalidVersion(
      `invalid counterparty version: expected ${transfer.VERSION}, got ${version}`,
    );
}

/** Pays out a received packet and returns the acknowledgement. If the payout fails, the acknowledgement contains the error's code. */
function onReceive(context: Context, packet: RelayedPacket, keepers: Keepers): Acknowledgement {
  let data = FungibleTokenPacketData.decode(new Uint8Array(0));
  try {
    data = receivedData(packet);
    receiveTransfer(context, packet, data, keepers);
    emitPacket(context, data, [["success", "true"]]);
    return packets.SUCCESS;
  } catch (error) {
    if (!(error instanceof errors.ModuleError) || errors.isOutOfGas(error)) throw error;
    emitPacket(context, data, [
      ["success", "false"],
      ["error", error.message],
    ]);
    return packets.errorAcknowledgement(error);
  }
}

function receivedData({ data }: RelayedPacket): FungibleTokenPacketData {
  try {
    return packets.decodePacketData(data);
  } catch (error) {
    if (error instanceof errors.ModuleError)
      throw ibcErrors.ErrIbcInvalidType("cannot unmarshal ICS-20 transfer packet data");
    throw error;
  }
}

function onAcknowledge(
  context: Context,
  packet: RelayedPacket,
  acknowledgement: Uint8Array,
  keepers: Keepers,
): void {
  const reply = packets.replyOf(acknowledgement);
  const data = dataOf(packet);
  if (reply.kind === "error") refund(context, packet.source, data, keepers);
  const outcome =
    reply.kind === "error"
      ? (["error", reply.error] as const)
      : (["success", Buffer.from(reply.result).toString("utf8")] as const);
  emitPacket(context, data, [["acknowledgement", packets.goReply(reply)]]);
  context.emit(event("fungible_token_packet", [outcome]));
}

function dataOf({ data }: RelayedPacket): FungibleTokenPacketData {
  return errors.orThrow(
    () => packets.decodePacketData(data),
    (reason) => ibcErrors.ErrIbcUnknownRequest(`cannot unmarshal ICS-20 transfer packet data: ${reason}`),
  );
}

/**
 * MsgTransfer: takes the coin and sends a packet. A voucher that returns over the channel from which it came is burned. Any other
 * coin is moved into escrow. `lockFee` receives the packet's sequence before the coin is taken. Returns the packet's sequence.
 * Throws `ModuleError`.
 */
export function sendTransfer(
  context: Context,
  message: MsgTransfer,
  keepers: Keepers,
  lockFee: (sequence: bigint) => void = () => undefined,
): bigint {
  const { bank, bech32Prefix, channels } = keepers;
  const source: ChannelEndpoint = { portId: message.sourcePort, channelId: message.sourceChannel };
  // Like the deployed chain, look up the sequence first.
  const next = channels.nextSequenceSend(context, source);
  if (next === undefined) {
    throw ibcErrors.ErrSequenceSendNotFound(
      `source port: ${source.portId}, source channel: ${source.channelId}`,
    );
  }
  lockFee(next);
  chargeCapability(context, transfer.MODULE_NAME, channelCapability(source), true);
  if (!transfer.moduleParams.get(context).sendEnabled) throw transfer.ErrSendDisabled();
  const coin = coinOf(message);
  errors.wrapErrors(
    () => transfer.ErrSendDisabled(`transfers are currently disabled for ${coin.denom}`),
    () => bank.requireSendEnabled(context, [coin]),
  );
  const sender = parseAddress(bech32Prefix, message.sender);
  if (bank.isBlocked(sender))
    throw ibcErrors.ErrIbcUnauthorized(`${message.sender} is not allowed to send funds`);
  // ibc-go reads the channel for its telemetry. The channel exists, because it has a next sequence.
  channels.channel(context, source);
  const denom = fullDenomOf(context, coin.denom);
  if (denom.startsWith(transfer.channelPrefix(source))) {
    bank.sendToModule(context, sender, transfer.MODULE_NAME, [coin]);
    bank.burn(context, transfer.MODULE_NAME, [coin]);
  } else escrowCoin(context, keepers, { from: sender, end: source }, coin);
  const sequence = channels.sendPacket(context, {
    source,
    timeout: {
      height: message.timeoutHeight ?? { revisionNumber: 0n, revisionHeight: 0n },
      timestamp: message.timeoutTimestamp,
    },
    data: packets.encodePacketData({
      denom,
      amount: coin.amount.toString(),
      sender: message.sender,
      receiver: message.receiver,
      memo: message.memo,
    }),
  });
  // The deployed chain reads the channel again after the rate limiter has run, which consumes gas.
  channels.channel(context, source);
  context.emit(
    event("ibc_transfer", [
      ["sender", message.sender],
      ["receiver", message.receiver],
      ["amount", coin.amount.toString()],
      ["denom", coin.denom],
      ["memo", message.memo],
    ]),
  );
  context.emit(event("message", [["module", transfer.MODULE_NAME]]));
  return sequence;
}

/**
 * Pays out an incoming transfer: releases a returning coin from escrow, or mints a voucher. Throws `ModuleError`, whose code is
 * then included in the acknowledgement.
 */
function receiveTransfer(
  context: Context,
  { source, destination }: RelayedPacket,
  data: FungibleTokenPacketData,
  keepers: Keepers,
): void {
  errors.wrapErrors("error validating ICS-20 transfer packet data", () => packets.validatePacketData(data));
  if (!transfer.moduleParams.get(context).receiveEnabled) throw transfer.ErrReceiveDisabled();
  const receiver = errors.orThrowWith(
    errors.unregisteredError,
    `failed to decode receiver address: ${data.receiver}`,
    () => parseAddress(keepers.bech32Prefix, data.receiver),
  );
  const amount = packets.parseAmount(data.amount);
  if (data.denom.startsWith(transfer.channelPrefix(source))) {
    if (keepers.bank.isBlocked(receiver))
      throw ibcErrors.ErrIbcUnauthorized(`${data.receiver} is not allowed to receive funds`);
    const denom = transfer.receivedDenom({ source, destination }, data.denom);
    // If the denomination is invalid, acknowledge the packet with an error. The Go code panics in this case.
    if (!isDenom(denom)) throw errors.unregisteredError(`invalid denom: ${denom}`);
    unescrowCoin(context, keepers, { to: receiver, end: destination }, { denom, amount });
    return;
  }
  const voucher = { full: transfer.channelPrefix(destination) + data.denom, amount };
  mintVoucher(context, keepers, { address: receiver, text: data.receiver }, voucher);
}

function mintVoucher(
  context: Context,
  { bank }: Keepers,
  receiver: { readonly address: Uint8Array; readonly text: string },
  { full, amount }: { readonly full: string; readonly amount: bigint },
): void {
  const trace = transfer.parseTrace(full);
  addTrace(context, bank, trace);
  const denom = transfer.localDenom(trace);
  context.emit(
    event("denomination_trace", [
      ["trace_hash", upperHex(transfer.traceHash(trace))],
      ["denom", denom],
    ]),
  );
  errors.wrapErrors("failed to mint IBC tokens", () =>
    bank.mint(context, transfer.MODULE_NAME, [{ denom, amount }]),
  );
  errors.wrapErrors(`failed to send coins to receiver ${receiver.text}`, () =>
    bank.sendFromModule(context, transfer.MODULE_NAME, receiver.address, [{ denom, amount }]),
  );
}

/** Refunds a failed transfer from escrow or as a new voucher. Throws `ModuleError`. */
function refund(
  context: Context,
  source: ChannelEndpoint,
  { denom: full, amount: text, sender: address }: FungibleTokenPacketData,
  keepers: Keepers,
): void {
  const coin = { denom: transfer.localDenom(transfer.parseTrace(full)), amount: packets.parseAmount(text) };
  const sender = parseAddress(keepers.bech32Prefix, address);
  if (!full.startsWith(transfer.channelPrefix(source))) {
    unescrowCoin(context, keepers, { to: sender, end: source }, coin);
    return;
  }
  keepers.bank.mint(context, transfer.MODULE_NAME, [coin]);
  keepers.bank.sendFromModule(context, transfer.MODULE_NAME, sender, [coin]);
}

/** Emits the event for a packet's receipt or acknowledgement. */
function emitPacket(
  context: Context,
  { sender, receiver, denom, amount, memo }: FungibleTokenPacketData,
  outcome: readonly (readonly [key: string, value: string])[],
): void {
  context.emit(
    event("fungible_token_packet", [
      ["module", transfer.MODULE_NAME],
      ["sender", sender],
      ["receiver", receiver],
      ["denom", denom],
      ["amount", amount],
      ["memo", memo],
      ...outcome,
    ]),
  );
}

/** Returns a message's coin, or throws sdk/2 if the amount is not an integer. */
export function coinOf({ token }: Pick<MsgTransfer, "token">): Coin {
  const [coin] = parseCoins([token ?? { denom: "", amount: "" }]);
  return coin ?? { denom: "", amount: 0n };
}
