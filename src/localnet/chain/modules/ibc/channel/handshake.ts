import {
  Channel,
  type Counterparty,
  Order,
  State,
} from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import type { Context } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { type MessageProof, verifyRemoteValue } from "../connection/connection-proofs.ts";
import {
  requireActiveClient,
  requireConnection,
  requireOpenConnection,
} from "../connection/connection-state.ts";
import { goVersion, goVersions } from "../connection/versions.ts";
import { enumName } from "../enum-name.ts";
import { ErrInvalidConnectionVersion } from "../errors.ts";
import { channelPath } from "../keys.ts";
import type { IbcApplication, OpeningChannel } from "./application.ts";
import { getChannel, nextChannelSequence, setChannel, setSequence } from "./channel-store.ts";
import { ErrChannelNotFound, ErrInvalidChannelState } from "./errors.ts";
import { channelStep } from "./events.ts";
import type { ChannelEndpoint } from "./packet.ts";

// The steps of opening and closing a channel (ICS-4, ibc-go 04-channel). Each calls the application of the port.

/** What the first two steps need of their message. */
export interface OpenRequest {
  readonly portId: string;
  readonly channel: Channel;
  /** The wanted version, or that of the counterparty. */
  readonly version: string;
}

/** Starts a channel. Returns its id and version. Throws `ModuleError`. */
export function openInit(
  context: Context,
  application: IbcApplication,
  request: OpenRequest,
): { readonly channelId: string; readonly version: string } {
  const opening = inStep("open init", () => {
    const connection = requireConnection(context, hopOf(request.channel));
    requireFeature(connection, request.channel.ordering);
    requireActiveClient(context, connection.clientId);
    return openingChannel(request, newChannelId(context));
  });
  const version = inCallback("open init", opening, () => application.onOpenInit(context, opening));
  writeNewChannel(context, opening, { state: State.STATE_INIT, version });
  return { channelId: opening.channelId, version };
}

/** Accepts a channel that the counterparty has started. Returns its id and version. Throws `ModuleError`. */
export function openTry(
  context: Context,
  application: IbcApplication,
  request: OpenRequest & { readonly proof: MessageProof },
): { readonly channelId: string; readonly version: string } {
  const opening = inStep("open try", () => {
    const { portId, channel, version, proof } = request;
    const connection = requireOpenConnection(context, hopOf(channel));
    requireFeature(connection, channel.ordering);
    verifyCounterparty(
      context,
      connection,
      { ...proof, ...counterpartyOf(channel) },
      {
        state: State.STATE_INIT,
        ordering: channel.ordering,
        counterparty: { portId, channelId: "" },
        version,
      },
    );
    return openingChannel(request, newChannelId(context));
  });
  const version = inCallback("open try", opening, () => application.onOpenTry(context, opening));
  writeNewChannel(context, opening, { state: State.STATE_TRYOPEN, version });
  return { channelId: opening.channelId, version };
}

/** Opens a channel that the counterparty has accepted. Throws `ModuleError`. */
export function openAck(
  context: Context,
  application: IbcApplication,
  end: ChannelEndpoint,
  remote: { readonly channelId: string; readonly version: string; readonly proof: MessageProof },
): void {
  const opened = inStep("open ack", () => {
    const channel = requireChannel(context, end);
    if (channel.state !== State.STATE_INIT)
      throw ErrInvalidChannelState(`channel state should be INIT (got ${enumName(State, channel.state)})`);
    const connection = requireOpenConnection(context, hopOf(channel));
    const { portId } = counterpartyOf(channel);
    verifyCounterparty(
      context,
      connection,
      { ...remote.proof, portId, channelId: remote.channelId },
      {
        state: State.STATE_TRYOPEN,
        ordering: channel.ordering,
        counterparty: end,
        version: remote.version,
      },
    );
    const counterparty = { portId, channelId: remote.channelId };
    return { ...channel, state: State.STATE_OPEN, version: remote.version, counterparty };
  });
  write(context, "channel_open_ack", end, opened);
  inCallback("open ack", end, () => application.onOpenAck(context, end, remote.version));
}

/** Opens a channel that the counterparty has opened. Throws `ModuleError`. */
export function openConfirm(
  context: Context,
  application: IbcApplication,
  end: ChannelEndpoint,
  proof: MessageProof,
): void {
  const opened = inStep("open confirm", () => {
    const channel = requireChannel(context, end);
    if (channel.state !== State.STATE_TRYOPEN)
      throw ErrInvalidChannelState(`channel state is not TRYOPEN (got ${enumName(State, channel.state)})`);
    const connection = requireOpenConnection(context, hopOf(channel));
    const { ordering, version } = channel;
    const expected = { state: State.STATE_OPEN, ordering, counterparty: end, version };
    verifyCounterparty(context, connection, { ...proof, ...counterpartyOf(channel) }, expected);
    return { ...channel, state: State.STATE_OPEN };
  });
  write(context, "channel_open_confirm", end, opened);
  inCallback("open confirm", end, () => application.onOpenConfirm(context, end));
}

/** Closes a channel. Throws `ModuleError`. */
export function closeInit(context: Context, application: IbcApplication, end: ChannelEndpoint): void {
  inCallback("close init", end, () => application.onCloseInit(context, end));
  const closed = inStep("close init", () => {
    const channel = requireNotClosed(context, end);
    requireActiveClient(context, requireConnection(context, hopOf(channel)).clientId);
    requireOpenConnection(context, hopOf(channel));
    return { ...channel, state: State.STATE_CLOSED };
  });
  write(context, "channel_close_init", end, closed);
}

