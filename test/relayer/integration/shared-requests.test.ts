import { describe, expect, it } from "vitest";
import { silentObserver } from "../../../src/cosmos/client/rpc-caller.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { openClient } from "../../../src/relayer/chain-access.ts";
import { answerCalls, startRpcServer, statusResult } from "../../support/client/rpc-server.ts";

const signal = new AbortController().signal;

describe("the relayer's client of a chain", () => {
  it("asks for a light block in the same HTTP request as for the values of its turn", async () => {
    const methods: string[][] = [];
    const server = await startRpcServer((exchange) => {
      methods.push(exchange.calls.map(({ method }) => method));
      answerCalls(exchange, () => statusResult("test-1", 7n));
    });
    const client = openClient(
      { id: "test-1", rpc: [{ url: server.url }] },
      {
        deadlines: { call: 5_000, inclusion: 5_000 },
        rpc: { batch: 10, max_response_bytes: 1_000_000 },
        tls: undefined,
      },
      {
        context: { clock: systemClock, random: Math.random, logger: silentLogger },
        observer: silentObserver,
      },
    );
    await client.status(signal);
    // The responses are none of these methods: both reads fail.
    await Promise.allSettled([
      client.lightBlock(7n, signal),
      client.readStore({ store: "bank", key: new Uint8Array([1]), height: 6n }, signal),
    ]);
    // Behind a load balancer, the nodes of two requests can have different heights.
    expect(methods.find((calls) => calls.includes("commit"))?.toSorted()).toEqual([
      "abci_query",
      "commit",
      "validators",
    ]);
    client.close();
    await server.close();
  });
});
