import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { MAX_WAITING_REQUESTS } from "../../../../src/localnet/node/base/work-queue.ts";
import { callInQueue } from "../../../../src/localnet/node/grpc/call-router.ts";
import { createDeferred } from "../../../../src/platform/process/deferred.ts";
import { fromBase64, fromUtf8, toBase64, utf8 } from "../../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../../src/platform/base/json.ts";
import { startTestNode, type TestNode } from "../../../support/test-node.ts";

describe("the RPC port", () => {
  let node: TestNode;
  beforeAll(async () => {
    node = await startTestNode({ commitTimeoutMs: 100 });
    node.control.produce(35);
  });
  afterAll(() => node.stop());

  const post = (body: string) => fetch(node.rpcUrl, { method: "POST", body });
  const call = async (method: string, params: unknown) => {
    const answer: unknown = await (
      await post(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }))
    ).json();
    return isRecord(answer) ? answer : expect.unreachable("no object");
  };
  const health = (id: number) => ({ jsonrpc: "2.0", id, method: "health" });

  it("accepts ten requests in a batch, not eleven", async () => {
    const ten = await post(JSON.stringify(Array.from({ length: 10 }, (_, id) => health(id))));
    expect(await ten.json()).toHaveLength(10);
    const eleven = await post(JSON.stringify(Array.from({ length: 11 }, (_, id) => health(id))));
    expect(eleven.status).toBe(500);
    expect(await eleven.json()).toEqual({
      jsonrpc: "2.0",
      error: {
        code: -32600,
        message: "Invalid Request",
        data: "batch request exceeds maximum (10) allowed number of requests",
      },
    });
  });

  it("replies to a batch of one without an array, as CometBFT does", async () => {
    expect(await (await post(JSON.stringify([health(3)]))).json()).toEqual({
      jsonrpc: "2.0",
      id: 3,
      result: {},
    });
  });

  it.each([
    ["{", "error unmarshaling request: unexpected end of JSON input"],
    ["nonsense", "error unmarshaling request: invalid character 'o' in literal null (expecting 'u')"],
    [
      '{"id":[],"method":"health"}',
      "error unmarshaling request: JSON-RPC ID ([]) is of unknown type (array)",
    ],
    [
      '{"id":1,"method":5}',
      "error unmarshaling request: json: cannot unmarshal number into Go struct field .method of type string",
    ],
  ])("reports why it cannot read %s", async (body, data) => {
    const answer = await post(body);
    expect(answer.status).toBe(500);
    expect(await answer.json()).toEqual({
      jsonrpc: "2.0",
      error: { code: -32700, message: "Parse error. Invalid JSON", data },
    });
  });

  const STAYS = { isGone: () => false, budget: { untilCapacity: () => undefined } };
  const search = { jsonrpc: "2.0", id: 1, method: "tx_search", params: { query: "tx.height>0" } };
  const path = "/cosmos.tx.v1beta1.Service/GetTxsEvent";
  /** Occupies the queue of the node until the returned function is called. */
  const occupy = (): (() => Promise<unknown>) => {
    const running = createDeferred<void>();
    const held = node.router.queue.run([() => running.promise], STAYS);
    return () => {
      running.resolve();
      return held;
    };
  };

  const pushOut = (): void => {
    for (let other = 0; other < MAX_WAITING_REQUESTS; other++)
      node.router.queue.run([() => undefined], STAYS).catch(() => undefined);
  };

  it("replies 503 to requests that others have pushed out of the queue", async () => {
    const release = occupy();
    const requests = [
      () => post(JSON.stringify([health(0), search])),
      () => post(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "abci_query", params: { path } })),
      () => fetch(`${node.rpcUrl}/block_search?query="block.height>0"`),
      () => fetch(`${node.rpcUrl}/block_results?height=5`),
    ];
    for (const request of requests) {
      const received = createDeferred<void>();
      const { run } = node.router.queue;
      vi.spyOn(node.router.queue, "run").mockImplementationOnce((calls, waiter) => {
        received.resolve();
        return run(calls, waiter);
      });
      const response = request();
      await received.promise;
      pushOut();
      const refused = await response;
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await refused.text()).toContain("try again later");
      expect((await post(JSON.stringify([health(0), health(1)]))).status).toBe(200);
    }
    const code = callInQueue(
      node.router,
      { path, data: new Uint8Array(0), heights: [] },
      STAYS,
      (reply) => reply.code,
    );
    pushOut();
    expect(await code).toBe(14);
    await release();
    for (const request of requests) expect((await request()).status).toBeLessThan(503);
  });

  it("responds to health, status and a transaction that waits for its block while others are served", async () => {
    const release = occupy();
    const commit = { jsonrpc: "2.0", id: 2, method: "broadcast_tx_commit", params: { tx: "YT0x" } };
    expect((await fetch(`${node.rpcUrl}/status`)).status).toBe(200);
    const late = await (await post(JSON.stringify([health(0), commit]))).text();
    expect(late).toContain("timed out waiting for tx to be included in a block");
    await release();
    // While this one waits for its block, others are served.
    const committing = post(JSON.stringify([commit, search]));
    expect((await post(JSON.stringify(search))).status).toBe(200);
    expect(await (await committing).json()).toHaveLength(2);
  });

  it("pauses after each item of a page", async () => {
    const pause = vi.fn(() => Promise.resolve());
    vi.spyOn(node.router.queue, "run").mockImplementationOnce((calls) =>
      Promise.all(calls.map((queued) => queued(pause))),
    );
    expect(await call("block_search", { query: "block.height>0", per_page: "7" })).toMatchObject({
      result: { blocks: { length: 7 } },
    });
    expect(pause).toHaveBeenCalledTimes(7);
  });

  it("rejects a body over the limit", async () => {
    expect((await post("x".repeat(4_000_001))).status).toBe(413);
  });

  it("rejects a positional call with another number of parameters", async () => {
    expect(await call("block", ["5", "6"])).toMatchObject({
      error: {
        code: -32602,
        data: "error converting json params to arguments: expected 1 parameters ([height]), got 2 ([[34 53 34] [34 54 34]])",
      },
    });
  });

  it.each([
    ["tx", { hash: 5 }, "json: cannot unmarshal number into Go value of type []uint8"],
    ["tx", { hash: "AAA" }, "illegal base64 data at input byte 0"],
    ["tx", { prove: "yes" }, "json: cannot unmarshal string into Go value of type bool"],
    ["abci_query", { path: 1 }, "json: cannot unmarshal number into Go value of type string"],
    ["abci_query", { data: "0g" }, "encoding/hex: invalid byte: U+0067 'g'"],
    ["block", { height: "x" }, "invalid character 'x' looking for beginning of value"],
    [
      "block",
      { height: "9223372036854775808" },
      "json: cannot unmarshal number 9223372036854775808 into Go value of type int64",
    ],
  ])("%s rejects %j", async (method, params, text) => {
    expect(await call(method, params)).toMatchObject({
      error: { code: -32602, data: `error converting json params to arguments: ${text}` },
    });
  });

  it("pages validators, blocks and searches", async () => {
    expect(await call("validators", { page: "2" })).toMatchObject({
      error: { data: "page should be within [1, 1] range, given 2" },
    });
    expect(
      await call("block_search", { query: "block.height >= 1", page: "2", order_by: "asc" }),
    ).toMatchObject({
      result: { total_count: "35", blocks: { length: 5, 0: { block: { header: { height: "31" } } } } },
    });
    expect(await call("block_search", { query: "block.height >= 1", page: "3" })).toMatchObject({
      error: { data: "page should be within [1, 2] range, given 3" },
    });
    expect(await call("blockchain", { maxHeight: "30" })).toMatchObject({
      result: { block_metas: { length: 20, 0: { header: { height: "30" } } } },
    });
  });

  it("returns the genesis document complete and as one chunk", async () => {
    const whole = await call("genesis", {});
    const chunk = await call("genesis_chunked", { chunk: "0" });
    expect(chunk).toMatchObject({ result: { chunk: "0", total: "1" } });
    const data = isRecord(chunk["result"]) ? String(chunk["result"]["data"]) : "";
    expect({ genesis: JSON.parse(fromUtf8(fromBase64(data))) }).toEqual(whole["result"]);
  });

  it("reports a transaction that no block includes in time", async () => {
    expect(await call("broadcast_tx_commit", { tx: toBase64(utf8("late=1")) })).toMatchObject({
      error: { data: "timed out waiting for tx to be included in a block" },
    });
  });

  it("lists all methods on the index page, also those of a WebSocket", async () => {
    const page = await (await fetch(node.rpcUrl)).text();
    const links = [...page.matchAll(/<a href="\/\/[^/]+\/([^"]+)">/g)].map(([, link]) => link);
    expect(links).toEqual(
      expect.arrayContaining(["status?", "subscribe?query=_", "unsubscribe?query=_", "unsubscribe_all?"]),
    );
    expect(links).toEqual(links.toSorted((a = "", b = "") => (a < b ? -1 : 1)));
  });

  it("replies 404 for methods that exist only on a WebSocket", async () => {
    expect((await fetch(`${node.rpcUrl}/subscribe?query="x"`)).status).toBe(404);
  });

  it("bounds the responses of a batch that waits for a block, so that they do not fill the memory", async () => {
    node.view.broadcast(utf8(`long=${"x".repeat(600_000)}`));
    node.control.produce(1);
    const commit = { jsonrpc: "2.0", id: 2, method: "broadcast_tx_commit", params: { tx: "YT0y" } };
    const codes = async (requests: readonly object[]): Promise<readonly unknown[]> => {
      const responses: unknown = await (await post(JSON.stringify(requests))).json();
      return Array.isArray(responses) ? responses.map(({ error }) => error?.code) : [responses];
    };
    expect(await codes([health(0), search, search, search])).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(await codes([search, search, search, commit])).toEqual([undefined, -32000, -32000, -32000]);
  });
});