/** Closes a channel that the counterparty has closed. Throws `ModuleError`. */
export function closeConfirm(
  context: Context,
  application: IbcApplication,
  end: ChannelEndpoint,
  remote: { readonly proof: MessageProof; readonly upgradeSequence: bigint },
): void {
  inCallback("close confirm", end, () => application.onCloseConfirm(context, end));
  const closed = inStep("close confirm", () => {
    const channel = requireNotClosed(context, end);
    const connection = requireOpenConnection(context, hopOf(channel));
    verifyClosed(context, { connection, channel, end }, remote);
    return { ...channel, state: State.STATE_CLOSED };
  });
  write(context, "channel_close_confirm", end, closed);
}

/** Verifies that the counterparty has closed its end of a channel. Throws `ModuleError`. */
export function verifyClosed(
  context: Context,
  own: { readonly connection: ConnectionEnd; readonly channel: Channel; readonly end: ChannelEndpoint },
  remote: { readonly proof: MessageProof; readonly upgradeSequence: bigint },
): void {
  const { connection, channel, end } = own;
  verifyCounterparty(
    context,
    connection,
    { ...remote.proof, ...counterpartyOf(channel) },
    {
      state: State.STATE_CLOSED,
      ordering: channel.ordering,
      counterparty: end,
      version: channel.version,
      upgradeSequence: remote.upgradeSequence,
    },
  );
}

/** Returns the id of the connection of a channel. Every channel has exactly one. */
export function hopOf({ connectionHops }: Pick<Channel, "connectionHops">): string {
  return connectionHops[0] ?? "";
}

/** Returns the other end of a channel. Its channel id is empty until it is known. */
export function counterpartyOf({ counterparty }: Pick<Channel, "counterparty">): Counterparty {
  return { portId: counterparty?.portId ?? "", channelId: counterparty?.channelId ?? "" };
}

function openingChannel({ portId, channel, version }: OpenRequest, channelId: string): OpeningChannel {
  const { ordering, connectionHops } = channel;
  return { portId, channelId, ordering, connectionHops, counterparty: counterpartyOf(channel), version };
}

function requireChannel(context: Context, end: ChannelEndpoint): Channel {
  const channel = getChannel(context, end);
  if (channel === undefined)
    throw ErrChannelNotFound(`port ID (${end.portId}) channel ID (${end.channelId})`);
  return channel;
}

function requireNotClosed(context: Context, end: ChannelEndpoint): Channel {
  const channel = requireChannel(context, end);
  if (channel.state === State.STATE_CLOSED) throw ErrInvalidChannelState("channel is already CLOSED");
  return channel;
}

function requireFeature({ versions }: ConnectionEnd, ordering: Order): void {
  const [version, ...others] = versions;
  if (version === undefined || others.length > 0) {
    throw ErrInvalidConnectionVersion(
      `single version must be negotiated on connection before opening channel, got: ${goVersions(versions)}`,
    );
  }
  if (version.features.includes(enumName(Order, ordering))) return;
  throw ErrInvalidConnectionVersion(
    `connection version ${goVersion(version)} does not support channel ordering: ${enumName(Order, ordering)}`,
  );
}

function newChannelId(context: Context): string {
  const sequence = nextChannelSequence.get(context) ?? 0n;
  nextChannelSequence.set(context, sequence + 1n);
  return `channel-${sequence}`;
}

function verifyCounterparty(
  context: Context,
  connection: ConnectionEnd,
  remote: MessageProof & ChannelEndpoint,
  expected: Pick<Channel, "state" | "ordering" | "version"> & {
    readonly counterparty: ChannelEndpoint;
    readonly upgradeSequence?: bigint;
  },
): void {
  const { portId, channelId } = expected.counterparty;
  const channel = Channel.encode({
    ...expected,
    counterparty: { portId, channelId },
    connectionHops: [connection.counterparty?.connectionId ?? ""],
    upgradeSequence: expected.upgradeSequence ?? 0n,
  });
  const path = channelPath(remote.portId, remote.channelId);
  const proven = { ...remote, path, name: "channel state", isPacket: false };
  verifyRemoteValue(context, connection, proven, channel.finish());
}

function writeNewChannel(
  context: Context,
  opening: OpeningChannel,
  { state, version }: Pick<Channel, "state" | "version">,
): void {
  const { ordering, counterparty, connectionHops } = opening;
  for (const name of ["nextSequenceSend", "nextSequenceRecv", "nextSequenceAck"] as const)
    setSequence(context, name, opening, 1n);
  const channel = { state, ordering, counterparty, version, upgradeSequence: 0n };
  const type = state === State.STATE_INIT ? "channel_open_init" : "channel_open_try";
  write(context, type, opening, { ...channel, connectionHops: [...connectionHops] });
}

function write(context: Context, type: string, end: ChannelEndpoint, channel: Channel): void {
  setChannel(context, end, channel);
  for (const event of channelStep(type, end, channel)) context.emit(event);
}

function inStep<T>(step: string, work: () => T): T {
  return wrapErrors((error) => error.wrap(`channel handshake ${step} failed`), work);
}

function inCallback<T>(step: string, { portId, channelId }: ChannelEndpoint, work: () => T): T {
  const words = `channel ${step} callback failed for port ID: ${portId}, channel ID: ${channelId}`;
  return wrapErrors((error) => error.wrap(words), work);
}
