import { FungibleTokenPacketData } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/packet.ts";
import { Order } from "../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { enumName } from "../../../../platform/base/text.ts";
import type { Context } from "../../runtime/context.ts";
import { isOutOfGas, ModuleError } from "../../runtime/errors.ts";
import type { Acknowledgement, IBCModule, OpeningChannel, RelayedPacket } from "../ibc/channel/ibc-module.ts";
import { decodeReply, errorAcknowledgement, goReply, SUCCESS } from "./acknowledgement.ts";
import {
  ErrIbcInvalidRequest,
  ErrIbcInvalidType,
  ErrIbcUnknownRequest,
  ErrInvalidChannelOrdering,
  ErrInvalidPort,
  ErrInvalidVersion,
} from "./errors.ts";
import { transferAcknowledged, transferReceived, transferTimedOut } from "./events.ts";
import { PORT_ID, VERSION } from "./keys.ts";
import { decodePacketData } from "./packet-data.ts";
import { receiveTransfer } from "./receive.ts";
import { refund } from "./refund.ts";
import type { Environment } from "./types.ts";

/** Creates the application of the port `transfer` (ICS-20). */
export function createTransferApplication(environment: Environment): IBCModule {
  return {
    onOpenInit: (_context, channel) => {
      validateChannel(channel);
      // As on the deployed chain, an empty version stays empty until the counterparty chooses.
      if (channel.version.trim() === "") return channel.version;
      if (channel.version !== VERSION) throw ErrInvalidVersion(`expected ${VERSION}, got ${channel.version}`);
      return VERSION;
    },
    onOpenTry: (_context, channel) => {
      validateChannel(channel);
      requireVersion(channel.version);
      return VERSION;
    },
    onOpenAck: (_context, _channel, version) => requireVersion(version),
    onOpenConfirm: () => undefined,
    onCloseInit: () => {
      throw ErrIbcInvalidRequest("user cannot close channel");
    },
    onCloseConfirm: () => undefined,
    onReceive: (context, packet) => onReceive(context, packet, environment),
    onAcknowledge: (context, packet, acknowledgement) =>
      onAcknowledge(context, packet, acknowledgement, environment),
    onTimeout: (context, packet) => {
      const data = dataOf(packet);
      refund(context, packet.source, data, environment);
      context.emit(transferTimedOut(data));
    },
  };
}

function validateChannel({ ordering, portId }: OpeningChannel): void {
  if (ordering !== Order.ORDER_UNORDERED) {
    // The space before the colon is that of ibc-go.
    throw ErrInvalidChannelOrdering(`expected ORDER_UNORDERED channel, got ${enumName(Order, ordering)} `);
  }
  if (portId !== PORT_ID) throw ErrInvalidPort(`invalid port: ${portId}, expected ${PORT_ID}`);
}

function requireVersion(version: string): void {
  if (version !== VERSION)
    throw ErrInvalidVersion(`invalid counterparty version: expected ${VERSION}, got ${version}`);
}

/** A transfer that cannot be paid out is acknowledged with the code of the error. */
function onReceive(context: Context, packet: RelayedPacket, environment: Environment): Acknowledgement {
  let data = FungibleTokenPacketData.decode(new Uint8Array(0));
  try {
    data = receivedData(packet);
    receiveTransfer(context, packet, data, environment);
    context.emit(transferReceived(data, undefined));
    return SUCCESS;
  } catch (error) {
    if (!(error instanceof ModuleError) || isOutOfGas(error)) throw error;
    context.emit(transferReceived(data, error.message));
    return errorAcknowledgement(error);
  }
}

function receivedData({ data }: RelayedPacket): FungibleTokenPacketData {
  try {
    return decodePacketData(data);
  } catch (error) {
    if (error instanceof ModuleError) throw ErrIbcInvalidType("cannot unmarshal ICS-20 transfer packet data");
    throw error;
  }
}

function onAcknowledge(
  context: Context,
  packet: RelayedPacket,
  acknowledgement: Uint8Array,
  environment: Environment,
): void {
  const reply = decodeReply(acknowledgement);
  const data = dataOf(packet);
  if (reply.kind === "error") refund(context, packet.source, data, environment);
  const outcome =
    reply.kind === "error"
      ? (["error", reply.error] as const)
      : (["success", Buffer.from(reply.result).toString("utf8")] as const);
  for (const event of transferAcknowledged(data, goReply(reply), outcome)) context.emit(event);
}

function dataOf({ data }: RelayedPacket): FungibleTokenPacketData {
  try {
    return decodePacketData(data);
  } catch (error) {
    throw ErrIbcUnknownRequest(`cannot unmarshal ICS-20 transfer packet data: ${errorText(error)}`);
  }
}
