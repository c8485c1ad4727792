import { Registry as MetricsRegistry } from "prom-client";
import { describe, expect, it } from "vitest";
import { type Logger, silentLogger } from "../../../src/base/logger.ts";
import { createNoticeQueue } from "../../../src/client/events/notice-queue.ts";
import { followChain } from "../../../src/relayer/registry/follow-chain.ts";
import { createHeightSignal } from "../../../src/relayer/registry/height-signal.ts";
import { createRelayerMetrics } from "../../../src/relayer/api/metrics.ts";
import { createManualClock } from "../../support/manual-clock.ts";

/** A chain that the test drives; notes what is read of it and told about it. */
function setUp(knows: (id: bigint) => boolean = () => true) {
  const clock = createManualClock(0);
  const queue = createNoticeQueue(100);
  const stop = new AbortController();
  const seen = { reloads: 0, applied: [] as string[], warned: [] as string[], noted: [] as bigint[] };
  const chain = { height: 5n, isDown: false };
  const height = createHeightSignal(clock, () => {});
  const logger: Logger = { ...silentLogger, warn: (message) => void seen.warned.push(message) };
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
      subscription: { run: async () => {}, next: queue.next, isConnected: () => true },
      registry: {
        reload: async () => void (seen.reloads += 1),
        apply: async ({ action, queryId }) => {
          seen.applied.push(`${action} ${queryId}`);
          return knows(queryId);
        },
        replace: () => {},
        states: () => [],
      },
      height,
      journal: { noteLocalHeight: (now) => void seen.noted.push(now) },
      clock,
      random: () => 1,
      logger,
      metrics: createRelayerMetrics(new MetricsRegistry(), []),
      onLoaded: () => {},
    },
    stop.signal,
  );
  const changes = (...told: readonly (readonly [string, number])[]): void =>
    queue.offer({
      kind: "tx",
      height: 1n,
      hash: new Uint8Array(),
      code: 0,
      events: told.map(([action, id]) => ({
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
  return { clock, queue, chain, height, seen, changes, end };
}

describe("following the local chain", () => {
  it("reads the list at the start, when something was missed, and once a minute", async () => {
    const { clock, queue, seen, end } = setUp();
    await clock.advance(0);
    expect(seen.reloads).toBe(1);
    queue.offer({ kind: "missed", reason: "cut" });
    await clock.advance(0);
    expect(seen.reloads).toBe(2);
    for (let seconds = 0; seconds < 66; seconds += 3) await clock.advance(3_000);
    expect(seen.reloads).toBe(3);
    expect(seen.noted).toEqual([5n, 5n, 5n]);
    await end();
  });

  it("asks for the height when no block is told of", async () => {
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

  it("applies the last change of each query, and wakes who waits", async () => {
    const { clock, seen, changes, height, end } = setUp();
    await clock.advance(0);
    const version = height.version();
    changes(["query_updated", 1], ["query_updated", 2], ["query_removed", 1]);
    await clock.advance(0);
    expect(seen.applied).toEqual(["query_removed 1", "query_updated 2"]);
    expect(height.version()).toBe(version + 1);
    await end();
  });

  it("reads the list instead of very many changes, and soon again after one that the endpoint did not know", async () => {
    const { clock, seen, changes, end } = setUp((id) => id !== 7n);
    await clock.advance(0);
    changes(...Array.from({ length: 30 }, (_, id) => ["query_updated", id] as const));
    await clock.advance(0);
    expect([seen.applied, seen.reloads]).toEqual([[], 2]);
    changes(["query_updated", 7]);
    await clock.advance(0);
    expect(seen.reloads).toBe(2);
    await clock.advance(3_000);
    await clock.advance(3_000);
    expect(seen.reloads).toBe(3);
    await end();
  });

  it("tells once that the chain can't be read, and reads everything when it can again", async () => {
    const { clock, chain, seen, end } = setUp();
    await clock.advance(0);
    chain.isDown = true;
    for (let seconds = 0; seconds < 120; seconds++) await clock.advance(1_000);
    expect(seen.warned).toEqual(["local chain can't be read"]);
    chain.isDown = false;
    for (let seconds = 0; seconds < 20; seconds++) await clock.advance(1_000);
    expect(seen.reloads).toBe(2);
    await end();
  });
});
