import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { Secret } from "../../../../src/platform/base/secret.ts";
import {
  createChainClient,
  type PooledChainClient,
} from "../../../../src/cosmos/client/create-chain-client.ts";
import { ClientError, type ClientErrorFacts } from "../../../../src/cosmos/client-error.ts";
import { silentObserver } from "../../../../src/cosmos/client/rpc-caller.ts";
import {
  answerCalls,
  type RpcExchange,
  type RpcServer,
  startRpcServer,
  statusResult,
} from "../../../support/client/rpc-server.ts";

/** For endpoints that never respond. */
const SHORT_MS = 300;
/** No test waits for it, however busy the machine is. */
const LONG_MS = 20_000;
const signal = new AbortController().signal;
const opened: { readonly close: () => unknown }[] = [];

afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close();
});

async function serve(handle: (exchange: RpcExchange) => void, port = 0): Promise<RpcServer> {
  const server = await startRpcServer(handle, port);
  opened.push(server);
  return server;
}

function connect(
  urls: readonly string[],
  chainId: string | undefined = "test-1",
  deadlineMs = LONG_MS,
): PooledChainClient {
  const client = createChainClient(
    {
      endpoints: urls.map((url, index) => ({
        url,
        name: `node-${index}`,
        headers: { authorization: new Secret("Bearer t0ken") },
      })),
      chainId,
      limits: { deadlineMs, maxResponseBytes: 50_000, rest: { minMs: 0, baseMs: 1, maxMs: 2 } },
    },
    { clock: systemClock, random: Math.random, logger: silentLogger, observer: silentObserver },
  );
  opened.push(client);
  return client;
}

/** Returns the code of the error, "none" on success. */
async function errorOf(work: Promise<unknown>): Promise<ClientErrorFacts["code"] | "none"> {
  try {
    await work;
    return "none";
  } catch (error) {
    return error instanceof ClientError ? error.facts.code : "none";
  }
}

const good = (exchange: RpcExchange): void =>
  answerCalls(exchange, (method) => (method === "status" ? statusResult("test-1", 7n) : { method }));

describe("a node that misbehaves", () => {
  const cases: readonly (readonly [string, (exchange: RpcExchange) => void, ClientErrorFacts["code"]])[] = [
    ["never responds", () => {}, "timeout"],
    ["sends only headers", ({ response }) => response.writeHead(200).flushHeaders(), "timeout"],
    [
      "stops in the middle of the body",
      ({ response }) => void response.writeHead(200, { "content-length": "100" }).write('[{"id"'),
      "timeout",
    ],
    ["responds with HTML", ({ response }) => response.end("<html>login</html>"), "bad-answer"],
    ["responds with an empty body", ({ response }) => response.end(), "bad-answer"],
    ["responds with a number", ({ reply }) => reply(42), "bad-answer"],
    [
      "responds with another id",
      ({ reply }) => reply({ jsonrpc: "2.0", id: 987_654, result: {} }),
      "bad-answer",
    ],
    [
      "responds with neither result nor error",
      ({ reply, calls }) => reply({ id: calls[0]?.id }),
      "bad-answer",
    ],
    [
      "responds with status 503 and a page",
      ({ response }) => response.writeHead(503).end("no"),
      "http-status",
    ],
    ["responds with a huge body", ({ response }) => response.end(`"${"x".repeat(100_000)}"`), "too-large"],
    ["closes the connection before it responds", ({ request }) => request.socket.end(), "unreachable"],
    ["resets the connection", ({ request }) => request.socket.resetAndDestroy(), "unreachable"],
  ];

  it.each(cases)("%s: every call of a batch rejects with the right error", async (_name, handle, code) => {
    const deadlineMs = code === "timeout" ? SHORT_MS : LONG_MS;
    const client = connect([(await serve(handle)).url], undefined, deadlineMs);
    const calls = Array.from({ length: 5 }, () => errorOf(client.pool.call("block", {}, signal)));
    expect(new Set(await Promise.all(calls))).toEqual(new Set([code]));
  });

  it("responds to half of a batch: the other half is sent again", async () => {
    const server = await serve((exchange) => {
      if (!exchange.isBatch) return good(exchange);
      const half = exchange.calls.slice(0, 3);
      return exchange.reply(half.toReversed().map(({ id, method }) => ({ id, result: { method } })));
    });
    const client = connect([server.url]);
    await client.status(signal);
    const calls = ["a", "b", "c", "d", "e"].map((method) => errorOf(client.pool.call(method, {}, signal)));
    // The two missing calls are sent again, together, and then alone.
    expect(await Promise.all(calls)).toEqual(["none", "none", "none", "none", "none"]);
  });

  it("refuses a batch with one error without id: the calls are sent alone, and later ones too", async () => {
    const server = await serve((exchange) =>
      exchange.isBatch
        ? exchange.reply({
            jsonrpc: "2.0",
            id: null,
            error: { code: -32600, message: "too many", data: "batch" },
          })
        : good(exchange),
    );
    const client = connect([server.url]);
    await client.status(signal);
    const calls = ["a", "b"].map((method) => errorOf(client.pool.call(method, {}, signal)));
    expect(await Promise.all(calls)).toEqual(["none", "none"]);
    expect(client.pool.health().map(({ batchSize }) => batchSize)).toEqual([1]);
  });

  it("does not listen: the call rejects", async () => {
    const server = await startRpcServer(good);
    await server.close();
    expect(await errorOf(connect([server.url]).status(signal))).toBe("unreachable");
  });

  it("restarts: later calls succeed again", async () => {
    const first = await startRpcServer(good);
    const client = connect([first.url]);
    await client.status(signal);
    await first.close();
    expect(await errorOf(client.status(signal))).toBe("unreachable");
    await serve(good, first.port);
    expect((await client.status(signal)).latestHeight).toBe(7n);
  });

  it("closes idle connections: the next read uses a new one", async () => {
    let requests = 0;
    const server = await serve((exchange) => {
      requests += 1;
      good(exchange);
      exchange.response.on("finish", () => exchange.request.socket.destroy());
    });
    const client = connect([server.url]);
    for (let attempt = 0; attempt < 5; attempt++)
      expect((await client.status(signal)).chainId).toBe("test-1");
    expect(requests).toBeGreaterThanOrEqual(5);
  });
});

