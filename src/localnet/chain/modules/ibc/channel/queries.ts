import {
  type Channel,
  Order,
  type PacketState,
} from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/query.ts";
import { latin1, utf8 } from "../../../../../platform/base/bytes.ts";
import type { Context, QueryHandler } from "../../../runtime/context.ts";
import { queryHandlers } from "../../../runtime/handlers.ts";
import { readPage } from "../../../runtime/pagination.ts";
import { clientStateOf, consensusStateOf } from "../connection/queries.ts";
import * as ibcErrors from "../host/errors.ts";
import { checkArgument, emptyProof, readMatches, requireFound } from "../host/signed-handler.ts";
import { selfHeight } from "../host/height.ts";
import { validateChannelId, validateConnectionId, validatePortId } from "../host/identifiers.ts";
import { CHANNELS_PREFIX, endPath, type PacketEntryName, STORE_NAME } from "../host/keys.ts";
import { channelParams } from "../host/params.ts";
import { channels, hopOf, identifyChannel, type PacketKey, packets, sequences } from "./channel-store.ts";
import type { ChannelEndpoint } from "../host/packet.ts";
import { type ModuleError, QueryError, GrpcCode } from "../../../runtime/errors.ts";

/** Handlers for all queries of `ibc.core.channel.v1.Query`. */
export const channelQueries: readonly QueryHandler[] = queryHandlers(wire.Query, {
  Channel: (context, request) => {
    checkEnd(request);
    return { channel: channelOf(context, request), ...emptyProof(context) };
  },
  Channels: (context, { pagination }) => {
    const paged = { store: context.store(STORE_NAME), prefix: CHANNELS_PREFIX };
    const page = readPage(paged, pagination, identifyChannel);
    return { channels: page.items, pagination: page.pagination, height: selfHeight(context) };
  },
  ConnectionChannels: (context, { connection, pagination }) => {
    checkArgument(() => validateConnectionId(connection));
    const page = readMatches(context, CHANNELS_PREFIX, pagination, (key, value) => {
      const channel = identifyChannel(key, value);
      return hopOf(channel) === connection ? channel : undefined;
    });
    return { channels: page.items, pagination: page.pagination, height: selfHeight(context) };
  },
  ChannelClientState: (context, request) => {
    checkEnd(request);
    const { portId, channelId } = request;
    // Unlike the error messages of the other queries, this message has a colon after `channel-id`.
    const channel = requireFound(channels.get(context, request), () =>
      ibcErrors.ErrChannelNotFound(`port-id: ${portId}, channel-id: ${channelId}`),
    );
    return clientStateOf(context, hopOf(channel));
  },
  ChannelConsensusState: (context, request) => {
    checkEnd(request);
    return consensusStateOf(context, hopOf(channelOf(context, request)), request);
  },
  // No upgrade is ever found, because this chain does not support channel upgrades.
  Upgrade: (_context, request) => notFound(request, ibcErrors.ErrUpgradeNotFound(endText(request))),
  UpgradeError: (_context, request) =>
    // The colons are missing in ibc-go's error message, too.
    notFound(
      request,
      ibcErrors.ErrUpgradeErrorNotFound(`port-id ${request.portId}, channel-id ${request.channelId}`),
    ),
  ChannelParams: channelParams.query,
  PacketCommitment: (context, request) => {
    const commitment = hashOf(context, "commitments", request, "packet commitment");
    return { commitment, ...emptyProof(context) };
  },
  PacketCommitments: (context, request) => {
    const { items, pagination } = pageOf(context, "commitments", request);
    return { commitments: items, pagination, height: selfHeight(context) };
  },
  PacketReceipt: (context, request) => {
    checkPacket(request);
    const received = packets.receipts.get(context, request) !== undefined;
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
    const unreceived = request.packetAckSequences.filter(
      (sequence) => packets.commitments.get(context, { ...request, sequence }) !== undefined,
    );
    return { sequences: unreceived, height: selfHeight(context) };
  },
  NextSequenceReceive: (context, request) => {
    checkEnd(request);
    const { ordering } = channelOf(context, request);
    const next = sequences.nextSequenceRecv.get(context, request);
    // The next sequence of an unordered channel is 0, because such a channel receives packets in any order.
    const nextSequenceReceive =
      ordering === Order.ORDER_UNORDERED
        ? 0n
        : requireFound(next, () => ibcErrors.ErrSequenceReceiveNotFound(endText(request)));
    return { nextSequenceReceive, ...emptyProof(context) };
  },
  NextSequenceSend: (context, request) => {
    checkEnd(request);
    const nextSequenceSend = requireFound(sequences.nextSequenceSend.get(context, request), () =>
      ibcErrors.ErrSequenceSendNotFound(endText(request)),
    );
    return { nextSequenceSend, ...emptyProof(context) };
  },
});

