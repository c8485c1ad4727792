import { describe, expect, it } from "vitest";
import { createPacketFinder } from "../../../src/localnet/ibc-relayer/packet-finder.ts";

const END = { portId: "transfer", channelId: "channel-0" };
const SIGNAL = new AbortController().signal;

/** A packet in a block: its number, the height, and how the block has it. */
interface Sent {
  readonly sequence: bigint;
  readonly height: number;
  readonly by?: "failed transaction" | "block";
}

function eventOf(sequence: bigint) {
  const values = {
    packet_data_hex: "01",
    packet_timeout_height: "0-0",
    packet_timeout_timestamp: "1",
    packet_sequence: sequence.toString(),
    packet_src_port: "transfer",
    packet_src_channel: "channel-0",
    packet_dst_port: "transfer",
    packet_dst_channel: "channel-3",
  };
  return { type: "send_packet", attributes: Object.entries(values).map(([key, value]) => ({ key, value })) };
}

interface SearchRequest {
  readonly query: string;
  readonly page: number;
  readonly per_page: number;
}

/** Creates a finder over blocks. `calls` are the searches: "tx 7" for one packet, "tx >=5 page 2" for all from a height on. */
function finderOver(sent: readonly Sent[]) {
  const calls: string[] = [];
  const wantedOf = (query: string): bigint => BigInt(/packet_sequence='(\d+)'/.exec(query)?.[1] ?? -1n);
  const comet = {
    txSearch: async ({ query, page, per_page: size }: SearchRequest) => {
      const sequence = wantedOf(query);
      const from = Number(/tx\.height>=(\d+)/.exec(query)?.[1] ?? 0);
      calls.push(sequence >= 0n ? `tx ${sequence}` : `tx >=${from} page ${page}`);
      const txs = sent
        .filter(
          (one) => one.by !== "block" && one.height >= from && (sequence < 0n || one.sequence === sequence),
        )
        .map((one) => ({
          height: one.height,
          result: { code: one.by === undefined ? 0 : 5, events: [eventOf(one.sequence)] },
        }));
      return { txs: txs.slice((page - 1) * size, page * size), totalCount: txs.length };
    },
    blockSearch: async ({ query }: SearchRequest) => {
      const sequence = wantedOf(query);
      calls.push(`block ${sequence}`);
      const found = sent.filter((one) => one.by === "block" && one.sequence === sequence);
      return {
        blocks: found.map(({ height }) => ({ block: { header: { height } } })),
        totalCount: found.length,
      };
    },
    blockResults: async (height: number) => ({
      finalizeBlockEvents: sent
        .filter((one) => one.height === height)
        .map(({ sequence }) => eventOf(sequence)),
    }),
  };
  const finder = createPacketFinder(comet);
  return {
    calls,
    forget: finder.forget,
    find: async (...sequences: readonly bigint[]) => [
      ...(await finder.find({ type: "send_packet", end: END, sequences }, SIGNAL)).keys(),
    ],
  };
}

const packets = (count: number, height = 5): readonly Sent[] =>
  Array.from({ length: count }, (_, index) => ({ sequence: BigInt(index + 1), height }));

describe("the finder of packets", () => {
  it("searches the first one, then all later ones, and none again", async () => {
    const { find, forget, calls } = finderOver(packets(3));
    expect(await find(1n, 2n, 3n)).toEqual([1n, 2n, 3n]);
    expect(calls).toEqual(["tx 1", "tx >=5 page 1"]);
    expect(await find(3n, 2n)).toEqual([3n, 2n]);
    expect(calls.length).toBe(2);
    forget();
    expect(await find(3n)).toEqual([3n]);
    expect(calls.length).toBeGreaterThan(2);
  });

  it("reads page after page, until it has all that it wants", async () => {
    const { find, calls } = finderOver(packets(250));
    expect(await find(1n, 101n)).toEqual([1n, 101n]);
    expect(calls).toEqual(["tx 1", "tx >=5 page 1", "tx >=5 page 2"]);
  });

  it("reads at most ten pages in a row, then searches by number", async () => {
    const { find, calls } = finderOver(packets(1_500));
    expect(await find(1n, 1_400n)).toEqual([1n, 1_400n]);
    expect(calls.filter((call) => call.includes("page")).length).toBe(10);
    expect(calls).toContain("tx 1400");
  });

  it("finds a packet that a block sent, and none of a failed transaction", async () => {
    const { find, calls } = finderOver([
      { sequence: 1n, height: 5, by: "block" },
      { sequence: 2n, height: 6, by: "failed transaction" },
    ]);
    expect(await find(1n, 2n)).toEqual([1n]);
    expect(calls.slice(0, 2)).toEqual(["tx 1", "block 1"]);
  });

  it("finds a packet behind many whose blocks are pruned", async () => {
    const { find, calls } = finderOver([{ sequence: 26n, height: 9 }]);
    const wanted = Array.from({ length: 26 }, (_, index) => BigInt(index + 1));
    expect(await find(...wanted)).toEqual([]);
    expect(calls.filter((call) => call.startsWith("tx")).length).toBe(10);
    expect(await find(...wanted)).toEqual([]);
    expect(await find(...wanted)).toEqual([26n]);
  });
});
