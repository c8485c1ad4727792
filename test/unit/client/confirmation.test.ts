import { createWakeSignal } from "../../../src/base/wake-signal.ts";
import { createSteppingClock } from "../../support/manual-clock.ts";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/base/logger.ts";
import { type ConfirmationDeps, waitForConfirmation } from "../../../src/client/tx/confirmation.ts";
import { ClientError, type ClientErrorFacts } from "../../../src/client/errors.ts";
import { createPooledEndpoint } from "../../../src/client/endpoints/pooled-endpoint.ts";
import { createEndpointPool } from "../../../src/client/endpoints/endpoint-pool.ts";
import { statusResult } from "../../support/client/rpc-server.ts";

const signal = new AbortController().signal;
const request = { hash: new Uint8Array(32), timeoutHeight: 120n, deadlineMs: 10_000, pollMs: 500 };
const notFound: ClientErrorFacts = {
  code: "rpc",
  endpoint: "node",
  method: "tx",
  rpcCode: -32603,
  data: "tx (00) not found",
};
const included = { height: "111", tx_result: { code: 0, gas_used: "5", gas_wanted: "9", data: "AQI=" } };

/** A node that responds to `tx` with each of `responses` in turn and repeats the last one. */
function nodeWith(responses: readonly (ClientErrorFacts | typeof included)[], height: () => bigint) {
  let polls = 0;
  const clock = createSteppingClock();
  const caller = {
    call: async (method: string): Promise<unknown> => {
      if (method === "status") return statusResult("test-1", height());
      const response = responses[Math.min(polls, responses.length - 1)];
      polls += 1;
      if (response === undefined || "height" in response) return response;
      throw new ClientError(response, response.code);
    },
    close: () => {},
  };
  const options = { name: "node", chainId: undefined, rest: { minMs: 0, baseMs: 1, maxMs: 1 } };
  const pool = createEndpointPool([
    createPooledEndpoint(options, { caller, clock, random: () => 0, logger: silentLogger }),
  ]);
  const status = async () => ({
    chainId: "test-1",
    latestHeight: height(),
    latestTimeNs: 0n,
    earliestHeight: 1n,
    catchingUp: false,
  });
  const deps: ConfirmationDeps = { client: { pool, status }, clock, newBlock: undefined };
  return { deps, clock, polls: () => polls };
}

describe("waitForConfirmation", () => {
  it("polls again after errors of the endpoint", async () => {
    const unreachable: ClientErrorFacts = { code: "unreachable", endpoint: "node", reason: "ECONNREFUSED" };
    const timeout: ClientErrorFacts = { code: "timeout", endpoint: "node", method: "tx", afterMs: 9 };
    const { deps, clock } = nodeWith([notFound, unreachable, unreachable, timeout, included], () => 110n);
    expect(await waitForConfirmation(request, deps, signal)).toEqual({
      kind: "included",
      height: 111n,
      gasUsed: 5n,
      gasWanted: 9n,
      data: Uint8Array.of(1, 2),
    });
    expect(clock.sleeps).toEqual([500, 500, 500]);
  });

  it("returns lost a few blocks after the timeout height", async () => {
    let height = 119n;
    const { deps } = nodeWith([notFound], () => {
      height += 1n;
      return height;
    });
    expect((await waitForConfirmation(request, deps, signal)).kind).toBe("lost");
    expect(height).toBeGreaterThanOrEqual(123n);
  });

  it("returns lost at its deadline when the chain has halted", async () => {
    const { deps, clock } = nodeWith([notFound], () => 110n);
    const outcome = await waitForConfirmation({ ...request, timeoutHeight: 0n }, deps, signal);
    expect(outcome).toEqual({ kind: "lost", reason: "not in a block after 10000 ms" });
    expect(clock.monotonicMs()).toBe(10_000);
  });

  it("throws at once when the node has no transaction index", async () => {
    const { deps } = nodeWith([{ ...notFound, data: "transaction indexing is disabled" }], () => 110n);
    await expect(waitForConfirmation(request, deps, signal)).rejects.toThrow("rpc");
  });

  it("polls as soon as a block is announced", async () => {
    const newBlock = createWakeSignal();
    const never = { ...createSteppingClock(), sleep: () => new Promise<void>(() => {}) };
    const { deps, polls } = nodeWith([notFound, notFound, included], () => 110n);
    const waiting = waitForConfirmation(request, { ...deps, clock: never, newBlock }, signal);
    for (let block = 1; block <= 2; block++) {
      while (polls() < block) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      newBlock.wake();
    }
    expect((await waiting).kind).toBe("included");
  });

  it("rejects with the signal's reason", async () => {
    const stop = new AbortController();
    const { deps } = nodeWith([notFound], () => {
      stop.abort(new Error("asked to stop"));
      return 110n;
    });
    await expect(waitForConfirmation(request, deps, stop.signal)).rejects.toThrow("asked to stop");
  });
});
