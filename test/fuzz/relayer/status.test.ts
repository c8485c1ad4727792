import type { Registry as MetricsRegistry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { QueryView, RelayerStatus } from "../../../src/relayer/health/relayer-status.ts";
import { STATUS } from "../../../src/relayer/api/status-json.ts";
import { QUERY_STATUSES } from "../../../src/relayer/registry/query-state.ts";
import { type SimWorld, startWorld } from "./sim-world.ts";

/** Returns the value of a metric with these labels. */
async function sample(
  metrics: MetricsRegistry,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  const values = (await metrics.getSingleMetric(`relaywatch_relayer_${name}`)?.get())?.values ?? [];
  const wanted = Object.entries(labels);
  return values.find((one) => wanted.every(([label, text]) => one.labels[label] === text))?.value;
}

/** Connection 0 works; the remote chain of connection 1 never answers. */
describe("status and metrics of a running relayer", () => {
  let world: SimWorld;
  let status: RelayerStatus;
  beforeAll(async () => {
    world = await startWorld(9);
    world.remotes[1]?.set("hangs", true);
    await world.run(30);
    // The last block was made up to 300 ms ago; its transactions are indexed a moment later.
    await world.clock.advance(400);
    status = world.status();
  });
  afterAll(() => world.stop());

  it("show the height, the connection to the local chain, and the error of each connection", async () => {
    expect(STATUS.json(status)).toMatchObject({
      address: "neutron1relayer",
      local_height: "30",
      connected: true,
      loaded: true,
      connections: [
        { id: "connection-0", error: null },
        { id: "connection-1", error: expect.stringMatching(/./) },
      ],
    });
    expect(await sample(world.metrics, "local_height")).toBe(30);
    expect(await sample(world.metrics, "subscription_connected")).toBe(1);
    expect(await sample(world.metrics, "query_list_reloads_total")).toBeGreaterThan(0);
  });

  it("show how long the balance lasts at the fees of the last day, whatever the owner moved", async () => {
    const seconds = (Number(status.account.balance) / 4) * 600;
    expect(seconds).toBeGreaterThan(0);
    expect(status.account.daysLeft).toBeCloseTo(seconds / 86_400, 9);
    expect(await sample(world.metrics, "account_left_seconds")).toBeCloseTo(seconds, 6);
  });

  it("show the heights of the last results as the local chain has them", () => {
    const heights = (queries: readonly Pick<QueryView, "id" | "lastLocalHeight" | "lastRemoteHeight">[]) =>
      queries.map(({ id, lastLocalHeight, lastRemoteHeight }) => [id, lastLocalHeight, lastRemoteHeight]);
    const onChain = world.local
      .registered()
      .filter(({ type }) => type === "kv")
      .map((query) => ({ ...query, lastRemoteHeight: query.lastRemoteHeight?.height }));
    expect(heights(status.queries.filter(({ type }) => type === "kv"))).toEqual(heights(onChain));
    expect(onChain.filter(({ lastRemoteHeight }) => lastRemoteHeight !== undefined).length).toBeGreaterThan(
      10,
    );
  });

  it("show each query as answered, pending or backing off", async () => {
    const statesOf = (connectionId: string, type: string): ReadonlySet<string> =>
      new Set(
        status.queries
          .filter((query) => query.connectionId === connectionId && query.type === type)
          .map(({ state }) => state),
      );
    expect(statesOf("connection-0", "kv")).toEqual(new Set(["answered", "backing_off"]));
    expect(statesOf("connection-0", "tx")).toEqual(new Set(["answered", "backing_off"]));
    expect(statesOf("connection-1", "kv")).toEqual(new Set(["pending"]));
    for (const connection_id of ["connection-0", "connection-1"]) {
      for (const state of QUERY_STATUSES) {
        const count = status.queries.filter(
          (query) => query.connectionId === connection_id && query.state === state,
        ).length;
        expect([
          connection_id,
          state,
          await sample(world.metrics, "queries", { connection_id, state }),
        ]).toEqual([connection_id, state, count]);
      }
    }
  });

  it("count results, failures, cycles, client updates, gas and bytes", async () => {
    const connection_id = "connection-0";
    const results = status.queries.reduce((sum, query) => sum + query.results, 0);
    expect(await sample(world.metrics, "results_total", { connection_id, outcome: "included" })).toBe(
      results,
    );
    for (const outcome of ["no-such-store", "bad-filter", "read-failed"])
      expect(await sample(world.metrics, "results_total", { connection_id, outcome })).toBeGreaterThan(0);
    expect(await sample(world.metrics, "cycles_total", { connection_id, outcome: "done" })).toBeGreaterThan(
      20,
    );
    const failed = { connection_id: "connection-1", outcome: "failed" };
    expect(await sample(world.metrics, "cycles_total", failed)).toBeGreaterThan(0);
    expect(await sample(world.metrics, "client_updates_total", { connection_id })).toBeGreaterThan(0);
    expect(await sample(world.metrics, "gas_used_total", { connection_id })).toBeCloseTo(
      Number(world.local.node.gasUsed()),
      0,
    );
    expect(await sample(world.metrics, "tx_bytes_total", { connection_id })).toBeGreaterThan(0);
    const batches =
      (await world.metrics.getSingleMetric("relaywatch_relayer_batch_results")?.get())?.values ?? [];
    const valueOf = (suffix: string): number | undefined =>
      batches.find(
        (one) =>
          "metricName" in one &&
          one.metricName === `relaywatch_relayer_batch_results_${suffix}` &&
          one.labels.connection_id === connection_id,
      )?.value;
    expect(valueOf("count")).toBe(world.local.node.transactions());
    expect(valueOf("sum")).toBe(results);
  });

  it("count results whose transaction failed in a full block", async () => {
    const labels = { connection_id: "connection-0", outcome: "not-included" };
    const before = await sample(world.metrics, "results_total", labels);
    world.local.set("full-blocks", true);
    await world.run(10);
    world.local.set("full-blocks", false);
    expect(await sample(world.metrics, "results_total", labels)).toBeGreaterThan(before ?? 0);
  });

  it("show that the connection to the local chain was lost", async () => {
    world.local.set("no-events", true);
    await world.run(10);
    expect(world.status().connected).toBe(false);
    expect(await sample(world.metrics, "subscription_connected")).toBe(0);
    expect(world.status().localHeight).toBeGreaterThan(status.localHeight);
  });
});
