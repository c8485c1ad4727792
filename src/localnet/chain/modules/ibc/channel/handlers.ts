import { type Channel, Order, State } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import type { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { enumName } from "../../../../../platform/base/text.ts";
import type { Context } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { type MessageFunctions, messageHandlers } from "../../../runtime/handlers.ts";
import type { MessageHandler } from "../../../runtime/module.ts";
import { type MessageProof, proofOf } from "../client/verify-proof.ts";
import {
  goVersion,
  goVersions,
  requireActiveClient,
  requireConnection,
  requireOpen,
  requireOpenConnection,
} from "../connection/connection-store.ts";
import {
  channelCapability,
  chargeAuthentication,
  chargeCreation,
  portCapability,
} from "../host/capability.ts";
import { ErrChannelNotFound, ErrInvalidChannelState, ErrInvalidConnectionVersion } from "../host/errors.ts";
import { channelStep } from "../host/events.ts";
import { STORE_NAME } from "../host/keys.ts";
import { type IbcOptions, requireAuthority, unsupported } from "../host/signed-handler.ts";
import { channelParams } from "../host/params.ts";
import {
  applicationOfChannel,
  applicationOfPort,
  counterpartyOf,
  getChannel,
  hopOf,
  nextChannelSequence,
  setChannel,
  setSequence,
} from "./channel-store.ts";
import type { IBCModule, OpeningChannel, PortRouter } from "./ibc-module.ts";
import { verifyClosed, verifyCounterparty } from "./keeper.ts";
import * as checks from "./messages.ts";
import type { packetMessages } from "./packet-handlers.ts";
import type { ChannelEndpoint } from "../host/packet.ts";

/** Implementations of some of the service's messages. */
type Messages = Partial<MessageFunctions<typeof wire.Msg>>;

/** Message handlers for `ibc.core.channel.v1`. */
export function channelHandlers(
  options: IbcOptions,
  router: PortRouter,
  packets: ReturnType<typeof packetMessages>,
): readonly MessageHandler[] {
  return messageHandlers(wire.Msg, {
    ...openingMessages(options, router),
    ...laterMessages(options, router),
    ...packets,
    ...upgradeMessages,
    UpdateChannelParams: updateParams(options),
  });
}

function openingMessages({ bech32Prefix }: IbcOptions, router: PortRouter) {
  return {
    ChannelOpenInit: {
      validate: (message) => checks.validateOpenInit(message, bech32Prefix),
      handle: (context, message) => {
        const application = applicationOfPort(context, router, message.portId);
        const opened = openInit(context, application, requestOf(message, message.channel?.version ?? ""));
        return opened;
      },
    },
    ChannelOpenTry: {
      validate: (message) => checks.validateOpenTry(message, bech32Prefix),
      handle: (context, message) => {
        const application = applicationOfPort(context, router, message.portId);
        const request = requestOf(message, message.counterpartyVersion);
        const proof = proofOf(message.proofInit, message.proofHeight);
        const opened = openTry(context, application, { ...request, proof });
        return opened;
      },
    },
  } satisfies Messages;
}

function laterMessages({ bech32Prefix }: IbcOptions, router: PortRouter) {
  return {
    ChannelOpenAck: {
      validate: (message) => checks.validateOpenAck(message, bech32Prefix),
      handle: (context, message) => {
        const application = applicationOfChannel(context, router, message);
        const { counterpartyChannelId: channelId, counterpartyVersion: version } = message;
        const proof = proofOf(message.proofTry, message.proofHeight);
        openAck(context, application, message, { channelId, version, proof });
      },
    },
    ChannelOpenConfirm: {
      validate: (message) => checks.validateOpenConfirm(message, bech32Prefix),
      handle: (context, message) => {
        const application = applicationOfChannel(context, router, message);
        openConfirm(context, application, message, proofOf(message.proofAck, message.proofHeight));
      },
    },
    ChannelCloseInit: {
      validate: (message) => checks.validateCloseInit(message, bech32Prefix),
      handle: (context, message) =>
        closeInit(context, applicationOfChannel(context, router, message), message),
    },
    ChannelCloseConfirm: {
      validate: (message) => checks.validateCloseConfirm(message, bech32Prefix),
      handle: (context, message) => {
        const application = applicationOfChannel(context, router, message);
        const proof = proofOf(message.proofInit, message.proofHeight);
        const upgradeSequence = message.counterpartyUpgradeSequence;
        closeConfirm(context, application, message, { proof, upgradeSequence });
      },
    },
  } satisfies Messages;
}

function updateParams({
  bech32Prefix,
  authority,
}: IbcOptions): MessageFunctions<typeof wire.Msg>["UpdateChannelParams"] {
  return {
    validate: (message) => checks.validateUpdateParams(message, bech32Prefix),
    handle: (context, message) => {
      requireAuthority(authority, { signer: message.authority });
      channelParams.set(context, checks.paramsIn(message));
    },
  };
}

/** Messages for channel upgrades, and for pruning entries, which relayers may do only after an upgrade. */
const upgradeMessages = {
  ChannelUpgradeInit: unsupported("/ibc.core.channel.v1.MsgChannelUpgradeInit"),
  ChannelUpgradeTry: unsupported("/ibc.core.channel.v1.MsgChannelUpgradeTry"),
  ChannelUpgradeAck: unsupported("/ibc.core.channel.v1.MsgChannelUpgradeAck"),
  ChannelUpgradeConfirm: unsupported("/ibc.core.channel.v1.MsgChannelUpgradeConfirm"),
  ChannelUpgradeOpen: unsupported("/ibc.core.channel.v1.MsgChannelUpgradeOpen"),
  ChannelUpgradeTimeout: unsupported("/ibc.core.channel.v1.MsgChannelUpgradeTimeout"),
  ChannelUpgradeCancel: unsupported("/ibc.core.channel.v1.MsgChannelUpgradeCancel"),
  PruneAcknowledgements: unsupported("/ibc.core.channel.v1.MsgPruneAcknowledgements"),
} satisfies Messages;

function requestOf(
  { portId, channel }: Pick<wire.MsgChannelOpenInit, "portId" | "channel">,
  version: string,
): OpenRequest {
  // The stateless checks refuse a message without a channel.
  return { portId, version, channel: channel ?? EMPTY_CHANNEL };
}

const EMPTY_CHANNEL: OpenRequest["channel"] = {
  state: 0,
  ordering: 0,
  counterparty: undefined,
  connectionHops: [],
  version: "",
  upgradeSequence: 0n,
};

// The steps of opening and closing a channel (ICS-4, ibc-go 04-channel). Each calls the application of the port.

/** Message fields used by the first two handshake steps. */
interface OpenRequest {
  readonly portId: string;
  readonly channel: Channel;
  /** The requested version, or the counterparty's version. */
  readonly version: string;
}

/** Starts a channel. Returns its id and version. Throws `ModuleError`. */
function openInit(
  context: Context,
  application: IBCModule,
  request: OpenRequest,
): { readonly channelId: string; readonly version: string } {
  const opening = inStep("open init", () => {
    const connection = requireConnection(context, hopOf(request.channel));
    requireFeature(connection, request.channel.ordering);
    requireActiveClient(context, connection.clientId);
    chargeAuthentication(context, STORE_NAME, portCapability(request.portId));
    return newChannel(context, request, nextChannelId(context));
  });
  const version = inCallback("open init", opening, () => application.onOpenInit(context, opening));
  writeNewChannel(context, opening, { state: State.STATE_INIT, version });
  return { channelId: opening.channelId, version };
}

/** Accepts a channel that the counterparty has started. Returns its id and version. Throws `ModuleError`. */
function openTry(
  context: Context,
  application: IBCModule,
  request: OpenRequest & { readonly proof: MessageProof },
): { readonly channelId: string; readonly version: string } {
  const opening = inStep("open try", () => {
    const { portId, channel, version, proof } = request;
    const channelId = nextChannelId(context);
    chargeAuthentication(context, STORE_NAME, portCapability(portId));
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
    return newChannel(context, request, channelId);
  });
  const version = inCallback("open try", opening, () => application.onOpenTry(context, opening));
  writeNewChannel(context, opening, { state: State.STATE_TRYOPEN, version });
  return { channelId: opening.channelId, version };
}

/** Opens a channel that the counterparty has accepted. Throws `ModuleError`. */
function openAck(
  context: Context,
  application: IBCModule,
  end: ChannelEndpoint,
  remote: { readonly channelId: string; readonly version: string; readonly proof: MessageProof },
): void {
  const opened = inStep("open ack", () => {
    const channel = requireChannel(context, end);
    if (channel.state !== State.STATE_INIT)
      throw ErrInvalidChannelState(`channel state should be INIT (got ${enumName(State, channel.state)})`);
    chargeAuthentication(context, STORE_NAME, channelCapability(end));
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
  requireChannel(context, end);
  write(context, "channel_open_ack", end, opened);
  inCallback("open ack", end, () => application.onOpenAck(context, end, remote.version));
}

/** Opens a channel that the counterparty has opened. Throws `ModuleError`. */
function openConfirm(
  context: Context,
  application: IBCModule,
  end: ChannelEndpoint,
  proof: MessageProof,
): void {
  const opened = inStep("open confirm", () => {
    const channel = requireChannel(context, end);
    if (channel.state !== State.STATE_TRYOPEN)
      throw ErrInvalidChannelState(`channel state is not TRYOPEN (got ${enumName(State, channel.state)})`);
    chargeAuthentication(context, STORE_NAME, channelCapability(end));
    const connection = requireOpenConnection(context, hopOf(channel));
    const { ordering, version } = channel;
    const expected = { state: State.STATE_OPEN, ordering, counterparty: end, version };
    verifyCounterparty(context, connection, { ...proof, ...counterpartyOf(channel) }, expected);
    return { ...channel, state: State.STATE_OPEN };
  });
  requireChannel(context, end);
  write(context, "channel_open_confirm", end, opened);
  inCallback("open confirm", end, () => application.onOpenConfirm(context, end));
}

/** Closes a channel. Throws `ModuleError`. */
function closeInit(context: Context, application: IBCModule, end: ChannelEndpoint): void {
  inCallback("close init", end, () => application.onCloseInit(context, end));
  const closed = inStep("close init", () => {
    const channel = requireNotClosed(context, end);
    const connection = requireConnection(context, hopOf(channel));
    requireActiveClient(context, connection.clientId);
    requireOpen(connection);
    return { ...channel, state: State.STATE_CLOSED };
  });
  write(context, "channel_close_init", end, closed);
}

/** Closes a channel that the counterparty has closed. Throws `ModuleError`. */
function closeConfirm(
  context: Context,
  application: IBCModule,
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

function newChannel(
  context: Context,
  { portId, channel, version }: OpenRequest,
  channelId: string,
): OpeningChannel {
  const { ordering, connectionHops } = channel;
  chargeCreation(context, channelCapability({ portId, channelId }));
  return { portId, channelId, ordering, connectionHops, counterparty: counterpartyOf(channel), version };
}

/** Reads a channel. As in ibc-go, some steps read it again before writing it, which consumes gas. */
function requireChannel(context: Context, end: ChannelEndpoint): Channel {
  const channel = getChannel(context, end);
  if (channel === undefined)
    throw ErrChannelNotFound(`port ID (${end.portId}) channel ID (${end.channelId})`);
  return channel;
}

function requireNotClosed(context: Context, end: ChannelEndpoint): Channel {
  chargeAuthentication(context, STORE_NAME, channelCapability(end));
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

function nextChannelId(context: Context): string {
  const sequence = nextChannelSequence.get(context) ?? 0n;
  nextChannelSequence.set(context, sequence + 1n);
  return `channel-${sequence}`;
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
  return wrapErrors(`channel handshake ${step} failed`, work);
}

function inCallback<T>(step: string, { portId, channelId }: ChannelEndpoint, work: () => T): T {
  const words = `channel ${step} callback failed for port ID: ${portId}, channel ID: ${channelId}`;
  return wrapErrors(words, work);
}
