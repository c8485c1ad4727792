import { Order, State } from "../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import * as wire from "../../cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import type { ChannelEnd, ChannelView } from "./ibc-reads.ts";
import { channelMessage, channelPath, type Work } from "./work.ts";

/** Port and version of the channel that the IBC relayer opens if no transfer channel exists. */
const TRANSFER_CHANNEL = { port: "transfer", version: "ics20-1" } as const;

/** A connection's channels, as stored on the proving chain and on the chain that receives the messages. */
export interface BothEnds {
  /** Channels on the proving chain, at the proof height. */
  readonly proven: readonly ChannelView[];
  /** Current channels on the chain that receives the messages. */
  readonly latest: readonly ChannelView[];
  /** The connection's id on the chain that receives the messages. */
  readonly connectionId: string;
}

/**
 * Returns the next handshake steps for a chain, i.e. steps that the other chain can prove and that this chain has not executed yet.
 * Because the steps depend only on both chains' state, a restarted IBC relayer continues an unfinished handshake.
 */
export function planChannels({ proven, latest, connectionId }: BothEnds): readonly Work[] {
  return proven.flatMap((theirs) => {
    if (theirs.state === State.STATE_INIT)
      return latest.some(({ counterparty }) => sameEnd(counterparty, theirs))
        ? []
        : [openTry(theirs, connectionId)];
    const own = latest.find((end) => sameEnd(end, theirs.counterparty));
    return own === undefined ? [] : nextStep(own, theirs);
  });
}

/** Returns the next handshake step for two ends of a channel. In state INIT, `own` does not contain the other end's id yet. */
function nextStep(own: ChannelView, theirs: ChannelView): readonly Work[] {
  if (own.state === State.STATE_INIT)
    return theirs.state === State.STATE_TRYOPEN ? [openAck(own, theirs)] : [];
  if (!sameEnd(own.counterparty, theirs)) return [];
  if (own.state === State.STATE_TRYOPEN)
    return theirs.state === State.STATE_OPEN ? [openConfirm(own, theirs)] : [];
  const isClosing = own.state === State.STATE_OPEN && theirs.state === State.STATE_CLOSED;
  return isClosing ? [closeConfirm(own, theirs)] : [];
}

/** Returns the first handshake step for a new transfer channel, or no steps if either chain already has a transfer channel. */
export function planTransferChannel(channels: readonly ChannelView[], connectionId: string): readonly Work[] {
  const { port, version } = TRANSFER_CHANNEL;
  if (channels.some((end) => isTransferChannel(end) && end.state !== State.STATE_CLOSED)) return [];
  const channel = {
    state: State.STATE_INIT,
    ordering: Order.ORDER_UNORDERED,
    counterparty: { portId: port, channelId: "" },
    connectionHops: [connectionId],
    version,
    upgradeSequence: 0n,
  };
  return [
    {
      kind: "channel",
      name: `open-init ${port}`,
      paths: [],
      message: channelMessage("MsgChannelOpenInit", wire.MsgChannelOpenInit, ({ at: { signer } }) => ({
        portId: port,
        channel,
        signer,
      })),
    },
  ];
}

/**
 * Returns true if both ends use the transfer port. Both ends must be checked, because a contract can open a channel from its own
 * port to the transfer port.
 */
export function isTransferChannel({ portId, counterparty }: ChannelView): boolean {
  return portId === TRANSFER_CHANNEL.port && counterparty.portId === TRANSFER_CHANNEL.port;
}

export function sameEnd(one: ChannelEnd, other: ChannelEnd): boolean {
  return one.portId === other.portId && one.channelId === other.channelId;
}

function openTry(theirs: ChannelView, connectionId: string): Work {
  const message = channelMessage("MsgChannelOpenTry", wire.MsgChannelOpenTry, ({ first, at }) => ({
    portId: theirs.counterparty.portId,
    previousChannelId: "",
    channel: {
      state: State.STATE_TRYOPEN,
      ordering: theirs.ordering,
      counterparty: { portId: theirs.portId, channelId: theirs.channelId },
      connectionHops: [connectionId],
      version: theirs.version,
      upgradeSequence: 0n,
    },
    counterpartyVersion: theirs.version,
    proofInit: first,
    ...at,
  }));
  return step("open-try", theirs, message);
}

function openAck({ portId, channelId }: ChannelView, theirs: ChannelView): Work {
  const message = channelMessage("MsgChannelOpenAck", wire.MsgChannelOpenAck, ({ first, at }) => ({
    portId,
    channelId,
    counterpartyChannelId: theirs.channelId,
    counterpartyVersion: theirs.version,
    proofTry: first,
    ...at,
  }));
  return step("open-ack", theirs, message);
}

function openConfirm({ portId, channelId }: ChannelView, theirs: ChannelView): Work {
  const message = channelMessage("MsgChannelOpenConfirm", wire.MsgChannelOpenConfirm, ({ first, at }) => ({
    portId,
    channelId,
    proofAck: first,
    ...at,
  }));
  return step("open-confirm", theirs, message);
}

function closeConfirm({ portId, channelId }: ChannelView, theirs: ChannelView): Work {
  const message = channelMessage("MsgChannelCloseConfirm", wire.MsgChannelCloseConfirm, ({ first, at }) => ({
    portId,
    channelId,
    proofInit: first,
    ...at,
    counterpartyUpgradeSequence: 0n,
  }));
  return step("close-confirm", theirs, message);
}

function step(name: string, theirs: ChannelView, message: Work["message"]): Work {
  const named = `${name} ${theirs.portId}/${theirs.channelId}`;
  return { kind: "channel", name: named, paths: [channelPath(theirs)], message };
}
