import { type ChainClient, queriesOf } from "../../cosmos/client/chain-client.ts";
import type { Channel, IdentifiedChannel } from "../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { Query } from "../../cosmos/proto/gen/ibc/core/channel/v1/query.ts";
import { IbcRelayerError } from "./errors.ts";

/** A channel end on one chain, identified by port and channel id. */
export interface ChannelEnd {
  readonly portId: string;
  readonly channelId: string;
}

/** A channel as stored on one of its two chains. */
export interface ChannelView extends ChannelEnd, Pick<Channel, "state" | "ordering" | "version"> {
  /** The channel's end on the other chain. `channelId` is empty while the channel is in state INIT. */
  readonly counterparty: ChannelEnd;
}

type Packets = ChannelEnd & { readonly sequences: readonly bigint[] };

const PAGE_LIMIT = 1_000n;
/** Maximum number of pages to read per query, enough for more packets than a localnet ever has in flight. */
const MAX_PAGES = 100;

/** Reads a chain's channels and packets at a height, where 0 means the latest height. All methods reject with `ClientError`. */
export type IbcReads = ReturnType<typeof createIbcReads>;

export function createIbcReads(client: Pick<ChainClient, "grpcQuery">) {
  const query = queriesOf(client, Query);
  return {
    /** Returns all channels on a connection. Rejects with `ClientError`, or with `IbcRelayerError` "too-many-pages". */
    channels: (connection: string, height: bigint, signal: AbortSignal) =>
      allPages(async (key) => {
        const request = { connection, pagination: pageAt(key) };
        const { channels, pagination } = await query("ConnectionChannels", request, signal, height);
        return { items: channels.map(viewOf), next: pagination?.nextKey };
      }),
    /** Returns the sequences of sent, unacknowledged packets in ascending order. Rejects like `channels`. */
    commitments: async ({ portId, channelId }: ChannelEnd, height: bigint, signal: AbortSignal) => {
      const sequences = await allPages(async (key) => {
        const request = { portId, channelId, pagination: pageAt(key) };
        const { commitments, pagination } = await query("PacketCommitments", request, signal, height);
        return { items: commitments.map(({ sequence }) => sequence), next: pagination?.nextKey };
      });
      // Sort numerically, because the chain sorts sequences as text, so that 10 comes before 9.
      return sequences.toSorted((one, other) => (one < other ? -1 : 1));
    },
    /** Returns which of the packets with the given sequences the channel end has not received. */
    unreceived: async (
      { portId, channelId, sequences }: Packets,
      height: bigint,
      signal: AbortSignal,
    ): Promise<ReadonlySet<bigint>> => {
      const request = { portId, channelId, packetCommitmentSequences: [...sequences] };
      return new Set((await query("UnreceivedPackets", request, signal, height)).sequences);
    },
    /** Returns which of the packets with the given sequences the channel end has sent, but the other chain has not acknowledged. */
    unacknowledged: async (
      { portId, channelId, sequences }: Packets,
      height: bigint,
      signal: AbortSignal,
    ): Promise<ReadonlySet<bigint>> => {
      const request = { portId, channelId, packetAckSequences: [...sequences] };
      return new Set((await query("UnreceivedAcks", request, signal, height)).sequences);
    },
    /** Returns which of the packets with the given sequences the channel end has received and acknowledged. */
    acknowledged: async (
      { portId, channelId, sequences }: Packets,
      height: bigint,
      signal: AbortSignal,
    ): Promise<ReadonlySet<bigint>> => {
      // Return early, because for an empty list the chain would return all acknowledgements.
      if (sequences.length === 0) return new Set();
      const request = { portId, channelId, packetCommitmentSequences: [...sequences], pagination: undefined };
      const { acknowledgements } = await query("PacketAcknowledgements", request, signal, height);
      return new Set(acknowledgements.map(({ sequence }) => sequence));
    },
    /** Returns the sequence of the next packet to receive on an ordered channel. */
    nextReceive: async ({ portId, channelId }: ChannelEnd, height: bigint, signal: AbortSignal) =>
      (await query("NextSequenceReceive", { portId, channelId }, signal, height)).nextSequenceReceive,
  };
}

function viewOf({
  portId,
  channelId,
  state,
  ordering,
  version,
  counterparty,
}: IdentifiedChannel): ChannelView {
  return {
    portId,
    channelId,
    state,
    ordering,
    version,
    counterparty: { portId: counterparty?.portId ?? "", channelId: counterparty?.channelId ?? "" },
  };
}

function pageAt(key: Uint8Array) {
  return { key, offset: 0n, limit: PAGE_LIMIT, countTotal: false, reverse: false };
}

async function allPages<T>(
  read: (key: Uint8Array) => Promise<{ readonly items: readonly T[]; readonly next: Uint8Array | undefined }>,
): Promise<readonly T[]> {
  const all: T[] = [];
  let key: Uint8Array = new Uint8Array();
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { items, next } = await read(key);
    all.push(...items);
    if (next === undefined || next.length === 0) return all;
    key = next;
  }
  const text = `the channel or packet list has more than ${MAX_PAGES} pages`;
  throw new IbcRelayerError({ code: "too-many-pages", pages: MAX_PAGES }, text);
}
