import { createSteppingClock } from "../../support/manual-clock.ts";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import { createEndpointPool } from "../../../src/cosmos/client/endpoint-pool.ts";
import { createPooledEndpoint } from "../../../src/cosmos/client/pooled-endpoint.ts";
import type { RpcCaller } from "../../../src/cosmos/client/rpc-caller.ts";
import { statusResult } from "../../support/client/rpc-server.ts";

const signal = new AbortController().signal;
const identity = (result: unknown): unknown => result;

function setUp(
  call: RpcCaller["call"],
  expected: { readonly chainId: string | undefined } = { chainId: "test-1" },
) {
  const clock = createSteppingClock();
  const endpoint = createPooledEndpoint(
    { name: "node", ...expected, rest: { minMs: 0, baseMs: 1_000, maxMs: 3_000 } },
    { caller: { call, close: () => {} }, clock, random: () => 1, logger: silentLogger },
  );
  return { clock, endpoint };
}

function broken(): Promise<never> {
  return Promise.reject(
    new ClientError({ code: "unreachable", endpoint: "node", reason: "ECONNREFUSED" }, "down"),
  );
}

describe("a pooled endpoint", () => {
  it("checks the chain id once for parallel reads", async () => {
    const methods: string[] = [];
    const { endpoint } = setUp(async (method) => {
      methods.push(method);
      return statusResult("test-1", 1n);
    });
    const read = { method: "block", params: {}, decode: identity };
    await Promise.all([endpoint.read(read, signal), endpoint.read(read, signal)]);
    await endpoint.read(read, signal);
    expect(methods).toEqual(["status", "block", "block", "block"]);
  });

  it.each([
    ["status", statusResult("other-1", 1n)],
    ["commit", { signed_header: { header: { chain_id: "other-1" } } }],
    ["header", { header: { chain_id: "other-1" } }],
    ["block", { block: { header: { chain_id: "other-1" } } }],
    ["blockchain", { block_metas: [{ header: { chain_id: "other-1" } }] }],
  ])(
    "believes no %s of another chain, although the node changed between two calls",
    async (method, other) => {
      let isOther = false;
      const { endpoint } = setUp(async (called) =>
        isOther && called === method ? other : statusResult("test-1", 1n),
      );
      const second = setUp(async () => statusResult("test-1", 2n)).endpoint;
      const pool = createEndpointPool([endpoint, second]);
      const read = { method, params: {}, decode: (_result: unknown, name: string) => name };
      await pool.read({ ...read, method: "status" }, signal);
      isOther = true;
      await expect(endpoint.read(read, signal)).rejects.toMatchObject({
        facts: { code: "wrong-chain", expected: "test-1", found: "other-1" },
      });
      expect(endpoint.health()).toMatchObject({ state: "wrong-chain", failures: 1 });
      expect(await pool.read(read, signal)).toBe("node");
      expect(second.health().state).toBe("good");
    },
  );

  it("believes every chain when none is expected", async () => {
    const { endpoint } = setUp(async () => statusResult("other-1", 1n), { chainId: undefined });
    expect(await endpoint.verify(signal)).toMatchObject({ chainId: "other-1" });
    expect(endpoint.health().state).toBe("good");
  });

  it("responds to a read of blocks only while it has all of them", async () => {
    const methods: string[] = [];
    const { endpoint } = setUp(async (method) => {
      methods.push(method);
      return method === "status" ? statusResult("test-1", 90n, 20n) : method;
    });
    const search = (from: bigint, to: bigint): Promise<unknown> =>
      endpoint.read({ method: "tx_search", params: {}, decode: identity, blocks: { from, to } }, signal);
    expect(await search(20n, 90n)).toBe("tx_search");
    methods.length = 0;
    expect(await search(21n, 89n)).toBe("tx_search");
    // In this order in one request.
    expect(methods).toEqual(["status", "tx_search"]);
    await expect(search(20n, 91n)).rejects.toThrow("node has blocks 20 to 90, but not block 91");
    await expect(search(19n, 90n)).rejects.toThrow("node has blocks 20 to 90, but not block 19");
    expect(endpoint.health()).toMatchObject({ state: "good", failures: 0 });
  });

  it("leaves a read of blocks that it does not have to another endpoint", async () => {
    const nodes = [
      [1n, 89n],
      [50n, 95n],
      [1n, 95n],
    ].map(([earliest, latest = 0n], index) => {
      const call = async (method: string) =>
        method === "status" ? statusResult("test-1", latest, earliest) : index;
      return setUp(call).endpoint;
    });
    const search = (from: bigint, to: bigint): Promise<unknown> =>
      createEndpointPool(nodes).read(
        { method: "tx_search", params: {}, decode: identity, blocks: { from, to } },
        signal,
      );
    expect(await search(40n, 80n)).toBe(0);
    expect(await search(60n, 90n)).toBe(1);
    expect(await search(40n, 90n)).toBe(2);
    await expect(search(40n, 96n)).rejects.toThrow("not block 96");
  });

  it("rests longer after each failure and counts parallel failures once", async () => {
    const { clock, endpoint } = setUp(broken);
    const rests: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      await Promise.allSettled([endpoint.verify(signal), endpoint.verify(signal)]);
      await endpoint.verify(signal).catch(() => {});
      rests.push(endpoint.restMs());
      clock.advance(endpoint.restMs());
    }
    expect(rests).toEqual([1_000, 2_000, 3_000, 3_000]);
    expect(endpoint.health()).toEqual({ name: "node", state: "down", failures: 4, lastError: "down" });
  });

  it("is distrusted for ten minutes after a wrong response, then longer, whatever succeeds meanwhile", async () => {
    const lines: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void lines.push(message) };
    const clock = createSteppingClock();
    const endpoint = createPooledEndpoint(
      { name: "node", chainId: "test-1", rest: { minMs: 0, baseMs: 1_000, maxMs: 3_000 } },
      {
        caller: { call: async () => statusResult("test-1", 1n), close: () => {} },
        clock,
        random: () => 1,
        logger,
      },
    );
    expect(endpoint.health().distrusted).toBeUndefined();
    for (let key = 0; key < 3; key++) endpoint.distrust(`key ${key} is not proven`);
    await endpoint.verify(signal);
    expect(endpoint.health()).toMatchObject({ state: "good", distrusted: "key 0 is not proven" });
    expect(endpoint.restMs()).toBe(0);
    expect(lines).toHaveLength(1);
    clock.advance(600_000);
    expect(endpoint.health().distrusted).toBeUndefined();
    endpoint.distrust("again");
    clock.advance(1_199_000);
    expect(endpoint.health().distrusted).toBe("again");
    clock.advance(1_000);
    expect(endpoint.health().distrusted).toBeUndefined();
    expect(lines).toHaveLength(2);
  });

  it("is checked beside the reads once its rest has ended, so that no read waits for a node that hangs", async () => {
    const asked: string[] = [];
    const good = async (): Promise<unknown> => statusResult("test-1", 1n);
    let respond = (_result: unknown): void => {};
    const hanging = new Promise<unknown>((resolve) => {
      respond = resolve;
    });
    let answer: () => Promise<unknown> = good;
    const { clock, endpoint } = setUp((method) => {
      asked.push(method);
      return answer();
    });
    const pool = createEndpointPool([endpoint, setUp(good).endpoint]);
    const read = { method: "block", params: {}, decode: identity };
    answer = broken;
    await pool.read(read, signal);
    answer = () => hanging;
    await pool.read(read, signal);
    expect(asked).toEqual(["status"]);
    clock.advance(endpoint.restMs());
    await Promise.all([pool.read(read, signal), pool.read(read, signal)]);
    await pool.read(read, signal);
    expect(asked).toEqual(["status", "status"]);
    respond(await good());
    await endpoint.verify(signal);
    answer = good;
    await pool.read(read, signal);
    expect(asked).toEqual(["status", "status", "block"]);
  });

  it("checks the chain id again after a failure", async () => {
    let isDown = false;
    const { endpoint } = setUp(async (method) => {
      if (isDown) return broken();
      return method === "status" ? statusResult("test-1", 1n) : "block";
    });
    const read = { method: "block", params: {}, decode: identity };
    await endpoint.read(read, signal);
    isDown = true;
    await expect(endpoint.read(read, signal)).rejects.toThrow("down");
    isDown = false;
    expect(await endpoint.read(read, signal)).toBe("block");
    expect(endpoint.health()).toMatchObject({ state: "good", failures: 0, lastError: undefined });
  });

  it("keeps the shared check running when one caller aborts", async () => {
    let finish = (_value: unknown): void => {};
    const { endpoint } = setUp(() => new Promise((resolve) => (finish = resolve)));
    const stop = new AbortController();
    const leaving = endpoint.verify(stop.signal);
    const staying = endpoint.verify(signal);
    stop.abort(new Error("asked to stop"));
    await expect(leaving).rejects.toThrow("asked to stop");
    finish(statusResult("test-1", 3n));
    expect((await staying).latestHeight).toBe(3n);
  });
});
