import { describe, expect, it } from "vitest";
import { fromBase64, utf8, sha256 } from "../../../../src/platform/base/bytes.ts";
import { type Logger, silentLogger } from "../../../../src/platform/base/logger.ts";
import { createCallRouter } from "../../../../src/localnet/node/grpc/call-router.ts";
import type { NodeView, StoredTx } from "../../../../src/localnet/node/base/node-view.ts";
import {
  GetTxRequest,
  GetTxsEventRequest,
  GetTxsEventResponse,
  OrderBy,
} from "../../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { recordedTxBase64 } from "../../../support/recorded-rest.ts";
import { createFakeView, fakeStoredBlock } from "../../../support/fake-view.ts";

const NOTHING = new Uint8Array(0);
const PARAMS = "/cosmos.bank.v1beta1.Query/Params";

function router(view: Partial<NodeView>, logger: Logger = silentLogger, chainName = "neutron") {
  const context = {
    chainName,
    consensusPrefix: "neutronvalcons",
    rpcAddress: () => "",
    view: createFakeView(view),
  };
  return createCallRouter(context, logger);
}

function stored(tx: Uint8Array, index: number): StoredTx {
  const result = { code: 0, codespace: "", log: "", data: NOTHING, gasWanted: 0n, gasUsed: 0n, events: [] };
  return { hash: sha256(tx), height: 5n, index, tx, result };
}

const search = GetTxsEventRequest.encode({
  events: [],
  pagination: undefined,
  orderBy: OrderBy.ORDER_BY_UNSPECIFIED,
  page: 0n,
  limit: 1000n,
  query: "tx.height=5",
}).finish();

describe("the router of gRPC calls", () => {
  it("leaves out block entries that are not transactions, but counts them", () => {
    const items = [stored(utf8("an extended commit"), 0), stored(fromBase64(recordedTxBase64()), 1)];
    const reply = router({
      searchTxs: ({ page, perPage, order }) => {
        expect({ page, perPage, order }).toEqual({ page: 1, perPage: 100, order: "asc" });
        return { items, total: 2 };
      },
      block: (height) => fakeStoredBlock(height),
    }).call({ path: "/cosmos.tx.v1beta1.Service/GetTxsEvent", data: search, heights: [] });
    expect(reply.code).toBe(0);
    const answer = GetTxsEventResponse.decode(reply.value);
    expect(answer.total).toBe(2n);
    expect(answer.txs).toHaveLength(1);
    expect(answer.txResponses.map(({ height }) => height)).toEqual([5n]);
  });

  it("refuses a page that a client of grpc-go would not receive, without reading all of it", () => {
    const long = stored(fromBase64(recordedTxBase64()), 1);
    const item = { ...long, result: { ...long.result, log: "x".repeat(3_000_000) } };
    let reads = 0;
    function* items() {
      for (; reads < 100; reads++) yield item;
    }
    const reply = router({
      searchTxs: () => ({ items: items(), total: 100 }),
      block: (height) => fakeStoredBlock(height),
    }).call({ path: "/cosmos.tx.v1beta1.Service/GetTxsEvent", data: search, heights: [] });
    expect([reply.code, reads]).toEqual([8, 1]);
    expect(reply.message).toMatch(/^grpc: received message larger than max \(\d+ vs\. 4194304\)$/);
  });

  it("reports an error for the hash of an entry that is not a transaction", () => {
    const entry = stored(utf8("an extended commit"), 0);
    const data = GetTxRequest.encode({ hash: Buffer.from(entry.hash).toString("hex") }).finish();
    const reply = router({ tx: () => entry }).call({
      path: "/cosmos.tx.v1beta1.Service/GetTx",
      data,
      heights: [],
    });
    expect(reply).toMatchObject({ code: 2, message: expect.stringContaining("tx parse error"), height: 7n });
  });

  it("reads one height and ignores several, as the real server does", () => {
    const asked: bigint[] = [];
    const calls = router({
      queryPaths: () => [PARAMS],
      query: ({ height }) => {
        asked.push(height);
        return {
          ...createFakeView({}).query({ path: "", data: NOTHING, height, prove: false }),
          code: 0,
          height,
        };
      },
    });
    for (const heights of [[], ["3"], ["3", "4"]]) calls.call({ path: PARAMS, data: NOTHING, heights });
    expect(asked).toEqual([0n, 3n, 0n]);
  });

  it("hides a bug of the node from the caller and logs it", () => {
    const logged: string[] = [];
    const logger = { ...silentLogger, error: (message: string) => logged.push(message) };
    const reply = router(
      {
        queryPaths: () => [PARAMS],
        query: () => {
          throw new Error("this is a bug: secret inside");
        },
      },
      logger,
    ).call({ path: PARAMS, data: NOTHING, heights: [] });
    expect(reply).toMatchObject({ code: 13, message: "internal error", height: undefined });
    expect(logged).toEqual(["grpc call failed"]);
  });

  it("broadcasts before the first block, when every other method fails", () => {
    const status = { ...createFakeView({}).status(), latestHeight: 0n };
    const calls = router({ status: () => status });
    const broadcast = calls.call({
      path: "/cosmos.tx.v1beta1.Service/BroadcastTx",
      data: NOTHING,
      heights: [],
    });
    expect(broadcast).toMatchObject({ code: 3, message: "invalid empty tx", height: undefined });
    const path = "/cosmos.base.tendermint.v1beta1.Service/GetSyncing";
    expect(calls.call({ path, data: NOTHING, heights: [] })).toMatchObject({
      code: 2,
      message: "codespace sdk code 26: invalid height: the chain is not ready; please wait for first block",
    });
  });

  it("has no path under the name of another chain", () => {
    const path = "/acme.interchainqueries.Query/Params";
    const calls = router({ queryPaths: () => [path] }, silentLogger, "acme");
    expect(calls.paths).toContain(path);
    expect(
      calls.call({ path: "/neutron.interchainqueries.Query/Params", data: NOTHING, heights: [] }).code,
    ).toBe(12);
    expect(calls.call({ path, data: NOTHING, heights: [] }).code).not.toBe(12);
  });
});
