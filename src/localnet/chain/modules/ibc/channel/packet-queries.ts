import { emptyProof, requireFound } from "../query-responses.ts";
import { latin1 } from "../../../../../platform/base/bytes.ts";
import { Order, type PacketState } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/query.ts";
import type { Context } from "../../../runtime/context.ts";
import { toQueryHandler } from "../../../runtime/handlers.ts";
import type { QueryHandler } from "../../../runtime/module.ts";
import { QueryError } from "../../../runtime/errors.ts";
import { paginate } from "../../../runtime/pagination.ts";
import { selfHeight } from "../height.ts";
import { type PacketEntryName, STORE_NAME } from "../keys.ts";
import { getPacketEntry, getSequence, packetEntriesPrefix } from "./channel-store.ts";
import { ErrSequenceReceiveNotFound, ErrSequenceSendNotFound } from "./errors.ts";
import type { ChannelEndpoint } from "./packet.ts";
import { channelOf, checkEnd, endText } from "./queries.ts";

const SERVICE = "/ibc.core.channel.v1.Query";
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;

/** The queries of packets in `ibc.core.channel.v1.Query`. */
export const packetQueries: readonly QueryHandler[] = [
  toQueryHandler(
    `${SERVICE}/PacketCommitment`,
    { request: wire.QueryPacketCommitmentRequest, response: wire.QueryPacketCommitmentResponse },
    (context, request) => {
      const commitment = hashOf(context, "commitments", request, "packet commitment");
      return { commitment, ...emptyProof(context) };
    },
  ),
  toQueryHandler(
    `${SERVICE}/PacketCommitments`,
    { request: wire.QueryPacketCommitmentsRequest, response: wire.QueryPacketCommitmentsResponse },
    (context, request) => {
      const { states, pagination } = pageOf(context, "commitments", request);
      return { commitments: states, pagination, height: selfHeight(context) };
    },
  ),
  toQueryHandler(
    `${SERVICE}/PacketReceipt`,
    { request: wire.QueryPacketReceiptRequest, response: wire.QueryPacketReceiptResponse },
    (context, request) => {
      checkPacket(request);
      const received = getPacketEntry(context, "receipts", request, request.sequence) !== undefined;
      return { received, ...emptyProof(context) };
    },
  ),
  toQueryHandler(
    `${SERVICE}/PacketAcknowledgement`,
    { request: wire.QueryPacketAcknowledgementRequest, response: wire.QueryPacketAcknowledgementResponse },
    (context, request) => {
      const acknowledgement = hashOf(context, "acks", request, "packet acknowledgement");
      return { acknowledgement, ...emptyProof(context) };
    },
  ),
  toQueryHandler(
    `${SERVICE}/PacketAcknowledgements`,
    { request: wire.QueryPacketAcknowledgementsRequest, response: wire.QueryPacketAcknowledgementsResponse },
    queryAcknowledgements,
  ),
  toQueryHandler(
    `${SERVICE}/UnreceivedPackets`,
    { request: wire.QueryUnreceivedPacketsRequest, response: wire.QueryUnreceivedPacketsResponse },
    (context, request) => ({ sequences: unreceivedPackets(context, request), height: selfHeight(context) }),
  ),
  toQueryHandler(
    `${SERVICE}/UnreceivedAcks`,
    { request: wire.QueryUnreceivedAcksRequest, response: wire.QueryUnreceivedAcksResponse },
    (context, request) => {
      checkEnd(request);
      checkSequences(request.packetAckSequences);
      const sequences = request.packetAckSequences.filter(
        (sequence) => getPacketEntry(context, "commitments", request, sequence) !== undefined,
      );
      return { sequences, height: selfHeight(context) };
    },
  ),
  toQueryHandler(
    `${SERVICE}/NextSequenceReceive`,
    { request: wire.QueryNextSequenceReceiveRequest, response: wire.QueryNextSequenceReceiveResponse },
    queryNextReceive,
  ),
  toQueryHandler(
    `${SERVICE}/NextSequenceSend`,
    { request: wire.QueryNextSequenceSendRequest, response: wire.QueryNextSequenceSendResponse },
    (context, request) => {
      checkEnd(request);
      const nextSequenceSend = requireFound(getSequence(context, "nextSequenceSend", request), () =>
        ErrSequenceSendNotFound(endText(request)),
      );
      return { nextSequenceSend, ...emptyProof(context) };
    },
  ),
];

type PacketRequest = ChannelEndpoint & { readonly sequence: bigint };

function checkPacket(request: PacketRequest): void {
  checkEnd(request);
  if (request.sequence === 0n) throw new QueryError(INVALID_ARGUMENT, "packet sequence cannot be 0");
}

/** The text names the index of the sequence, as that of ibc-go does. */
function checkSequences(sequences: readonly bigint[]): void {
  const index = sequences.indexOf(0n);
  if (index >= 0) throw new QueryError(INVALID_ARGUMENT, `packet sequence ${index} cannot be 0`);
}

function hashOf(context: Context, name: PacketEntryName, request: PacketRequest, words: string): Uint8Array {
  checkPacket(request);
  const hash = getPacketEntry(context, name, request, request.sequence);
  if (hash === undefined) throw new QueryError(NOT_FOUND, `${words} hash not found`);
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
    states.push(stateOf(request, BigInt(latin1(key)), data));
  });
  return { states, pagination };
}

function stateOf({ portId, channelId }: ChannelEndpoint, sequence: bigint, data: Uint8Array): PacketState {
  return { portId, channelId, sequence, data };
}

/** Returns a page, or those of the requested packets that have an acknowledgement, without a page. */
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
    ErrSequenceReceiveNotFound(
      `destination port: ${request.portId}, destination channel: ${request.channelId}`,
    ),
  );
  return sequences.filter((each) => each >= next);
}

/** An unordered channel receives in any order; its next sequence is 0. */
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
      : requireFound(next, () => ErrSequenceReceiveNotFound(endText(request)));
  return { nextSequenceReceive, ...emptyProof(context) };
}
