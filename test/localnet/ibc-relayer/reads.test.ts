import { describe, expect, it } from "vitest";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import type { StoreResponse, StoreRead } from "../../../src/cosmos/client/chain-client.ts";
import { readSnapshot } from "../../../src/localnet/ibc-relayer/ibc-chain.ts";
import { cycleFailureOf } from "../../../src/localnet/ibc-relayer/errors.ts";
import { createIbcReads } from "../../../src/localnet/ibc-relayer/ibc-reads.ts";
import { proveWork } from "../../../src/localnet/ibc-relayer/work.ts";
import * as wire from "../../../src/cosmos/proto/gen/ibc/core/channel/v1/query.ts";
import { createFakeIbcChains } from "../../support/localnet/fake-ibc-chain.ts";

const END = { portId: "transfer", channelId: "channel-0" };
const SIGNAL = new AbortController().signal;

/** A chain whose list of commitments has these pages. */
function readsOver(pages: readonly (readonly bigint[])[], isEndless = false) {
  const calls: { readonly path: string; readonly height: unknown }[] = [];
  const reads = createIbcReads({
    grpcQuery: async (path, bytes, _signal, height) => {
      calls.push({ path, height });
      const { pagination } = wire.QueryPacketCommitmentsRequest.decode(bytes);
      const page = Number(Buffer.from(pagination?.key ?? []).toString() || "0");
      const commitments = (pages[page] ?? []).map((sequence) => ({
        ...END,
        sequence,
        data: new Uint8Array(0),
      }));
      const isLast = !isEndless && page + 1 >= pages.length;
      const nextKey = isLast ? new Uint8Array(0) : utf8(`${page + 1}`);
      const response = { commitments, pagination: { nextKey, total: 0n }, height: undefined };
      return wire.QueryPacketCommitmentsResponse.encode(response).finish();
    },
  });
  return { reads, calls };
}

describe("the reads of packets", () => {
  it("go over all pages at one height, and sort by number", async () => {
    const { reads, calls } = readsOver([[1n, 10n, 11n], [2n], [9n]]);
    expect(await reads.commitments(END, 7n, SIGNAL)).toEqual([1n, 2n, 9n, 10n, 11n]);
    expect(calls.map(({ height }) => height)).toEqual([7n, 7n, 7n]);
  });

  it("of a list without an end fail after 100 pages", async () => {
    const { reads, calls } = readsOver([], true);
    const failure = await reads.commitments(END, 7n, SIGNAL).catch((error: unknown) => error);
    expect(String(failure)).toContain("the channel or packet list has more than 100 pages");
    expect([cycleFailureOf(failure), calls.length]).toEqual(["read", 100]);
  });

  it("ask nothing about no packet: the chain would list all", async () => {
    const { reads, calls } = readsOver([]);
    expect(await reads.acknowledged({ ...END, sequences: [] }, 7n, SIGNAL)).toEqual(new Set());
    expect(calls).toEqual([]);
  });
});

describe("a snapshot of a chain", () => {
  it("has the channels that the newest header proves, and the present ones", async () => {
    const [{ chain }] = createFakeIbcChains();
    const heights: bigint[] = [];
    const reads: typeof chain.reads = {
      ...chain.reads,
      channels: async (_connection, height) => {
        heights.push(height);
        return [];
      },
    };
    const snapshot = await readSnapshot({ ...chain, reads }, SIGNAL);
    expect([heights, snapshot?.moment]).toEqual([
      [9n, 0n],
      { revision: 1n, height: 10n, timeNs: 3_600_000_000_000n },
    ]);
  });
});

describe("a proof", () => {
  const work = {
    kind: "receive",
    name: "receive 1",
    paths: ["commitments/a", "commitments/b"],
    message: ({ proofs }: { readonly proofs: readonly Uint8Array[] }) => ({
      typeUrl: "/x",
      value: Buffer.concat(proofs),
    }),
  } as const;
  const prove = (answer: Partial<StoreResponse>) => {
    const asked: StoreRead[] = [];
    const read = async (request: StoreRead): Promise<StoreResponse> => {
      asked.push(request);
      const data = request.key;
      const proof = [{ type: "ics23:iavl", key: data, data }];
      return {
        code: 0,
        codespace: "",
        log: "",
        height: 1n,
        value: undefined,
        endpoint: "x",
        proof,
        ...answer,
      };
    };
    const from = { client: { readStore: read }, point: { revision: 1n, height: 12n } };
    return { asked, messages: proveWork([work], from, "me", SIGNAL) };
  };

  it("is of the state before the header that has its root, in the order of the paths", async () => {
    const { asked, messages } = prove({});
    const [message] = await messages;
    expect(Buffer.from(message?.value ?? []).toString()).toBe("\n\rcommitments/a\n\rcommitments/b");
    expect(asked.map(({ store, height }) => [store, height])).toEqual([
      ["ibc", 11n],
      ["ibc", 11n],
    ]);
  });

  it.each([
    [{ proof: [] }, "cannot prove ibc/commitments/a: the node returned no proof"],
    [{ code: 5, log: "pruned" }, "cannot prove ibc/commitments/a: pruned"],
  ])("that a node does not have fails with its path: %j", async (answer, expected) => {
    const failure = await prove(answer).messages.catch((error: unknown) => error);
    expect(failure).toHaveProperty("message", expected);
    expect(cycleFailureOf(failure)).toBe("read");
  });
});
