import type { Registry } from "prom-client";
import type { RpcObserver } from "../../cosmos/client/rpc-caller.ts";
import { createMetricFactory, type LastingMetrics } from "../../platform/process/lasting-metrics.ts";
import { QUERY_FAILURE_CODES } from "../registry/query-state.ts";

/** The relayer's counters and histograms. `status-gauges.ts` contains its gauges; `docs/metrics.md` lists all metrics. */
export type RelayerMetrics = ReturnType<typeof createRelayerMetrics>;

/** Registers the metrics, one row each. */
export function createRelayerMetrics(
  registry: Registry,
  connectionIds: readonly string[],
  lasting?: LastingMetrics,
) {
  const known = { connection_id: connectionIds };
  const { counter, gauge, histogram } = createMetricFactory(registry, lasting, known);
  return {
    results: counter({
      question: "Is it active?",
      name: "relaywatch_relayer_results_total",
      help: "Query results by outcome: included in a block of the local chain, redundant because another relayer was faster, unchanged and not sent (`queries.skip_unchanged`), or the code of the failure.",
      labelNames: ["connection_id", "outcome"],
      zeros: { outcome: ["included", "redundant", "unchanged", ...QUERY_FAILURE_CODES] },
    }),
    proven: counter({
      question: "Is it active?",
      name: "relaywatch_relayer_results_proven_total",
      help: "Proven results. Each ends as an attempt with an outcome.",
      labelNames: ["connection_id"],
    }),
    clientUpdates: counter({
      question: "What does it cost?",
      name: "relaywatch_relayer_client_updates_total",
      help: "Client updates in included transactions.",
      labelNames: ["connection_id"],
    }),
    lastIncluded: gauge({
      question: "Is it active?",
      name: "relaywatch_relayer_last_included_timestamp_seconds",
      help: "Time at which the relayer last saw one of its results in a block. Absent before the first one.",
      labelNames: ["connection_id"],
    }),
    cycles: counter({
      question: "Is it active?",
      name: "relaywatch_relayer_cycles_total",
      help: "Cycles over the due queries. Outcome failed means a connection error, not a query error.",
      labelNames: ["connection_id", "outcome"],
      zeros: { outcome: ["done", "failed"] },
    }),
    transactions: counter({
      question: "Is it active?",
      name: "relaywatch_relayer_transactions_total",
      help: "Transactions by outcome: included, failed in a block, refused by the node, or not included in any block. Results of the last three outcomes are sent again.",
      labelNames: ["outcome"],
      zeros: { outcome: ["included", "failed", "refused", "not-included"] },
    }),
    simulations: counter({
      question: "What does it cost?",
      name: "relaywatch_relayer_simulations_total",
      help: "Simulated transactions.",
    }),
    lateBlocks: histogram({
      question: "Is it current?",
      name: "relaywatch_relayer_due_to_included_blocks",
      help: "Local blocks between the height at which a query was due and its result's inclusion.",
      labelNames: ["connection_id"],
      buckets: [0, 1, 2, 3, 5, 10, 20, 50, 100],
    }),
    batchSize: histogram({
      question: "What does it cost?",
      name: "relaywatch_relayer_batch_results",
      help: "Number of a connection's results in an included transaction.",
      labelNames: ["connection_id"],
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 400],
    }),
    gasUsed: counter({
      question: "What does it cost?",
      name: "relaywatch_relayer_gas_used_total",
      help: "Gas used by included transactions.",
      labelNames: ["connection_id"],
    }),
    fees: counter({
      question: "What does it cost?",
      name: "relaywatch_relayer_fees_total",
      help: "Fees of transactions in blocks, including failed ones, in units of the fee denom.",
      labelNames: ["connection_id"],
    }),
    txBytes: counter({
      question: "What does it cost?",
      name: "relaywatch_relayer_tx_bytes_total",
      help: "Encoded bytes of included transactions.",
      labelNames: ["connection_id"],
    }),
    queryListReloads: counter({
      question: "Is it active?",
      name: "relaywatch_relayer_query_list_reloads_total",
      help: "Complete reads of the query list: at startup, once a minute, and after missed events.",
    }),
    prunedBlocks: counter({
      question: "Is it active?",
      name: "relaywatch_relayer_tx_pruned_blocks_total",
      help: "Remote blocks that TX queries skipped because every endpoint has pruned them.",
      labelNames: ["connection_id"],
    }),
    rpcCalls: counter({
      question: "What does it cost?",
      name: "relaywatch_relayer_rpc_calls_total",
      help: "RPC calls by chain, method and outcome: ok, not-found for a transaction that is not in a block yet, or the error's code.",
      labelNames: ["chain_id", "method", "outcome"],
    }),
    rpcBytes: counter({
      question: "What does it cost?",
      name: "relaywatch_relayer_rpc_bytes_total",
      help: "Bytes of RPC requests (sent) and responses (received), bodies only.",
      labelNames: ["chain_id", "direction"],
    }),
  };
}

/** Creates an observer that counts RPC traffic with one chain. */
export function createRpcObserver(metrics: RelayerMetrics, chain_id: string): RpcObserver {
  return {
    // The relayer looks up a transaction in flight until a block includes it. A lookup that finds nothing is not a failed call.
    onCall: ({ method, outcome }) =>
      metrics.rpcCalls.inc({
        chain_id,
        method,
        outcome: method === "tx" && outcome === "rpc" ? "not-found" : outcome,
      }),
    onRequest: ({ bytesOut, bytesIn }) => {
      metrics.rpcBytes.inc({ chain_id, direction: "sent" }, bytesOut);
      metrics.rpcBytes.inc({ chain_id, direction: "received" }, bytesIn);
    },
  };
}
