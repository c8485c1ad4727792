import {
  type Channel,
  Order,
  type PacketState,
} from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/query.ts";
import type { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { latin1 } from "../../../../../platform/base/bytes.ts";
import type { Context } from "../../../runtime/context.ts";
import { type QueryFunctions, queryHandlers } from "../../../runtime/handlers.ts";
import type { QueryHandler } from "../../../runtime/module.ts";
import { paginate, paginateFiltered } from "../../../runtime/pagination.ts";
import { openClientStore, packClientState, packConsensusState } from "../client/client-store.ts";
import { getConnection } from "../connection/connection-store.ts";
import * as ibcErrors from "../host/errors.ts";
import { checkArgument, emptyProof, requireFound } from "../host/signed-handler.ts";
import { selfHeight } from "../host/height.ts";
import { validateChannelId, validateConnectionId, validatePortId } from "../host/identifiers.ts";
import { CHANNELS_PREFIX, type PacketEntryName, STORE_NAME } from "../host/keys.ts";
import { channelParams } from "../host/params.ts";
import {
  getChannel,
  getPacketEntry,
  getSequence,
  hopOf,
  identifyChannel,
  packetEntriesPrefix,
} from "./channel-store.ts";
import type { ChannelEndpoint } from "../host/packet.ts";
import { type ModuleError, QueryError, GrpcCode } from "../../../runtime/errors.ts";

/** Implementations of some of the service's methods. */
type Queries = Partial<QueryFunctions<typeof wire.Query>>;

const endQueries = {
  Channel: (context, request) => {
    checkEnd(request);
    return { channel: channelOf(context, request), ...emptyProof(context) };
  },
  Channels: queryChannels,
  ConnectionChannels: queryConnectionChannels,
  ChannelClientState: queryClientState,
  ChannelConsensusState: queryConsensusState,
  // This chain has no channel upgrades, so none is ever found.
  Upgrade: (_context, request) => notFound(request, ibcErrors.ErrUpgradeNotFound(endText(request))),
  UpgradeError: (_context, request) =>
    // ibc-go omits the colon, too.
    notFound(
      request,
      ibcErrors.ErrUpgradeErrorNotFound(`port-id ${request.portId}, channel-id ${request.channelId}`),
    ),
  ChannelParams: channelParams.query,
} satisfies Queries;

/** Checks a request's ids. Throws gRPC status InvalidArgument. */
function checkEnd({ portId, channelId }: ChannelEndpoint): void {
  checkArgument(() => {
    validatePortId(portId);
    validateChannelId(channelId);
  });
}

/** Returns a channel. Throws gRPC status NotFound. */
function channelOf(context: Context, end: ChannelEndpoint): Channel {
  return requireFound(getChannel(context, end), () => ibcErrors.ErrChannelNotFound(endText(end)));
}

/** Formats a channel's name as ibc-go's queries do. */
function endText({ portId, channelId }: ChannelEndpoint): string {
  return `port-id: ${portId}, channel-id ${channelId}`;
}

function notFound(end: ChannelEndpoint, error: ModuleError): never {
  checkEnd(end);
  throw new QueryError(GrpcCode.NotFound, error.message);
}

function queryChannels(
  context: Context,
  { pagination }: wire.QueryChannelsRequest,
): wire.QueryChannelsResponse {
  const channels: wire.QueryChannelsResponse["channels"] = [];
  const paged = { store: context.store(STORE_NAME), prefix: CHANNELS_PREFIX };
  const page = paginate(paged, pagination, (key, value) => {
    channels.push(identifyChannel(latin1(key), value));
  });
  return { channels, pagination: page, height: selfHeight(context) };
}

/** As in ibc-go, the filter ignores its page flag, so a page requested by offset also includes adjacent entries. */
function queryConnectionChannels(
  context: Context,
  { connection, pagination }: wire.QueryConnectionChannelsRequest,
): wire.QueryConnectionChannelsResponse {
  checkArgument(() => validateConnectionId(connection));
  const channels: wire.QueryConnectionChannelsResponse["channels"] = [];
  const paged = { store: context.store(STORE_NAME), prefix: CHANNELS_PREFIX };
  const page = paginateFiltered(paged, pagination, (key, value) => {
    const channel = identifyChannel(latin1(key), value);
    if (hopOf(channel) !== connection) return false;
    channels.push(channel);
    return true;
  });
  return { channels, pagination: page, height: selfHeight(context) };
}

function queryClientState(
  context: Context,
  request: wire.QueryChannelClientStateRequest,
): wire.QueryChannelClientStateResponse {
  checkEnd(request);
  const { portId, channelId } = request;
  // This query has a colon that the others lack.
  const channel = requireFound(getChannel(context, request), () =>
    ibcErrors.ErrChannelNotFound(`port-id: ${portId}, channel-id: ${channelId}`),
  );
  const { clientId } = connectionOf(context, channel);
  const client = requireFound(openClientStore(context, clientId).clientState(), () =>
    ibcErrors.ErrClientNotFound(`client-id: ${clientId}`),
  );
  const clientState = packClientState(client);
  return { identifiedClientState: { clientId, clientState }, ...emptyProof(context) };
}

function queryConsensusState(
  context: Context,
  request: wire.QueryChannelConsensusStateRequest,
): wire.QueryChannelConsensusStateResponse {
  checkEnd(request);
  const { clientId } = connectionOf(context, channelOf(context, request));
  const state = requireFound(openClientStore(context, clientId).consensusState(request), () =>
    ibcErrors.ErrConsensusStateNotFound(`client-id: ${clientId}`),
  );
  return { clientId, consensusState: packConsensusState(state), ...emptyProof(context) };
}

function connectionOf(context: Context, channel: Channel): ConnectionEnd {
  const id = hopOf(channel);
  return requireFound(getConnection(context, id), () =>
    ibcErrors.ErrConnectionNotFound(`connection-id: ${id}`),
  );
}

const packetQueries = {
  PacketCommitment: (context, request) => {
    const commitment = hashOf(context, "commitments", request, "packet commitment");
    return { commitment, ...emptyProof(context) };
  },
  PacketCommitments: (context, request) => {
    const { states, pagination } = pageOf(context, "commitments", request);
    return { commitments: states, pagination, height: selfHeight(context) };
  },
  PacketReceipt: (context, request) => {
    checkPacket(request);
    const received = getPacketEntry(context, "receipts", request, request.sequence) !== undefined;
    return { received, ...emptyProof(context) };
  },
  PacketAcknowledgement: (context, request) => {
    const acknowledgement = hashOf(context, "acks", request, "packet acknowledgement");
    return { acknowledgement, ...emptyProof(context) };
  },
  PacketAcknowledgements: queryAcknowledgements,
  UnreceivedPackets: (context, request) => ({
    sequences: unreceivedPackets(context, request),
    height: selfHeight(context),
  }),
  UnreceivedAcks: (context, request) => {
    checkEnd(request);
    checkSequences(request.packetAckSequences);
    const sequences = request.packetAckSequences.filter(
      (sequence) => getPacketEntry(context, "commitments", request, sequence) !== undefined,
    );
    return { sequences, height: selfHeight(context) };
  },
  NextSequenceReceive: queryNextReceive,
  NextSequenceSend: (context, request) => {
    checkEnd(request);
    const nextSequenceSend = requireFound(getSequence(context, "nextSequenceSend", request), () =>
      ibcErrors.ErrSequenceSendNotFound(endText(request)),
    );
    return { nextSequenceSend, ...emptyProof(context) };
  },
} satisfies Queries;

type PacketRequest = ChannelEndpoint & { readonly sequence: bigint };

function checkPacket(request: PacketRequest): void {
  checkEnd(request);
  if (request.sequence === 0n) throw new QueryError(GrpcCode.InvalidArgument, "packet sequence cannot be 0");
}

/** Checks the sequences. As in ibc-go, the error text contains the index of the invalid one. */
function checkSequences(sequences: readonly bigint[]): void {
  const index = sequences.indexOf(0n);
  if (index >= 0) throw new QueryError(GrpcCode.InvalidArgument, `packet sequence ${index} cannot be 0`);
}

function hashOf(context: Context, name: PacketEntryName, request: PacketRequest, words: string): Uint8Array {
  checkPacket(request);
  const hash = getPacketEntry(context, name, request, request.sequence);
  if (hash === undefined) throw new QueryError(GrpcCode.NotFound, `${words} hash not found`);
  return hash;
}

function pageOf(
  context: Context,
  name: PacketEntryName,
  request: ChannelEndpoint & Pick<wire.QueryPacketCommitmentsRequest, "pagination">,
) {
  checkEnd(request);
  const states: PacketState[] = [];
  const paged = { store: context.store(STORE_NAME), prefix: packetEntriesPrefix(name, request) };
  const pagination = paginate(paged, request.pagination, (key, data) => {
    states.push(stateOf(request, BigInt(latin1(key).slice(1)), data));
  });
  return { states, pagination };
}

function stateOf({ portId, channelId }: ChannelEndpoint, sequence: bigint, data: Uint8Array): PacketState {
  return { portId, channelId, sequence, data };
}

/** Returns a page of acknowledgements. If packets are requested, returns those with an acknowledgement, without paging. */
function queryAcknowledgements(
  context: Context,
  request: wire.QueryPacketAcknowledgementsRequest,
): wire.QueryPacketAcknowledgementsResponse {
  const height = selfHeight(context);
  if (request.packetCommitmentSequences.length === 0) {
    const { states, pagination } = pageOf(context, "acks", request);
    return { acknowledgements: states, pagination, height };
  }
  checkEnd(request);
  const acknowledgements = request.packetCommitmentSequences.flatMap((sequence) => {
    const hash = getPacketEntry(context, "acks", request, sequence);
    return hash === undefined ? [] : [stateOf(request, sequence, hash)];
  });
  return { acknowledgements, pagination: undefined, height };
}

function unreceivedPackets(context: Context, request: wire.QueryUnreceivedPacketsRequest): bigint[] {
  checkEnd(request);
  const { ordering } = channelOf(context, request);
  const { packetCommitmentSequences: sequences } = request;
  checkSequences(sequences);
  if (ordering === Order.ORDER_UNORDERED)
    return sequences.filter((each) => getPacketEntry(context, "receipts", request, each) === undefined);
  const next = requireFound(getSequence(context, "nextSequenceRecv", request), () =>
    ibcErrors.ErrSequenceReceiveNotFound(
      `destination port: ${request.portId}, destination channel: ${request.channelId}`,
    ),
  );
  return sequences.filter((each) => each >= next);
}

/** An unordered channel receives packets in any order, so its next sequence is 0. */
function queryNextReceive(
  context: Context,
  request: wire.QueryNextSequenceReceiveRequest,
): wire.QueryNextSequenceReceiveResponse {
  checkEnd(request);
  const { ordering } = channelOf(context, request);
  const next = getSequence(context, "nextSequenceRecv", request);
  const nextSequenceReceive =
    ordering === Order.ORDER_UNORDERED
      ? 0n
      : requireFound(next, () => ibcErrors.ErrSequenceReceiveNotFound(endText(request)));
  return { nextSequenceReceive, ...emptyProof(context) };
}

/** All queries of `ibc.core.channel.v1.Query`. */
export const channelQueries: readonly QueryHandler[] = queryHandlers(wire.Query, {
  ...endQueries,
  ...packetQueries,
});