describe("a connection that ends before the response", () => {
  // Only the sender knows whether it may broadcast to the same node again.
  it.each([
    ["status", "good"],
    ["broadcast_tx_sync", "down"],
  ])("is used for %s: the state of the endpoint is %s", async (method, state) => {
    const requests: string[] = [];
    let left = 0;
    const server = await serve((exchange) => {
      requests.push(exchange.calls[0]?.method ?? "");
      if (left-- > 0) exchange.request.socket.resetAndDestroy();
      else good(exchange);
    });
    const client = connect([server.url, server.url]);
    await client.status(signal);
    requests.length = 0;
    left = 1;
    expect(await errorOf(client.pool.call(method, {}, signal))).toBe("none");
    expect(client.pool.health()[0]?.state).toBe(state);
    expect(requests.filter((one) => one === method)).toHaveLength(2);
  });
});

describe("calls", () => {
  it("of one turn are batched by ten, broadcasts are sent alone, and all carry the bearer token", async () => {
    const sizes: number[] = [];
    const tokens = new Set<string | undefined>();
    const server = await serve((exchange) => {
      sizes.push(exchange.calls.length);
      tokens.add(exchange.request.headers.authorization);
      good(exchange);
    });
    const client = connect([server.url]);
    await client.status(signal);
    sizes.length = 0;
    const methods = [...Array.from({ length: 23 }, () => "block"), "broadcast_tx_sync"];
    await Promise.all(methods.map((method) => client.pool.call(method, {}, signal)));
    expect(sizes.toSorted((a, b) => a - b)).toEqual([1, 3, 10, 10]);
    expect(tokens).toEqual(new Set(["Bearer t0ken"]));
  });

  it("are sent in halves when their responses are too large together", async () => {
    const server = await serve((exchange) =>
      answerCalls(exchange, (method) =>
        method === "status" ? statusResult("test-1", 7n) : "x".repeat(20_000),
      ),
    );
    const client = connect([server.url]);
    await client.status(signal);
    const results = await Promise.all(Array.from({ length: 7 }, () => client.pool.call("big", {}, signal)));
    expect(results).toHaveLength(7);
    expect(new Set(results)).toEqual(new Set(["x".repeat(20_000)]));
  });

  it("reject each with the reason of its own signal, and the others go on", async () => {
    const server = await serve((exchange) => void setTimeout(() => good(exchange), 30));
    const client = connect([server.url]);
    await client.status(signal);
    const stop = new AbortController();
    const stopped = client.pool.call("a", {}, stop.signal);
    const going = client.pool.call("b", {}, signal);
    stop.abort(new Error("asked to stop"));
    await expect(stopped).rejects.toThrow("asked to stop");
    await expect(going).resolves.toEqual({ method: "b" });
  });

  it("reject with closed when the client is closed", async () => {
    const client = connect([(await serve(() => {})).url]);
    const calls = [errorOf(client.status(signal)), errorOf(client.comet.commit(1))];
    client.close();
    expect(await Promise.all(calls)).toEqual(["closed", "closed"]);
    expect(await errorOf(client.status(signal))).toBe("closed");
  });

  it("never have the URL or the token in an error", async () => {
    const server = await serve(({ response }) => response.writeHead(500).end("no"));
    const client = connect([`${server.url}/key-s3cret?apikey=s3cret`]);
    const error = await client.status(signal).catch((thrown: unknown) => thrown);
    const texts = `${String(error)} ${JSON.stringify(error)} ${JSON.stringify(client.pool.health())}`;
    expect(texts).toContain("node-0");
    expect(texts).not.toMatch(/s3cret|t0ken|127\.0\.0\.1/);
  });
});

