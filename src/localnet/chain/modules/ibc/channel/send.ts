import { State } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { Context } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { latestHeightOf, LOCALHOST } from "../client/client-state.ts";
import { statusOf } from "../client/client-status.ts";
import { openClientStore } from "../client/client-store.ts";
import { requireConnection } from "../connection/connection-state.ts";
import { enumName } from "../enum-name.ts";
import {
  ErrClientNotActive,
  ErrClientNotFound,
  ErrConsensusStateNotFound,
  ErrInvalidClientHeight,
} from "../errors.ts";
import { formatHeight, isZeroHeight } from "../height.ts";
import type { OutgoingPacket } from "./application.ts";
import { getChannel, getSequence, setPacketEntry, setSequence } from "./channel-store.ts";
import { ErrChannelNotFound, ErrInvalidChannelState, ErrSequenceSendNotFound } from "./errors.ts";
import { packetSent } from "./events.ts";
import { counterpartyOf, hopOf } from "./handshake.ts";
import { hasElapsed, type Packet, packetCommitment, timeoutElapsedError, validatePacket } from "./packet.ts";

/** Sends a packet: stores its commitment, which a relayer proves to the counterparty. Returns its number. Throws `ModuleError`. */
export function sendPacket(context: Context, outgoing: OutgoingPacket): bigint {
  const { source } = outgoing;
  const channel = getChannel(context, source);
  if (channel === undefined) throw ErrChannelNotFound(source.channelId);
  if (channel.state !== State.STATE_OPEN)
    throw ErrInvalidChannelState(`channel is not OPEN (got ${enumName(State, channel.state)})`);
  const sequence = getSequence(context, "nextSequenceSend", source);
  if (sequence === undefined)
    throw ErrSequenceSendNotFound(`source port: ${source.portId}, source channel: ${source.channelId}`);
  const packet: Packet = { ...outgoing, sequence, destination: counterpartyOf(channel) };
  wrapErrors(
    (error) => error.wrap("constructed packet failed basic validation"),
    () => validatePacket(packet),
  );
  requireTimeLeft(context, packet, requireConnection(context, hopOf(channel)).clientId);
  setSequence(context, "nextSequenceSend", source, sequence + 1n);
  setPacketEntry(context, "commitments", { end: source, sequence }, packetCommitment(packet));
  for (const event of packetSent(packet, channel)) context.emit(event);
  return sequence;
}

/** Throws when the client is not active, or knows that the timeout has passed. */
function requireTimeLeft(context: Context, { timeout }: Packet, clientId: string): void {
  const store = openClientStore(context, clientId);
  const client = store.clientState();
  if (client === undefined) throw ErrClientNotFound();
  const status = statusOf(context, client, store);
  if (status !== "Active")
    throw ErrClientNotActive(`cannot send packet using client (${clientId}) with status ${status}`);
  const latest = latestHeightOf(client);
  if (isZeroHeight(latest))
    throw ErrInvalidClientHeight(`cannot send packet using client (${clientId}) with zero height`);
  const timestamp = timestampAt(context, clientId, latest);
  if (hasElapsed(timeout, latest, timestamp))
    throw timeoutElapsedError(timeout, latest, timestamp).wrap("invalid packet timeout");
}

/** Returns the time of the counterparty at a height that the client stores, in nanoseconds. Throws client/7. */
export function timestampAt(context: Context, clientId: string, height: Height): bigint {
  if (clientId === LOCALHOST) return context.timeNs;
  const state = openClientStore(context, clientId).consensusState(height);
  if (state === undefined) throw ErrConsensusStateNotFound(`height (${formatHeight(height)})`);
  return state.timeNs;
}
