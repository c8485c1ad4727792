import { readFileSync } from "node:fs";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { silentObserver } from "../../src/cosmos/client/rpc-caller.ts";
import type { EndedAttempt } from "../../src/relayer/state/attempt.ts";
import { fixtureFile } from "../support/fixture-file.ts";
import { createGoMetrics } from "../../src/relayer/result/relayer-metrics.ts";

const attempt: EndedAttempt = {
  queryId: 1n,
  connectionId: "connection-0",
  owner: "neutron1owner",
  type: "kv",
  startedAtMs: 1_000,
  durationMs: 400,
  dueHeight: 5n,
  remoteHeight: 9n,
  txHash: undefined,
  outcome: "included",
  reason: undefined,
  localHeight: 6n,
  gas: 1n,
  fee: 1n,
  simulations: 1,
};

/** Names, types and labels on a page, without the metrics of Go and its libraries. */
function families(page: string): ReadonlyMap<string, string> {
  const types = [...page.matchAll(/^# TYPE (\w+) (\w+)/gm)].map(
    ([, name = "", type = ""]) => [name, type] as const,
  );
  return new Map(types.filter(([name]) => !/^(?:go|process|promhttp)_/.test(name)));
}

describe("the metrics of the Go relayer", () => {
  it("have its names and types, as recorded", async () => {
    const registry = new Registry();
    createGoMetrics(registry).readGauges({
      queries: () => 0,
      queued: () => 0,
      deadLetters: () => 0,
    });
    const recorded = families(readFileSync(fixtureFile("go-relayer/metrics.prom"), "utf8"));
    expect(recorded.size).toBe(9);
    const own = families(await registry.metrics());
    expect(Object.fromEntries(own)).toEqual(Object.fromEntries(recorded));
  });

  it("count attempts by type and outcome, and pass them on", async () => {
    const registry = new Registry();
    const passed: EndedAttempt[] = [];
    const sink = createGoMetrics(registry).attempts({ note: (all) => void passed.push(...all) });
    const all: readonly EndedAttempt[] = [
      attempt,
      { ...attempt, type: "tx" },
      { ...attempt, type: "tx", outcome: "rejected" },
      { ...attempt, outcome: "no-such-store", remoteHeight: 0n },
      { ...attempt, outcome: "superseded" },
      { ...attempt, outcome: "redundant" },
      { ...attempt, outcome: "unchanged" },
      { ...attempt, outcome: "removed" },
    ];
    sink.note(all);
    expect(passed).toEqual(all);
    const page = await registry.metrics();
    for (const line of [
      'relayer_requests{type="success"} 2',
      'relayer_requests{type="failed"} 2',
      'relayer_proofs{type="success"} 2',
      'relayer_proofs{type="failed"} 1',
      'submitted_txs{type="success"} 1',
      'submitted_txs{type="failed"} 1',
      'request_time_bucket{le="0.25",method="kv",type="success"} 0',
      'request_time_bucket{le="0.5",method="kv",type="success"} 1',
    ])
      expect(page.split("\n")).toContain(line);
  });

  it("measure broadcasts to the local chain and blocks of remote chains", async () => {
    const registry = new Registry();
    const { observer } = createGoMetrics(registry);
    const call = { endpoint: "x", outcome: "ok", durationMs: 700 };
    observer("local", silentObserver).onCall({ ...call, method: "broadcast_tx_sync" });
    observer("remote", silentObserver).onCall({ ...call, method: "commit" });
    observer("remote", silentObserver).onCall({ ...call, method: "broadcast_tx_sync" });
    observer("local", silentObserver).onCall({ ...call, method: "commit" });
    const page = (await registry.metrics()).split("\n");
    expect(page).toContain('proof_neutron_time_count{method="kv",type="success"} 1');
    for (const method of ["TrustedHeaderFetcher", "GetIBCUpdateHeader", "GetUpdateClientMsg"])
      expect(page).toContain(`action_durations_count{method="${method}",type="success"} 1`);
  });

  it("read the gauges when they are scraped", async () => {
    const registry = new Registry();
    let queries = 3;
    createGoMetrics(registry).readGauges({
      queries: () => queries,
      queued: () => 4,
      deadLetters: () => 5,
    });
    queries = 7;
    const page = (await registry.metrics()).split("\n");
    for (const line of ["queries_to_process 7", "subscriber_task_queue_num_elements 4", "unsuccessful_txs 5"])
      expect(page).toContain(line);
  });
});