describe("several endpoints", () => {
  it("are tried in order when one is silent, sends nonsense, or serves another chain", async () => {
    const silent = await serve(() => {});
    const nonsense = await serve((exchange) =>
      answerCalls(exchange, (method) => (method === "status" ? statusResult("test-1", 7n) : { odd: true })),
    );
    const foreign = await serve((exchange) => answerCalls(exchange, () => statusResult("other-9", 9n)));
    const valid = await serve((exchange) =>
      answerCalls(exchange, (method) =>
        method === "status" ? statusResult("test-1", 7n) : { response: { value: "AQI=", height: "7" } },
      ),
    );
    const client = connect([silent.url, nonsense.url, foreign.url, valid.url], "test-1", SHORT_MS);
    const read = await client.grpcQuery("/a.Query/B", new Uint8Array(0), signal);
    expect(read).toEqual(new Uint8Array([1, 2]));
    expect(client.pool.health().map(({ state }) => state)).toEqual(["down", "good", "wrong-chain", "good"]);
    expect(client.pool.health().map(({ lacks }) => lacks?.get("abci_query"))).toEqual([
      undefined,
      "node-1: abci_query.response is not an object; add an endpoint that can",
      undefined,
      undefined,
    ]);
  });

  it("reject with the retryable error when one is down and one serves another chain", async () => {
    const foreign = await serve((exchange) => answerCalls(exchange, () => statusResult("other-9", 9n)));
    const stopped = await startRpcServer(good);
    await stopped.close();
    expect(await errorOf(connect([stopped.url, foreign.url]).status(signal))).toBe("unreachable");
    expect(await errorOf(connect([foreign.url, stopped.url]).status(signal))).toBe("unreachable");
  });

  it("reject with both chain ids when the only one serves another chain", async () => {
    const foreign = await serve((exchange) => answerCalls(exchange, () => statusResult("other-9", 9n)));
    const client = connect([foreign.url]);
    const [check] = await client.pool.check(signal);
    expect(check?.ok).toBe(false);
    await expect(client.status(signal)).rejects.toThrow(/other-9.*test-1/);
  });

  it("are tried in order for a block that the first has not reached", async () => {
    const behind = await serve((exchange) =>
      answerCalls(exchange, (method) => {
        if (method === "status") return statusResult("test-1", 7n);
        throw new Error("height 9 must be less than or equal to the current blockchain height 7");
      }),
    );
    const ahead = await serve((exchange) =>
      answerCalls(exchange, (method) => (method === "status" ? statusResult("test-1", 9n) : "block 9")),
    );
    const client = connect([behind.url, ahead.url]);
    expect(await client.pool.call("block", { height: "9" }, signal)).toBe("block 9");
    expect(client.pool.health().map(({ state }) => state)).toEqual(["good", "good"]);
  });
});
