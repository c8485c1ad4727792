import * as wireChannel from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { messageFromJson } from "../../../../../cosmos/proto/json.ts";
import { equalBytes, fromLossyUtf8, toBase64, utf8 } from "../../../../../platform/base/bytes.ts";
import { printGoJson } from "../../../../../platform/base/go-json.ts";
import { firstGoJson } from "../../../../../platform/base/go-json-syntax.ts";
import { isRecord } from "../../../../../platform/base/json.ts";
import type { Context } from "../../../runtime/context.ts";
import { ErrInvalidAcknowledgement } from "../host/errors.ts";
import type { ChannelEndpoint, Packet, Timeout } from "../host/packet.ts";

export interface OpeningChannel extends ChannelEndpoint {
  readonly ordering: wireChannel.Order;
  readonly connectionHops: readonly string[];
  readonly counterparty: wireChannel.Counterparty;
  /** The requested version in handshake step 1, or the counterparty's version in handshake step 2. */
  readonly version: string;
}

/** The acknowledgement that the receiving application returns for a packet. If `success` is false, the application's writes are dropped. */
export interface Acknowledgement {
  readonly success: boolean;
  readonly bytes: Uint8Array;
}

export interface RelayedPacket extends Packet {
  /** Address of the relayer's account, 20 bytes or more. */
  readonly relayer: Uint8Array;
}

/** An IBC application that owns ports (ICS-26), or middleware around it. Methods throw `ModuleError` to fail a message. */
export interface IBCModule {
  /** Name of the module that owns the ports and channels. */
  readonly moduleName: string;
  /** Returns the version that the application chooses for the new channel. */
  readonly onOpenInit: (context: Context, channel: OpeningChannel) => string;
  /** Returns the version that the application chooses for the new channel. */
  readonly onOpenTry: (context: Context, channel: OpeningChannel) => string;
  readonly onOpenAck: (context: Context, channel: ChannelEndpoint, counterpartyVersion: string) => void;
  readonly onOpenConfirm: (context: Context, channel: ChannelEndpoint) => void;
  readonly onCloseInit: (context: Context, channel: ChannelEndpoint) => void;
  readonly onCloseConfirm: (context: Context, channel: ChannelEndpoint) => void;
  /** Returns the acknowledgement, or undefined if it is written in a later transaction. */
  readonly onReceive: (context: Context, packet: RelayedPacket) => Acknowledgement | undefined;
  readonly onAcknowledge: (context: Context, packet: RelayedPacket, acknowledgement: Uint8Array) => void;
  readonly onTimeout: (context: Context, packet: RelayedPacket) => void;
}

/** A packet that an application sends, before the channel assigns a sequence. */
export interface OutgoingPacket {
  readonly source: ChannelEndpoint;
  readonly timeout: Timeout;
  readonly data: Uint8Array;
}

/** The interface through which an application, or middleware around it, sends packets on its channel. */
export interface ICS4Wrapper {
  /** Sends a packet and returns its sequence. Throws `ModuleError`. */
  readonly sendPacket: (context: Context, packet: OutgoingPacket) => bigint;
}

/** Finds a port's application without charging gas. */
export type PortRouter = (context: Context, portId: string) => IBCModule | undefined;

/** The content of an acknowledgement in the standard format (ICS-4 `Acknowledgement`). */
export type Reply =
  | { readonly kind: "result"; readonly result: Uint8Array }
  | { readonly kind: "error"; readonly error: string };

/** Encodes a reply as JSON, with the same bytes as ibc-go. */
export function encodeReply(reply: Reply): Uint8Array {
  return utf8(
    printGoJson(reply.kind === "result" ? { result: toBase64(reply.result) } : { error: reply.error }),
  );
}

/**
 * Decodes a reply from any JSON that Go accepts. Returns undefined for an empty reply. Throws a plain error for bytes that Go would reject.
 */
export function decodeReply(bytes: Uint8Array): Reply | undefined {
  const json: unknown = JSON.parse(fromLossyUtf8(firstGoJson(bytes)));
  if (json !== null && !isRecord(json)) throw new Error("not an object");
  // If a reply contains both a result and an error, Go uses one of the two at random.
  const responses = Object.entries(json ?? {}).map(([name, value]) => {
    const member = messageFromJson("ibc.core.channel.v1.Acknowledgement", { [name]: value });
    return wireChannel.Acknowledgement.decode(member).response;
  });
  const response = responses.at(-1);
  if (response === undefined) return undefined;
  return response.$case === "result"
    ? { kind: "result", result: response.value }
    : { kind: "error", error: response.value };
}

/**
 * Throws channel/16 if the bytes decode as a reply, but differ from ibc-go's encoding of this reply. Accepts bytes that do not
 * decode as a reply.
 */
export function requireCanonicalReply(bytes: Uint8Array): void {
  let reply: Reply | undefined;
  try {
    reply = decodeReply(bytes);
  } catch {
    return;
  }
  if (!equalBytes(reply === undefined ? utf8("{}") : encodeReply(reply), bytes))
    throw ErrInvalidAcknowledgement("acknowledgement marshalling error");
}
