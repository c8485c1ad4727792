import { Registry as MetricsRegistry } from "prom-client";
import { describe, expect, it } from "vitest";
import { type Logger, silentLogger } from "../../src/platform/base/logger.ts";
import { ClientError } from "../../src/cosmos/client-error.ts";
import { createNoticeQueue } from "../../src/cosmos/client/events/subscription.ts";
import { followChain } from "../../src/relayer/registry/follow-chain.ts";
import { createRelayerMetrics } from "../../src/relayer/result/relayer-metrics.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createHeightSignal } from "../../src/relayer/registry/registry.ts";

/** A chain under control of the test; `calls` records what `followChain` does. */
function setUp(hasQuery: (id: bigint) => boolean = () => true) {
  const clock = createManualClock(0);
  const queue = createNoticeQueue(100);
  const stop = new AbortController();
  const calls = {
    reloads: 0,
    applied: [] as string[],
    warned: [] as string[],
    heights: [] as bigint[],
    /** heights that the reads of the list asked for, and those of single queries */
    atLeast: [] as bigint[],
    appliedAt: [] as bigint[],
  };
  const chain = { height: 5n, isDown: false, hasStream: true, isListBehind: false, list: Promise.resolve() };
  const height = createHeightSignal(clock, () => {});
  const logger: Logger = { ...silentLogger, warn: (message) => void calls.warned.push(message) };
  const done = followChain(
    {
      chainName: "neutron",
      local: {
        status: async () => {
          if (chain.isDown) throw new Error("the chain is down");
          const { height: latestHeight } = chain;
          return { chainId: "a-1", latestHeight, latestTimeNs: 0n, earliestHeight: 1n, catchingUp: false };
        },
      },
      subscription: { run: async () => {}, next: queue.next, isConnected: () => chain.hasStream },
      registry: {
        reload: async (atLeast) => {
          calls.atLeast.push(atLeast);
          const facts = { code: "height-unavailable", endpoint: "a", height: atLeast } as const;
          if (chain.isListBehind) throw new ClientError(facts, "a is behind");
          await chain.list;
          calls.reloads += 1;
        },
        apply: async ({ action, queryId }, changedAt) => {
          calls.appliedAt.push(changedAt);
          calls.applied.push(`${action} ${queryId}`);
          return hasQuery(queryId);
        },
        reread: async () => {},
        replace: () => {},
        states: () => [],
        state: () => undefined,
        request: () => {},
        reset: () => {},
        resetSignal: () => new AbortController().signal,
      },
      height,
      checkHistory: async (now) => void calls.heights.push(now),
      clock,
      random: () => 1,
      logger,
      metrics: createRelayerMetrics(new MetricsRegistry(), []),
      reloadMs: () => 60_000,
      onLoaded: () => {},
      onLocalError: () => {},
    },
    stop.signal,
  );
  const changes = (...actions: readonly (readonly [string, number])[]): void => changesAt(1n, ...actions);
  const changesAt = (at: bigint, ...actions: readonly (readonly [string, number])[]): void =>
    queue.offer({
      kind: "tx",
      height: at,
      hash: new Uint8Array(),
      code: 0,
      events: actions.map(([action, id]) => ({
        type: "neutron",
        attributes: Object.entries({
          module: "interchainqueries",
          action,
          query_id: `${id}`,
          connection_id: "connection-0",
        }).map(([key, value]) => ({ key, value })),
      })),
    });
  const end = async (): Promise<void> => {
    stop.abort(new Error("stop"));
    await done;
  };
  return { clock, queue, chain, height, calls, changes, changesAt, end };
}

