import { Registry as MetricsRegistry } from "prom-client";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { createRelayerMetrics } from "../../src/relayer/result/relayer-metrics.ts";
import { recordFailure } from "../../src/relayer/connection/worker.ts";
import { isDue, type QueryState } from "../../src/relayer/registry/query-state.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { sampleState } from "./samples.ts";

describe("a jump of the wall clock", () => {
  it.each([-3_600_000, 0, 3_600_000])("by %i ms changes no backoff", async (jumpMs) => {
    const manual = createManualClock(5_000_000);
    const clock = { ...manual, nowMs: () => manual.nowMs() + jumpMs };
    let state: QueryState = sampleState();
    const registry = {
      state: () => state,
      replace: (_before: QueryState, after: QueryState) => {
        state = after;
      },
    };
    const unused = (): never => {
      throw new Error("not used");
    };
    recordFailure(
      {
        connectionId: "connection-0",
        registry: {
          ...registry,
          reload: unused,
          reread: unused,
          apply: unused,
          states: unused,
          reset: unused,
          resetSignal: unused,
          request: unused,
        },
        clock,
        random: () => 1,
        logger: silentLogger,
        metrics: createRelayerMetrics(new MetricsRegistry(), []),
        settings: {
          queries: { allow_kv_callbacks: true, min_kv_update_period: 0n, skip_unchanged: 0 },
          batch: { bytes: 1 },
          retry: { first: 1_000, most: 1_000 },
        },
      },
      state.query,
      { code: "read-failed", reason: "no" },
    );
    await manual.advance(999);
    expect(isDue(state, 10n, clock.monotonicMs())).toBe(false);
    await manual.advance(1);
    expect(isDue(state, 10n, clock.monotonicMs())).toBe(true);
  });
});
