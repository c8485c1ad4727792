import type { Packet } from "../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { raceAbort } from "../../platform/base/abort.ts";
import { fromHex } from "../../platform/base/bytes.ts";
import { createRecentCache } from "../../platform/base/caches.ts";
import type { ChannelEnd } from "./ibc-reads.ts";

/** Finds a chain's packets in its events, because the chain's state contains only hashes of the packets. */
export type PacketFinder = ReturnType<typeof createPacketFinder>;

/** The packets to find, by event type, channel end and sequences. The end is the sender or the receiver, depending on the type. */
interface PacketSearch {
  readonly type: PacketEventType;
  readonly end: ChannelEnd;
  readonly sequences: readonly bigint[];
}

/** Maximum number of cached packets. The relayer may need a packet twice, first to deliver it and later to time it out. */
const CACHED_PACKETS = 2_000;
const PAGE_SIZE = 100;
/**
 * Maximum number of result pages that a search reads, starting with the first missing packet. A later cycle searches for the
 * remaining packets.
 */
const MAX_PAGES = 10;
/** Maximum number of searches per call of `find`. Each search starts with a different missing packet. */
const MAX_SEARCHES = 10;

/** CometBFT's search methods, whose response types declare only the fields that the packet finder reads. */
interface BlockSearches {
  readonly txSearch: (request: SearchRequest) => Promise<{
    readonly txs: readonly {
      readonly height: number;
      readonly result: { readonly code: number; readonly events: readonly RpcEvent[] };
    }[];
    readonly totalCount: number;
  }>;
  readonly blockSearch: (request: SearchRequest) => Promise<{
    readonly blocks: readonly { readonly block: { readonly header: { readonly height: number } } }[];
  }>;
  readonly blockResults: (height: number) => Promise<{ readonly finalizeBlockEvents: readonly RpcEvent[] }>;
}

interface SearchRequest {
  readonly query: string;
  readonly page: number;
  readonly per_page: number;
  readonly order_by?: "asc";
}

export function createPacketFinder(comet: BlockSearches) {
  const cache = createRecentCache<string, PacketRecord>(CACHED_PACKETS);
  const cacheAll = (events: readonly RpcEvent[], type: PacketEventType): void => {
    for (const record of readPackets(events, type))
      cache.put(keyOf(type, endOf(record, type), record), record);
  };
  const missingOf = ({ type, end, sequences }: PacketSearch): readonly bigint[] =>
    sequences.filter((sequence) => cached(type, end, sequence) === undefined);
  const cached = (type: PacketEventType, end: ChannelEnd, sequence: bigint): PacketRecord | undefined =>
    cache.get(keyOf(type, end, { packet: { sequence } }), () => undefined);
  /**
   * Number of failed searches for each packet. Packets with fewer failed searches are searched first, so that pruned packets do not
   * delay other packets.
   */
  const misses = createRecentCache<string, number>(CACHED_PACKETS);
  const missesOf = ({ type, end }: PacketSearch, sequence: bigint): number =>
    misses.get(keyOf(type, end, { packet: { sequence } }), () => undefined) ?? 0;
  /** Caches all packets on a page of search results. Returns the first result's height, and whether more pages follow. */
  const searchTxs = async (query: string, page: number, type: PacketEventType, signal: AbortSignal) => {
    const request = { query, page, per_page: PAGE_SIZE, order_by: "asc" } as const;
    const { txs, totalCount } = await raceAbort(comet.txSearch(request), signal);
    for (const { result } of txs) if (result.code === 0) cacheAll(result.events, type);
    return { height: txs[0]?.height, hasMore: page * PAGE_SIZE < totalCount };
  };
  /** Searches block events, because contracts can also send packets outside transactions, when a block begins or ends. */
  const searchBlocks = async (query: string, type: PacketEventType, signal: AbortSignal): Promise<void> => {
    const { blocks } = await raceAbort(comet.blockSearch({ query, per_page: 1, page: 1 }), signal);
    for (const { block } of blocks) {
      const results = await raceAbort(comet.blockResults(block.header.height), signal);
      cacheAll(results.finalizeBlockEvents, type);
    }
  };
  /**
   * Searches for packet `first`, then for all packets from its block on, because the following blocks often contain other missing
   * packets.
   */
  const search = async (wanted: PacketSearch, first: bigint, signal: AbortSignal): Promise<void> => {
    const { type, end } = wanted;
    const one = queryOf(type, end, first);
    const { height } = await searchTxs(one, 1, type, signal);
    if (height === undefined) return searchBlocks(one, type, signal);
    const all = `${queryOf(type, end)} AND tx.height>=${height}`;
    for (let page = 1; page <= MAX_PAGES && missingOf(wanted).length > 0; page++)
      if (!(await searchTxs(all, page, type, signal)).hasMore) return;
  };
  return {
    /** Discards all packets found so far, because a reverted chain may reuse their sequences for different packets. */
    forget: () => {
      cache.clear();
      misses.clear();
    },
    /**
     * Returns the wanted packets, keyed by sequence. The packets are either packets that a channel end sent, or packets that it
     * received and acknowledged. Omits packets that the node has pruned. Rejects with `ClientError`.
     */
    find: async (wanted: PacketSearch, signal: AbortSignal): Promise<ReadonlyMap<bigint, PacketRecord>> => {
      const { type, end, sequences } = wanted;
      const tried = new Set<bigint>();
      while (tried.size < MAX_SEARCHES) {
        const next = leastOf(
          missingOf(wanted).filter((sequence) => !tried.has(sequence)),
          (sequence) => missesOf(wanted, sequence),
        );
        if (next === undefined) break;
        tried.add(next);
        await search(wanted, next, signal);
        if (cached(type, end, next) === undefined)
          misses.put(keyOf(type, end, { packet: { sequence: next } }), missesOf(wanted, next) + 1);
      }
      return new Map(
        sequences.flatMap((sequence) => {
          const record = cached(type, end, sequence);
          return record === undefined ? [] : [[sequence, record] as const];
        }),
      );
    },
  };
}