describe("followChain", () => {
  it("reloads the list at the start, after missed events, and once a minute", async () => {
    const { clock, queue, calls, end } = setUp();
    await clock.advance(0);
    expect(calls.reloads).toBe(1);
    queue.offer({ kind: "missed", reason: "cut" });
    await clock.advance(0);
    expect(calls.reloads).toBe(2);
    for (let seconds = 0; seconds < 66; seconds += 3) await clock.advance(3_000);
    expect(calls.reloads).toBe(3);
    expect(calls.heights).toEqual([5n, 5n, 5n]);
    await end();
  });

  it("reads the height when no block is announced", async () => {
    const { clock, chain, height, queue, end } = setUp();
    await clock.advance(0);
    chain.height = 8n;
    await clock.advance(3_000);
    expect(height.now()).toBe(8n);
    queue.offer({ kind: "block", height: 9n, timeNs: 0n });
    await clock.advance(0);
    expect(height.now()).toBe(9n);
    await end();
  });

  it("follows the height while it reads a long list, and applies what changed afterwards", async () => {
    const { clock, chain, height, queue, calls, changesAt, end } = setUp();
    await clock.advance(0);
    let endRead = (): void => {};
    chain.list = new Promise((resolve) => {
      endRead = resolve;
    });
    queue.offer({ kind: "missed", reason: "cut" });
    queue.offer({ kind: "block", height: 6n, timeNs: 0n });
    await clock.advance(0);
    expect(height.now()).toBe(6n);
    changesAt(7n, ["query_updated", 3]);
    queue.offer({ kind: "block", height: 7n, timeNs: 0n });
    await clock.advance(0);
    expect(height.now()).toBe(7n);
    // Without notices it is read, whatever fails in between.
    chain.isDown = true;
    await clock.advance(3_000);
    Object.assign(chain, { isDown: false, height: 9n });
    await clock.advance(3_000);
    expect(height.now()).toBe(9n);
    expect([calls.reloads, calls.applied]).toEqual([1, []]);
    endRead();
    await clock.advance(0);
    expect([calls.reloads, calls.applied]).toEqual([2, ["query_updated 3"]]);
    await end();
  });

  it("polls height and list while there is no event stream", async () => {
    const { clock, chain, height, calls, end } = setUp();
    chain.hasStream = false;
    await clock.advance(0);
    for (let seconds = 1; seconds <= 9; seconds++) {
      chain.height += 1n;
      await clock.advance(1_000);
      expect(height.now()).toBe(chain.height);
    }
    expect(calls.reloads).toBe(1);
    for (let seconds = 0; seconds < 23; seconds++) await clock.advance(1_000);
    expect(calls.reloads).toBe(3);
    await end();
  });

  it("reads the list at once when the stream is silent although the chain goes on, and polls until it speaks", async () => {
    const { clock, chain, calls, height, queue, end } = setUp();
    await clock.advance(0);
    for (let seconds = 0; seconds < 15; seconds += 3) await clock.advance(3_000);
    expect(calls.reloads).toBe(1);
    chain.height += 9n;
    await clock.advance(3_000);
    expect(calls.reloads).toBe(2);
    for (let seconds = 1; seconds <= 9; seconds++) {
      chain.height += 3n;
      await clock.advance(1_000);
      expect(height.now()).toBe(chain.height);
    }
    expect(calls.reloads).toBe(2);
    await clock.advance(1_000);
    await clock.advance(1_000);
    expect(calls.reloads).toBe(3);
    queue.offer({ kind: "block", height: ++chain.height, timeNs: 0n });
    await clock.advance(0);
    // With the stream the height is read after three seconds again.
    chain.height += 1n;
    await clock.advance(2_000);
    expect(height.now()).toBe(chain.height - 1n);
    await clock.advance(1_000);
    expect(height.now()).toBe(chain.height);
    expect(calls.reloads).toBe(3);
    await end();
  });

  it("applies the last change of each query, and wakes the waiters once", async () => {
    const { clock, calls, changes, height, end } = setUp();
    await clock.advance(0);
    const version = height.version();
    changes(["query_updated", 1], ["query_updated", 2], ["query_removed", 1]);
    await clock.advance(0);
    expect(calls.applied).toEqual(["query_removed 1", "query_updated 2"]);
    expect(height.version()).toBe(version + 1);
    await end();
  });

  it("reloads the list instead of applying many changes, and after an update that the endpoint does not have", async () => {
    const { clock, calls, changes, end } = setUp((id) => id !== 7n);
    await clock.advance(0);
    changes(...Array.from({ length: 30 }, (_, id) => ["query_updated", id] as const));
    await clock.advance(0);
    expect([calls.applied, calls.reloads]).toEqual([[], 2]);
    changes(["query_updated", 7]);
    await clock.advance(0);
    expect(calls.reloads).toBe(2);
    await clock.advance(3_000);
    await clock.advance(3_000);
    expect(calls.reloads).toBe(3);
    await end();
  });

  it("reads the list again until it has the block of a change that no endpoint has yet", async () => {
    const { clock, chain, calls, changesAt, end } = setUp(() => false);
    await clock.advance(0);
    // The stream is ahead of the endpoint that is read, which stands at height 5.
    changesAt(9n, ["query_updated", 7]);
    chain.isListBehind = true;
    for (let seconds = 0; seconds < 6; seconds++) await clock.advance(1_000);
    expect(calls.appliedAt).toEqual([9n]);
    expect([...new Set(calls.atLeast)]).toEqual([5n, 9n]);
    expect(calls.reloads).toBe(1);
    chain.isListBehind = false;
    for (let seconds = 0; seconds < 9; seconds++) await clock.advance(1_000);
    expect([calls.reloads, calls.atLeast.at(-1)]).toEqual([2, 9n]);
    await end();
  });

  it("is silent about a list that is behind for a moment, and warns when it stays behind", async () => {
    const { clock, chain, queue, calls, end } = setUp();
    await clock.advance(0);
    chain.isListBehind = true;
    queue.offer({ kind: "missed", reason: "cut" });
    await clock.advance(500);
    expect(calls.atLeast.length).toBeGreaterThan(1);
    expect(calls.warned).toEqual([]);
    for (let seconds = 0; seconds < 60; seconds++) await clock.advance(1_000);
    expect(calls.warned).toEqual(["local chain cannot be read"]);
    await end();
  });

  it("reads the list again when the first block of a new stream shows that blocks lie between", async () => {
    const { clock, queue, calls, end } = setUp();
    await clock.advance(0);
    queue.offer({ kind: "connected" });
    queue.offer({ kind: "block", height: 6n, timeNs: 0n });
    queue.offer({ kind: "block", height: 8n, timeNs: 0n });
    await clock.advance(0);
    expect(calls.atLeast).toEqual([5n, 5n]);
    queue.offer({ kind: "connected" });
    await clock.advance(0);
    queue.offer({ kind: "block", height: 9n, timeNs: 0n });
    await clock.advance(0);
    expect(calls.atLeast).toEqual([5n, 5n, 5n, 8n]);
    await end();
  });

  it("reads the list of a chain that was reset, below the heights that it knew", async () => {
    const { clock, chain, queue, calls, changesAt, end } = setUp();
    await clock.advance(0);
    changesAt(900n, ["query_updated", 7]);
    chain.height = 3n;
    queue.offer({ kind: "connected" });
    await clock.advance(0);
    expect(calls.atLeast).toEqual([5n, 3n]);
    await end();
  });

  it("warns once while the chain cannot be read, and reloads the list afterwards", async () => {
    const { clock, chain, calls, end } = setUp();
    await clock.advance(0);
    chain.isDown = true;
    for (let seconds = 0; seconds < 120; seconds++) await clock.advance(1_000);
    expect(calls.warned).toEqual(["local chain cannot be read"]);
    chain.isDown = false;
    for (let seconds = 0; seconds < 20; seconds++) await clock.advance(1_000);
    expect(calls.reloads).toBe(2);
    await end();
  });
});
