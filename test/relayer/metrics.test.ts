import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { createRelayerMetrics, createRpcObserver } from "../../src/relayer/result/relayer-metrics.ts";
import { QUERY_FAILURE_CODES } from "../../src/relayer/registry/query-state.ts";

describe("the relayer's metrics", () => {
  it("start at zero for every outcome of every connection", async () => {
    const registry = new Registry();
    createRelayerMetrics(registry, ["connection-0", "connection-1"]);
    const page = await registry.metrics();
    for (const connection of ["connection-0", "connection-1"]) {
      for (const outcome of ["included", "redundant", "unchanged", ...QUERY_FAILURE_CODES]) {
        expect(page).toContain(
          `relaywatch_relayer_results_total{connection_id="${connection}",outcome="${outcome}"} 0`,
        );
      }
      for (const outcome of ["done", "failed"]) {
        expect(page).toContain(
          `relaywatch_relayer_cycles_total{connection_id="${connection}",outcome="${outcome}"} 0`,
        );
      }
      expect(page).toContain(`relaywatch_relayer_batch_results_count{connection_id="${connection}"} 0`);
    }
    expect(page).toContain("relaywatch_relayer_query_list_reloads_total 0");
  });

  it("count calls by chain, method and outcome, and bytes by direction", async () => {
    const registry = new Registry();
    const observer = createRpcObserver(createRelayerMetrics(registry, []), "local-1");
    observer.onCall({ endpoint: "e", method: "status", outcome: "ok", durationMs: 1 });
    // A transaction that no block has yet was not found, which is no failure.
    observer.onCall({ endpoint: "e", method: "tx", outcome: "rpc", durationMs: 1 });
    observer.onRequest({ endpoint: "e", calls: 1, bytesOut: 10, bytesIn: 20, outcome: "ok" });
    const page = await registry.metrics();
    expect(page).toContain('{chain_id="local-1",method="tx",outcome="not-found"} 1');
    expect(page).toContain(
      'relaywatch_relayer_rpc_calls_total{chain_id="local-1",method="status",outcome="ok"} 1',
    );
    expect(page).toContain('relaywatch_relayer_rpc_bytes_total{chain_id="local-1",direction="sent"} 10');
    expect(page).toContain('relaywatch_relayer_rpc_bytes_total{chain_id="local-1",direction="received"} 20');
  });
});
