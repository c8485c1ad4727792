import type { Counterparty, Order } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { Context } from "../../../runtime/context.ts";
import type { ChannelEndpoint, Packet, Timeout } from "../host/packet.ts";

/** A channel that is being opened. */
export interface OpeningChannel extends ChannelEndpoint {
  readonly ordering: Order;
  readonly connectionHops: readonly string[];
  readonly counterparty: Counterparty;
  /** In the first step the wanted version, in the second step that of the counterparty. */
  readonly version: string;
}

/** The reply of the receiving application. Without `success`, the writes of the application are dropped. */
export interface Acknowledgement {
  readonly success: boolean;
  readonly bytes: Uint8Array;
}

/** A packet with the account that relayed it. */
export interface RelayedPacket extends Packet {
  /** 20 bytes or more. */
  readonly relayer: Uint8Array;
}

/**
 * The application behind a port (ICS-26). Every method may throw `ModuleError` to fail the message. A middleware is an
 * application around another one.
 */
export interface IBCModule {
  /** Returns the version of the channel. */
  readonly onOpenInit: (context: Context, channel: OpeningChannel) => string;
  /** Returns the version of the channel. */
  readonly onOpenTry: (context: Context, channel: OpeningChannel) => string;
  readonly onOpenAck: (context: Context, channel: ChannelEndpoint, counterpartyVersion: string) => void;
  readonly onOpenConfirm: (context: Context, channel: ChannelEndpoint) => void;
  readonly onCloseInit: (context: Context, channel: ChannelEndpoint) => void;
  readonly onCloseConfirm: (context: Context, channel: ChannelEndpoint) => void;
  /** Returns the acknowledgement; undefined when it follows in a later transaction. */
  readonly onReceive: (context: Context, packet: RelayedPacket) => Acknowledgement | undefined;
  readonly onAcknowledge: (context: Context, packet: RelayedPacket, acknowledgement: Uint8Array) => void;
  readonly onTimeout: (context: Context, packet: RelayedPacket) => void;
}

/** A packet that an application sends. */
export interface OutgoingPacket {
  readonly source: ChannelEndpoint;
  readonly timeout: Timeout;
  readonly data: Uint8Array;
}

/** The interface through which an application calls its channel. A middleware wraps it too. */
export interface ICS4Wrapper {
  /** Sends a packet and returns its number. Throws `ModuleError`. */
  readonly sendPacket: (context: Context, packet: OutgoingPacket) => bigint;
}

/** Finds the application of a port. */
export type PortRouter = (portId: string) => IBCModule | undefined;
