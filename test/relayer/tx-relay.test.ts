import { Registry as MetricsRegistry } from "prom-client";
import { expect, it } from "vitest";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { createSubmissionHealth } from "../../src/relayer/connection/worker.ts";
import { createRegistry } from "../../src/relayer/registry/registry.ts";
import type { ProvenResult } from "../../src/relayer/result/proven-result.ts";
import { createRelayerMetrics } from "../../src/relayer/result/relayer-metrics.ts";
import { createJournal } from "../../src/relayer/state/journal.ts";
import { relayRange } from "../../src/relayer/tx/tx-relay.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { SAMPLE_SETTINGS, sampleQuery, sampleState } from "./samples.ts";

/** Relays two transactions of query 3, found up to remote height 12. */
async function relayTwo() {
  const query = sampleQuery({ id: 3n, type: "tx" });
  const filter = { connectionIds: ["connection-0"], owners: [], queryIds: [], types: ["kv", "tx"] as const };
  const registry = createRegistry(filter, {
    local: { registeredQueries: async () => [query], registeredQuery: async () => query },
    localHeight: () => 50n,
    onRemoved: () => {},
  });
  await registry.reload(0n, new AbortController().signal);
  const journal = createJournal("local-1", { session: { run: async () => [] }, queue: { push: () => {} } });
  const offered: ProvenResult[] = [];
  const worker = {
    connectionId: "connection-0",
    clock: createManualClock(1_000),
    localHeight: () => 50n,
    logger: silentLogger,
    metrics: createRelayerMetrics(new MetricsRegistry(), ["connection-0"]),
    random: () => 0,
    registry,
    settings: SAMPLE_SETTINGS,
    submission: createSubmissionHealth(),
    submitter: {
      offer: (results: readonly ProvenResult[]) => void offered.push(...results),
      withdraw: () => {},
    },
  };
  const queries = {
    tx_lookback_blocks: 100n,
    tx_skip_pruned: true,
    tx_give_up_after: 86_400_000,
    tx_dead_letter_errors: undefined,
  };
  const tx = (hash: string, height: bigint) => ({
    message: new Uint8Array(10),
    hash,
    at: { revision: 1n, height },
  });
  relayRange({ worker, deps: { journal, queries } }, sampleState({ id: 3n, type: "tx" }), {
    proven: [tx("aa", 10n), tx("bb", 11n)],
    upTo: 12n,
    error: undefined,
    started: { wallMs: 1_000, monotonicMs: 1_000 },
  });
  const [first, second] = offered;
  if (first === undefined || second === undefined) throw new Error("two results are offered");
  return { journal, registry, first, second };
}

// A process that is killed between the two outcomes must search the range again.
it("stores a search's progress only once all its transactions have an outcome", async () => {
  const { journal, registry, first, second } = await relayTwo();
  first.onOutcome({ kind: "included", height: 51n });
  expect([journal.searchedTo(3n), registry.state(3n)?.results]).toEqual([undefined, 0]);
  second.onOutcome({ kind: "included", height: 51n });
  expect([journal.searchedTo(3n), registry.state(3n)?.results]).toEqual([12n, 2]);
});

it("stores no progress if a transaction was not sent", async () => {
  const { journal, registry, first, second } = await relayTwo();
  first.onOutcome({ kind: "included", height: 51n });
  second.onOutcome({ kind: "unsent", reason: "the relayer stops", error: undefined });
  expect([journal.searchedTo(3n), registry.state(3n)?.results]).toEqual([undefined, 1]);
});
