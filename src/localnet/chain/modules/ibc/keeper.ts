import type { Channel, IdentifiedChannel } from "../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { Context } from "../../runtime/context.ts";
import type { ModuleError } from "../../runtime/errors.ts";
import { channels, counterpartyOf, listChannels, sequences } from "./channel/channel-store.ts";
import type { ICS4Wrapper } from "./channel/ibc-module.ts";
import { sendPacket } from "./channel/keeper.ts";
import type { ChannelEndpoint } from "./host/packet.ts";
import { latestHeightOf, openClientStore } from "./client/client-store.ts";
import { updateClient } from "./client/keeper.ts";
import { connections } from "./connection/connection-store.ts";
import { ErrInvalidClientType } from "./host/errors.ts";
import { connectionIdError, TENDERMINT_TYPE } from "./host/identifiers.ts";

/** Methods of the `ibc` module that other modules call. */
export interface IbcKeeper {
  /** Returns the error for a connection id that violates ICS-24, or undefined for a valid id. Reads no state. */
  readonly connectionIdError: (connectionId: string) => ModuleError | undefined;
  /** Returns the client id of a connection in any state, or undefined if the connection does not exist. */
  readonly connectionClientId: (context: Context, connectionId: string) => string | undefined;
  /**
   * Returns a client's latest height, or undefined if the client does not exist. Throws ErrInvalidClientType for the localhost
   * client.
   */
  readonly clientLatestHeight: (context: Context, clientId: string) => Height | undefined;
  /** Returns the app hash that a client stores for a height of the counterparty, or undefined if no app hash is stored. */
  readonly consensusRoot: (context: Context, clientId: string, height: Height) => Uint8Array | undefined;
  /** Verifies a header and stores its consensus state. A conflicting header freezes the client instead. Throws `ModuleError`. */
  readonly updateClient: (context: Context, clientId: string, header: Any) => void;
  /** Sends a packet from an application's channel and returns its sequence. Throws `ModuleError`. */
  readonly sendPacket: ICS4Wrapper["sendPacket"];
  /** Returns the sequence of the next packet to send on a channel, or undefined for an unknown channel. */
  readonly nextSequenceSend: (context: Context, channel: ChannelEndpoint) => bigint | undefined;
  /** Returns a channel, or undefined for an unknown channel. */
  readonly channel: (context: Context, channel: ChannelEndpoint) => Channel | undefined;
  /** Returns the channels of all ports whose names start with `prefix`, in path order. */
  readonly channelsOfPorts: (context: Context, prefix: string) => readonly IdentifiedChannel[];
  /** Returns a channel's other end, or undefined for an unknown channel. */
  readonly counterparty: (context: Context, channel: ChannelEndpoint) => ChannelEndpoint | undefined;
}

/** The `ibc` module's keeper. The keeper itself has no state. The keeper's methods read and write the store of the given context. */
export const ibcKeeper: IbcKeeper = {
  connectionIdError,
  connectionClientId: (context, connectionId) => connections.get(context, connectionId)?.clientId,
  clientLatestHeight: (context, clientId) => {
    const client = openClientStore(context, clientId).clientState();
    if (client === undefined) return undefined;
    if (client.type !== TENDERMINT_TYPE)
      throw ErrInvalidClientType(`expected ${TENDERMINT_TYPE}, got ${client.type}`);
    return latestHeightOf(client);
  },
  consensusRoot: (context, clientId, height) =>
    openClientStore(context, clientId).consensusState(height)?.root,
  updateClient,
  sendPacket,
  nextSequenceSend: sequences.nextSequenceSend.get,
  channel: channels.get,
  channelsOfPorts: listChannels,
  counterparty: (context, end) => {
    const channel = channels.get(context, end);
    return channel === undefined ? undefined : counterpartyOf(channel);
  },
};
