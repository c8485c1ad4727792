import {
  type Channel,
  Order,
  type Params,
  State,
} from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import type { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { enumName } from "../../../../../platform/base/text.ts";
import type { Context, MessageHandler } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { type MessageFunctions, messageHandlers } from "../../../runtime/handlers.ts";
import { type MessageProof, proofOf } from "../client/verify-proof.ts";
import * as connections from "../connection/connection-store.ts";
import * as capability from "../host/capability.ts";
import * as ibcErrors from "../host/errors.ts";
import { emitChannelStep } from "../host/events.ts";
import { ZERO_HEIGHT } from "../host/height.ts";
import { STORE_NAME } from "../host/keys.ts";
import type { ChannelEndpoint } from "../host/packet.ts";
import { channelParams } from "../host/params.ts";
import { type IbcOptions, requireAuthority, requireSigner, unsupported } from "../host/signed-handler.ts";
import * as channelStore from "./channel-store.ts";
import type { IBCModule, OpeningChannel, PortRouter } from "./ibc-module.ts";
import { verifyClosed, verifyCounterparty } from "./keeper.ts";
import * as checks from "./messages.ts";
import type { packetMessages } from "./packet-handlers.ts";

type Messages = Partial<MessageFunctions<typeof wire.Msg>>;

/** Message handlers for `ibc.core.channel.v1`. */
export function channelHandlers(
  options: IbcOptions,
  router: PortRouter,
  packets: ReturnType<typeof packetMessages>,
): readonly MessageHandler[] {
  return messageHandlers(wire.Msg, {
    ...openingMessages(options, router),
    ...confirmingMessages(options, router),
    ...closingMessages(options, router),
    ...packets,
    ...upgradeMessages,
    ...paramsMessages(options),
  });
}

/** Messages that this chain does not support: channel upgrades, and the pruning of acknowledgements, which requires an upgrade. */
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

function paramsMessages({ bech32Prefix, authority }: IbcOptions) {
  return {
    UpdateChannelParams: {
      validate: (message) => {
        requireSigner(bech32Prefix, { signer: message.authority });
        channelParams.validate(paramsIn(message));
      },
      handle: (context, message) => {
        requireAuthority(authority, { signer: message.authority });
        channelParams.set(context, paramsIn(message));
      },
    },
  } satisfies Messages;
}

/** Returns a message's parameters. As in Go, missing fields are zero. */
function paramsIn({ params }: wire.MsgUpdateParams): Params {
  return { upgradeTimeout: { height: ZERO_HEIGHT, timestamp: 0n, ...params?.upgradeTimeout } };
}

// The steps of opening and closing a channel (ICS-4, ibc-go 04-channel), with their stateless checks (`ValidateBasic`) in ibc-go's
// order. Each step calls the port's application.

/** The first two handshake steps: one end starts the channel, and the other end accepts it. */
function openingMessages({ bech32Prefix }: IbcOptions, router: PortRouter) {
  return {
    ChannelOpenInit: {
      validate: (message) => {
        const channel = checks.channelIn(message);
        checks.requirePort(message);
        checks.requireState(channel, State.STATE_INIT, "INIT in MsgChannelOpenInit");
        if ((channel.counterparty?.channelId ?? "") !== "")
          throw ibcErrors.ErrInvalidCounterparty("counterparty channel identifier must be empty");
        requireSigner(bech32Prefix, message);
        checks.validateChannel(channel);
      },
      handle: (context, message) => {
        const { portId } = message;
        const channel = checks.channelIn(message);
        const application = channelStore.applicationOfPort(context, router, portId);
        return openNew(context, application, State.STATE_INIT, () => {
          const connection = connections.requireConnection(context, channelStore.hopOf(channel));
          requireFeature(connection, channel.ordering);
          connections.requireActiveClient(context, connection.clientId);
          capability.chargeAuthentication(context, STORE_NAME, capability.portCapability(portId));
          return newChannel(
            context,
            { portId, channelId: `channel-${channelStore.channelSequence.take(context)}` },
            channel,
            channel.version,
          );
        });
      },
    },
    ChannelOpenTry: {
      validate: (message) => {
        const channel = checks.channelIn(message);
        checks.requirePort(message);
        if (message.previousChannelId !== "") {
          throw ibcErrors.ErrInvalidChannelIdentifier(
            "previous channel identifier must be empty, this field has been deprecated as crossing hellos are no longer supported",
          );
        }
        checks.requireProof(message.proofInit, "init proof");
        checks.requireState(channel, State.STATE_TRYOPEN, "TRYOPEN in MsgChannelOpenTry");
        checks.requireCounterpartyId(channel.counterparty?.channelId ?? "");
        requireSigner(bech32Prefix, message);
        checks.validateChannel(channel);
      },
      handle: (context, message) => {
        const { portId, counterpartyVersion: version } = message;
        const channel = checks.channelIn(message);
        const application = channelStore.applicationOfPort(context, router, portId);
        return openNew(context, application, State.STATE_TRYOPEN, () => {
          const channelId = `channel-${channelStore.channelSequence.take(context)}`;
          capability.chargeAuthentication(context, STORE_NAME, capability.portCapability(portId));
          const connection = connections.requireOpenConnection(context, channelStore.hopOf(channel));
          requireFeature(connection, channel.ordering);
          const { ordering } = channel;
          const remote = {
            ...proofOf(message.proofInit, message.proofHeight),
            ...channelStore.counterpartyOf(channel),
          };
          const counterparty = { portId, channelId: "" };
          const expected = { state: State.STATE_INIT, ordering, counterparty, version };
          verifyCounterparty(context, connection, remote, expected);
          return newChannel(context, { portId, channelId }, channel, version);
        });
      },
    },
  } satisfies Messages;
}

/** The last two handshake steps, after which both ends are open. */
function confirmingMessages({ bech32Prefix }: IbcOptions, router: PortRouter) {
  return {
    ChannelOpenAck: {
      validate: (message) => {
        checks.requireOwnIds(message);
        checks.requireCounterpartyId(message.counterpartyChannelId);
        checks.requireProof(message.proofTry, "try proof");
        requireSigner(bech32Prefix, message);
      },
      handle: (context, message) => {
        const { counterpartyChannelId: channelId, counterpartyVersion: version } = message;
        const application = channelStore.applicationOfChannel(context, router, message);
        open(context, "ack", message, () => {
          const channel = channelStore.requireChannel(context, message);
          if (channel.state !== State.STATE_INIT)
            throw ibcErrors.ErrInvalidChannelState(
              `channel state should be INIT (got ${enumName(State, channel.state)})`,
            );
          const counterparty = { portId: channelStore.counterpartyOf(channel).portId, channelId };
          const opened = { ...channel, version, counterparty };
          const proof = proofOf(message.proofTry, message.proofHeight);
          verifyOpening(context, message, opened, { ...proof, state: State.STATE_TRYOPEN });
          return opened;
        });
        inCallback("open ack", message, () => application.onOpenAck(context, message, version));
      },
    },
    ChannelOpenConfirm: {
      validate: (message) => {
        checks.requireOwnIds(message);
        checks.requireProof(message.proofAck, "acknowledgement proof");
        requireSigner(bech32Prefix, message);
      },
      handle: (context, message) => {
        const application = channelStore.applicationOfChannel(context, router, message);
        open(context, "confirm", message, () => {
          const channel = channelStore.requireChannel(context, message);
          if (channel.state !== State.STATE_TRYOPEN)
            throw ibcErrors.ErrInvalidChannelState(
              `channel state is not TRYOPEN (got ${enumName(State, channel.state)})`,
            );
          const proof = proofOf(message.proofAck, message.proofHeight);
          verifyOpening(context, message, channel, { ...proof, state: State.STATE_OPEN });
          return channel;
        });
        inCallback("open confirm", message, () => application.onOpenConfirm(context, message));
      },
    },
  } satisfies Messages;
}

function closingMessages({ bech32Prefix }: IbcOptions, router: PortRouter) {
  return {
    ChannelCloseInit: {
      validate: (message) => {
        checks.requireOwnIds(message);
        requireSigner(bech32Prefix, message);
      },
      handle: (context, message) => {
        const application = channelStore.applicationOfChannel(context, router, message);
        inCallback("close init", message, () => application.onCloseInit(context, message));
        close(context, "init", message, (channel) => {
          const connection = connections.requireConnection(context, channelStore.hopOf(channel));
          connections.requireActiveClient(context, connection.clientId);
          connections.requireOpen(connection);
        });
      },
    },
    ChannelCloseConfirm: {
      validate: (message) => {
        checks.requireOwnIds(message);
        checks.requireProof(message.proofInit, "init proof");
        requireSigner(bech32Prefix, message);
      },
      handle: (context, message) => {
        const application = channelStore.applicationOfChannel(context, router, message);
        inCallback("close confirm", message, () => application.onCloseConfirm(context, message));
        close(context, "confirm", message, (channel) => {
          const connection = connections.requireOpenConnection(context, channelStore.hopOf(channel));
          const proof = proofOf(message.proofInit, message.proofHeight);
          const upgradeSequence = message.counterpartyUpgradeSequence;
          verifyClosed(context, { connection, channel, end: message }, { proof, upgradeSequence });
        });
      },
    },
  } satisfies Messages;
}

/** Runs handshake step 1 (Init) or 2 (Try). `check` returns the channel to open. The application then chooses the channel's version. */
function openNew(
  context: Context,
  application: IBCModule,
  state: State,
  check: () => OpeningChannel,
): { readonly channelId: string; readonly version: string } {
  const [step, call] =
    state === State.STATE_INIT
      ? (["init", application.onOpenInit] as const)
      : (["try", application.onOpenTry] as const);
  const opening = inStep(`open ${step}`, check);
  const version = inCallback(`open ${step}`, opening, () => call(context, opening));
  for (const sequence of Object.values(channelStore.sequences)) sequence.set(context, opening, 1n);
  const { channelId, ordering, counterparty, connectionHops } = opening;
  const channel = { state, ordering, counterparty, version, upgradeSequence: 0n };
  write(context, `channel_open_${step}`, opening, { ...channel, connectionHops: [...connectionHops] });
  return { channelId, version };
}

/**
 * Sets a channel's state to OPEN in handshake step 3 or 4. The caller then calls the application. Like ibc-go, this function reads
 * the channel a second time before it writes the channel.
 */
function open(context: Context, step: "ack" | "confirm", end: ChannelEndpoint, check: () => Channel): void {
  const opened = inStep(`open ${step}`, check);
  channelStore.requireChannel(context, end);
  write(context, `channel_open_${step}`, end, { ...opened, state: State.STATE_OPEN });
}

/** Verifies that the counterparty has completed its step of the handshake. */
function verifyOpening(
  context: Context,
  end: ChannelEndpoint,
  { ordering, version, ...channel }: Channel,
  { state, ...proof }: MessageProof & Pick<Channel, "state">,
): void {
  capability.chargeAuthentication(context, STORE_NAME, capability.channelCapability(end));
  const connection = connections.requireOpenConnection(context, channelStore.hopOf(channel));
  const expected = { state, ordering, counterparty: end, version };
  verifyCounterparty(context, connection, { ...proof, ...channelStore.counterpartyOf(channel) }, expected);
}

/** Closes a channel after the application has agreed. */
function close(
  context: Context,
  step: "init" | "confirm",
  end: ChannelEndpoint,
  check: (channel: Channel) => void,
): void {
  const channel = inStep(`close ${step}`, () => {
    capability.chargeAuthentication(context, STORE_NAME, capability.channelCapability(end));
    const own = channelStore.requireChannel(context, end);
    if (own.state === State.STATE_CLOSED) throw ibcErrors.ErrInvalidChannelState("channel is already CLOSED");
    check(own);
    return own;
  });
  write(context, `channel_close_${step}`, end, { ...channel, state: State.STATE_CLOSED });
}

function newChannel(
  context: Context,
  end: ChannelEndpoint,
  { ordering, connectionHops, ...channel }: Channel,
  version: string,
): OpeningChannel {
  capability.chargeCreation(context, capability.channelCapability(end));
  return { ...end, ordering, connectionHops, counterparty: channelStore.counterpartyOf(channel), version };
}

function requireFeature({ versions }: ConnectionEnd, ordering: Order): void {
  const [version, ...others] = versions;
  if (version === undefined || others.length > 0) {
    throw ibcErrors.ErrInvalidConnectionVersion(
      `single version must be negotiated on connection before opening channel, got: ${connections.goVersions(versions)}`,
    );
  }
  if (version.features.includes(enumName(Order, ordering))) return;
  throw ibcErrors.ErrInvalidConnectionVersion(
    `connection version ${connections.goVersion(version)} does not support channel ordering: ${enumName(Order, ordering)}`,
  );
}

function write(context: Context, type: string, end: ChannelEndpoint, channel: Channel): void {
  channelStore.channels.set(context, end, channel);
  emitChannelStep(context, type, end, channel);
}

function inStep<T>(step: string, work: () => T): T {
  return wrapErrors(`channel handshake ${step} failed`, work);
}

function inCallback<T>(step: string, { portId, channelId }: ChannelEndpoint, work: () => T): T {
  const words = `channel ${step} callback failed for port ID: ${portId}, channel ID: ${channelId}`;
  return wrapErrors(words, work);
}
