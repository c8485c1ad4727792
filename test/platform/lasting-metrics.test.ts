import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { createLastingMetrics } from "../../src/platform/process/lasting-metrics.ts";
import { controlTokenOf, readOrCreateToken } from "../../src/platform/process/private-file.ts";
import { createRelayerMetrics } from "../../src/relayer/result/relayer-metrics.ts";

describe("createLastingMetrics", () => {
  it("continues counters and histograms in the registry of the next services", async () => {
    const lasting = createLastingMetrics();
    const first = createRelayerMetrics(new Registry(), ["connection-0"], lasting);
    first.fees.inc({ connection_id: "connection-0" }, 7);
    first.batchSize.observe({ connection_id: "connection-0" }, 3);
    first.lastIncluded.set({ connection_id: "connection-0" }, 11);
    const registry = new Registry();
    const second = createRelayerMetrics(registry, ["connection-0", "connection-1"], lasting);
    second.fees.inc({ connection_id: "connection-0" }, 1);
    const page = await registry.metrics();
    expect(page).toContain('relaywatch_relayer_fees_total{connection_id="connection-0"} 8');
    expect(page).toContain('relaywatch_relayer_batch_results_sum{connection_id="connection-0"} 3');
    expect(page).toContain('relaywatch_relayer_batch_results_count{connection_id="connection-1"} 0');
    expect(page).toContain(
      'relaywatch_relayer_last_included_timestamp_seconds{connection_id="connection-0"} 11',
    );
  });

  it("begins at zero without it", async () => {
    const registry = new Registry();
    createRelayerMetrics(new Registry(), ["connection-0"]).fees.inc({ connection_id: "connection-0" }, 7);
    createRelayerMetrics(registry, ["connection-0"]);
    expect(await registry.metrics()).toContain(
      'relaywatch_relayer_fees_total{connection_id="connection-0"} 0',
    );
  });
});

describe("the token of a daemon", () => {
  it("is created once, for its user only", () => {
    const folder = mkdtempSync(join(tmpdir(), "relaywatch-token-"));
    const stateDir = join(folder, "new", "state");
    const token = controlTokenOf(undefined, stateDir)?.reveal();
    const file = join(stateDir, "control-token");
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(stateDir).mode & 0o777).toBe(0o700);
    expect(readFileSync(file, "utf8").trim()).toBe(token);
    expect(controlTokenOf(undefined, stateDir)?.reveal()).toBe(token);
    expect(controlTokenOf(undefined, undefined)).toBeUndefined();
    writeFileSync(file, "\n");
    expect(() => readOrCreateToken(file)).toThrow(/control-token is empty; delete it/);
    rmSync(folder, { recursive: true });
  });
});