/** Returns the first of the values with the lowest rank, or undefined if there are no values. */
function leastOf(values: readonly bigint[], rankOf: (value: bigint) => number): bigint | undefined {
  let least: { readonly value: bigint; readonly rank: number } | undefined;
  for (const value of values) {
    const rank = rankOf(value);
    if (least === undefined || rank < least.rank) least = { value, rank };
  }
  return least?.value;
}

function keyOf(
  type: PacketEventType,
  { portId, channelId }: ChannelEnd,
  { packet }: { readonly packet: Pick<PacketRecord["packet"], "sequence"> },
): string {
  return `${type}/${portId}/${channelId}/${packet.sequence}`;
}

function endOf({ packet }: PacketRecord, type: PacketEventType): ChannelEnd {
  return type === "send_packet"
    ? { portId: packet.sourcePort, channelId: packet.sourceChannel }
    : { portId: packet.destinationPort, channelId: packet.destinationChannel };
}

function queryOf(type: PacketEventType, { portId, channelId }: ChannelEnd, sequence?: bigint): string {
  const side = type === "send_packet" ? "src" : "dst";
  const conditions = [
    `${type}.packet_${side}_port='${portId}'`,
    `${type}.packet_${side}_channel='${channelId}'`,
    ...(sequence === undefined ? [] : [`${type}.packet_sequence='${sequence}'`]),
  ];
  return conditions.join(" AND ");
}

interface RpcEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

/** A packet that a chain has sent, or has received and acknowledged. */
export interface PacketRecord {
  readonly packet: Packet;
  /** The receiver's acknowledgement, or empty for a sent packet. */
  readonly acknowledgement: Uint8Array;
}

/**
 * Types of events that contain a complete packet. The first is emitted by the sender's chain, and the second is emitted with the
 * acknowledgement by the receiver's chain.
 */
type PacketEventType = "send_packet" | "write_acknowledgement";

/** Reads the packets from events of one type. Skips incomplete events, because contracts can emit arbitrary events. */
export function readPackets(events: readonly RpcEvent[], type: PacketEventType): readonly PacketRecord[] {
  return events.filter((event) => event.type === type).flatMap((event) => recordOf(event, type) ?? []);
}

function recordOf({ attributes }: RpcEvent, type: PacketEventType): PacketRecord | undefined {
  const values = new Map(attributes.map(({ key, value }) => [key, value]));
  const text = (key: string): string => values.get(`packet_${key}`) ?? "";
  const [, revision, height] = /^(\d{1,20})-(\d{1,20})$/.exec(text("timeout_height")) ?? [];
  const sequence = numberOf(text("sequence"));
  const timeoutTimestamp = numberOf(text("timeout_timestamp"));
  const data = bytesOf(text("data_hex"));
  const acknowledgement = type === "send_packet" ? new Uint8Array() : bytesOf(text("ack_hex"));
  if (revision === undefined || height === undefined || sequence === undefined) return undefined;
  if (timeoutTimestamp === undefined || data === undefined || acknowledgement === undefined) return undefined;
  const packet = {
    sequence,
    sourcePort: text("src_port"),
    sourceChannel: text("src_channel"),
    destinationPort: text("dst_port"),
    destinationChannel: text("dst_channel"),
    data,
    timeoutHeight: { revisionNumber: BigInt(revision), revisionHeight: BigInt(height) },
    timeoutTimestamp,
  };
  return { packet, acknowledgement };
}

function numberOf(text: string): bigint | undefined {
  return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}

function bytesOf(hex: string): Uint8Array | undefined {
  return /^(?:[0-9a-f]{2})*$/i.test(hex) ? fromHex(hex) : undefined;
}
