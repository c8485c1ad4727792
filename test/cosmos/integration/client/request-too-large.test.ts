import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import {
  createChainClient,
  type PooledChainClient,
} from "../../../../src/cosmos/client/create-chain-client.ts";
import { ClientError } from "../../../../src/cosmos/client-error.ts";
import { silentObserver } from "../../../../src/cosmos/client/rpc-caller.ts";
import {
  answerCalls,
  type RpcExchange,
  startRpcServer,
  statusResult,
} from "../../../support/client/rpc-server.ts";

const signal = new AbortController().signal;
const opened: { readonly close: () => unknown }[] = [];

afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close();
});

/** Starts a node and connects a client to it. The endpoint was verified when this returns. */
async function connect(handle: (exchange: RpcExchange) => void): Promise<PooledChainClient> {
  const server = await startRpcServer(handle);
  const client = createChainClient(
    { endpoints: [{ url: server.url }], chainId: "test-1" },
    { clock: systemClock, random: Math.random, logger: silentLogger, observer: silentObserver },
  );
  opened.push(client, server);
  await client.status(signal);
  return client;
}

/** Returns the code of the error, "none" on success. */
async function errorOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "none",
    (error: unknown) => (error instanceof ClientError ? error.facts.code : "unknown"),
  );
}

const good = (exchange: RpcExchange): void =>
  answerCalls(exchange, (method) => (method === "status" ? statusResult("test-1", 7n) : { method }));

/** Responds as CometBFT does to a body above its `max_body_bytes`. */
function limited(exchange: RpcExchange, maxBytes: number): void {
  if (exchange.body.length <= maxBytes) return good(exchange);
  const data = "error reading request body: http: request body too large";
  exchange.reply({ jsonrpc: "2.0", error: { code: -32600, message: "Invalid Request", data } }, 400);
}

const call = (client: PooledChainClient, characters: number): Promise<string> =>
  errorOf(client.pool.call("abci_query", { data: "a".repeat(characters) }, signal));

describe("a request that is too large for the node", () => {
  it("rejects alone; the endpoint stays good and serves the other calls of the batch", async () => {
    const client = await connect((exchange) => limited(exchange, 40_000));
    const calls = [100, 50_000, 100].map((characters) => call(client, characters));
    expect(await Promise.all(calls)).toEqual(["none", "rpc", "none"]);
    expect(client.pool.health().map(({ state }) => state)).toEqual(["good"]);
  });

  it("rejects with the same error behind a reverse proxy", async () => {
    const client = await connect((exchange) =>
      exchange.body.length > 40_000
        ? exchange.response.writeHead(413).end("<html>413</html>")
        : good(exchange),
    );
    expect(await call(client, 50_000)).toBe("http-status");
    expect(client.pool.health().map(({ state }) => state)).toEqual(["good"]);
  });

  it("is not made of several calls that are acceptable alone", async () => {
    const sizes: number[] = [];
    const client = await connect((exchange) => {
      sizes.push(exchange.body.length);
      limited(exchange, 1_000_000);
    });
    const calls = Array.from({ length: 4 }, () => call(client, 600_000));
    expect(await Promise.all(calls)).toEqual(["none", "none", "none", "none"]);
    expect(Math.max(...sizes)).toBeLessThan(700_000);
  });
});