/** Checks a request's port and channel ids. Throws gRPC status InvalidArgument for an invalid id. */
function checkEnd({ portId, channelId }: ChannelEndpoint): void {
  checkArgument(() => {
    validatePortId(portId);
    validateChannelId(channelId);
  });
}

/** Returns a channel. Throws gRPC status NotFound for an unknown channel. */
function channelOf(context: Context, end: ChannelEndpoint): Channel {
  return requireFound(channels.get(context, end), () => ibcErrors.ErrChannelNotFound(endText(end)));
}

/** Formats the port and channel ids like the error messages of ibc-go's queries. */
function endText({ portId, channelId }: ChannelEndpoint): string {
  return `port-id: ${portId}, channel-id ${channelId}`;
}

function notFound(end: ChannelEndpoint, error: ModuleError): never {
  checkEnd(end);
  throw new QueryError(GrpcCode.NotFound, error.message);
}

function checkPacket(request: PacketKey): void {
  checkEnd(request);
  if (request.sequence === 0n) throw new QueryError(GrpcCode.InvalidArgument, "packet sequence cannot be 0");
}

/** Rejects a request with a zero sequence. As in ibc-go, the error message contains the sequence's index in the list. */
function checkSequences(numbers: readonly bigint[]): void {
  const index = numbers.indexOf(0n);
  if (index >= 0) throw new QueryError(GrpcCode.InvalidArgument, `packet sequence ${index} cannot be 0`);
}

function hashOf(context: Context, name: PacketEntryName, request: PacketKey, words: string): Uint8Array {
  checkPacket(request);
  const hash = packets[name].get(context, request);
  if (hash === undefined) throw new QueryError(GrpcCode.NotFound, `${words} hash not found`);
  return hash;
}

function pageOf(
  context: Context,
  name: PacketEntryName,
  request: ChannelEndpoint & Pick<wire.QueryPacketCommitmentsRequest, "pagination">,
) {
  checkEnd(request);
  // As in ibc-go, the prefix does not include the slash before the sequence, so `next_key` starts with a slash.
  const paged = packets[name].range(context, utf8(`${endPath(request)}/sequences`));
  return readPage(paged, request.pagination, (key, data) =>
    stateOf(request, BigInt(latin1(key).slice(1)), data),
  );
}

function stateOf({ portId, channelId }: ChannelEndpoint, sequence: bigint, data: Uint8Array): PacketState {
  return { portId, channelId, sequence, data };
}

/**
 * Returns a page of acknowledgements. If the request lists packet sequences, returns all acknowledgements for these packets on one
 * page.
 */
function queryAcknowledgements(
  context: Context,
  request: wire.QueryPacketAcknowledgementsRequest,
): wire.QueryPacketAcknowledgementsResponse {
  const height = selfHeight(context);
  if (request.packetCommitmentSequences.length === 0) {
    const { items, pagination } = pageOf(context, "acks", request);
    return { acknowledgements: items, pagination, height };
  }
  checkEnd(request);
  const acknowledgements = request.packetCommitmentSequences.flatMap((sequence) => {
    const hash = packets.acks.get(context, { ...request, sequence });
    return hash === undefined ? [] : [stateOf(request, sequence, hash)];
  });
  return { acknowledgements, pagination: undefined, height };
}

function unreceivedPackets(context: Context, request: wire.QueryUnreceivedPacketsRequest): bigint[] {
  checkEnd(request);
  const { ordering } = channelOf(context, request);
  const { packetCommitmentSequences: numbers } = request;
  checkSequences(numbers);
  if (ordering === Order.ORDER_UNORDERED)
    return numbers.filter(
      (sequence) => packets.receipts.get(context, { ...request, sequence }) === undefined,
    );
  const next = requireFound(sequences.nextSequenceRecv.get(context, request), () =>
    ibcErrors.ErrSequenceReceiveNotFound(
      `destination port: ${request.portId}, destination channel: ${request.channelId}`,
    ),
  );
  return numbers.filter((each) => each >= next);
}
