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
const included = { height: "111", tx_result: { code: 0, gas_used: "5", gas_wanted: "9" } };

/** A node that answers `tx` with each of `answers` in turn, the last one for ever; its height is `height`. */
function nodeWith(answers: readonly (ClientErrorFacts | typeof included)[], height: () => bigint) {
  let asked = 0;
  const clock = createSteppingClock();
  const caller = {
    call: async (method: string): Promise<unknown> => {
      if (method === "status") return statusResult("test-1", height());
      const answer = answers[Math.min(asked, answers.length - 1)];
      asked += 1;
      if (answer === undefined || "height" in answer) return answer;
      throw new ClientError(answer, answer.code);
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
  return { deps, clock, asked: () => asked };
}

describe("waiting for a transaction", () => {
  it("outwaits errors of the endpoint, and looks again", async () => {
    const broken: ClientErrorFacts = { code: "unreachable", endpoint: "node", reason: "ECONNREFUSED" };
    const late: ClientErrorFacts = { code: "timeout", endpoint: "node", method: "tx", afterMs: 9 };
    const { deps, clock } = nodeWith([notFound, broken, broken, late, included], () => 110n);
    expect(await waitForConfirmation(request, deps, signal)).toEqual({
      kind: "included",
      height: 111n,
      gasUsed: 5n,
      gasWanted: 9n,
    });
    expect(clock.sleeps).toEqual([500, 500, 500]);
  });

  it("ends when the timeout height is past, with slack for the index", async () => {
    let height = 119n;
    const { deps } = nodeWith([notFound], () => {
      height += 1n;
      return height;
    });
    expect((await waitForConfirmation(request, deps, signal)).kind).toBe("lost");
    expect(height).toBeGreaterThanOrEqual(123n);
  });

  it("ends at its deadline on a chain that stands still, also without timeout height", async () => {
    const { deps, clock } = nodeWith([notFound], () => 110n);
    const outcome = await waitForConfirmation({ ...request, timeoutHeight: 0n }, deps, signal);
    expect(outcome).toEqual({ kind: "lost", reason: "not in a block after 10000 ms" });
    expect(clock.monotonicMs()).toBe(10_000);
  });

  it("says at once that the node keeps no index", async () => {
    const { deps } = nodeWith([{ ...notFound, data: "transaction indexing is disabled" }], () => 110n);
    await expect(waitForConfirmation(request, deps, signal)).rejects.toThrow("rpc");
  });

  it("looks as soon as a block is announced", async () => {
    const newBlock = createWakeSignal();
    const never = { ...createSteppingClock(), sleep: () => new Promise<void>(() => {}) };
    const { deps, asked } = nodeWith([notFound, notFound, included], () => 110n);
    const waiting = waitForConfirmation(request, { ...deps, clock: never, newBlock }, signal);
    for (let block = 1; block <= 2; block++) {
      while (asked() < block) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      newBlock.wake();
    }
    expect((await waiting).kind).toBe("included");
  });

  it("leaves with the signal's reason", async () => {
    const stop = new AbortController();
    const { deps } = nodeWith([notFound], () => {
      stop.abort(new Error("asked to stop"));
      return 110n;
    });
    await expect(waitForConfirmation(request, deps, stop.signal)).rejects.toThrow("asked to stop");
  });
});
