import type { Registry } from "prom-client";
import type { RpcObserver } from "../../cosmos/client/rpc-caller.ts";
import { createMetricFactory, type LastingMetrics } from "../../platform/process/lasting-metrics.ts";
import { QUERY_FAILURE_CODES } from "../registry/query-state.ts";
import { registerStatusMetrics, type StatusMetrics } from "../../platform/process/status-metrics.ts";
import { type AttemptSink, type EndedAttempt, NOT_NEEDED } from "../state/attempt.ts";

/** The relayer's counters and histograms. The gauges are in `status-gauges.ts`, and `docs/metrics.md` lists all metrics. */
export type RelayerMetrics = ReturnType<typeof createRelayerMetrics>;

/** Registers the metrics for the given connections. */
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
      help: "Query results by outcome: included (in a local block), redundant (another relayer was faster), unchanged (not sent because of `queries.skip_unchanged`), or an error code.",
      labelNames: ["connection_id", "outcome"],
      zeros: { outcome: ["included", "redundant", "unchanged", ...QUERY_FAILURE_CODES] },
    }),
    proven: counter({
      question: "Is it active?",
      name: "relaywatch_relayer_results_proven_total",
      help: "Query results that the relayer proved. Each proven result becomes an attempt with an outcome.",
      labelNames: ["connection_id"],
    }),
    clientUpdates: counter({
      question: "What does it cost?",
      name: "relaywatch_relayer_client_updates_total",
      help: "Light client updates in included transactions.",
      labelNames: ["connection_id"],
    }),
    lastIncluded: gauge({
      question: "Is it active?",
      name: "relaywatch_relayer_last_included_timestamp_seconds",
      help: "Time at which the relayer last saw one of its results in a block. Absent before the first included result.",
      labelNames: ["connection_id"],
    }),
    cycles: counter({
      question: "Is it active?",
      name: "relaywatch_relayer_cycles_total",
      help: "Cycles in which the relayer read a connection's due queries. The outcome `failed` means that the whole connection failed; failures of single queries are not counted.",
      labelNames: ["connection_id", "outcome"],
      zeros: { outcome: ["done", "failed"] },
    }),
    transactions: counter({
      question: "Is it active?",
      name: "relaywatch_relayer_transactions_total",
      help: "Transactions by outcome: included (succeeded in a block), failed (in a block), refused (by the node), or not-included (in no block). Unless the outcome is included, the relayer sends the results again.",
      labelNames: ["outcome"],
      zeros: { outcome: ["included", "failed", "refused", "not-included"] },
    }),
    simulations: counter({
      question: "What does it cost?",
      name: "relaywatch_relayer_simulations_total",
      help: "Transactions that the relayer simulated.",
    }),
    lateBlocks: histogram({
      question: "Is it current?",
      name: "relaywatch_relayer_due_to_included_blocks",
      help: "Number of local blocks between the height at which a query was due and the block that included its result.",
      labelNames: ["connection_id"],
      buckets: [0, 1, 2, 3, 5, 10, 20, 50, 100],
    }),
    batchSize: histogram({
      question: "What does it cost?",
      name: "relaywatch_relayer_batch_results",
      help: "Results per included transaction and connection.",
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
      help: "Fees paid for transactions in blocks, including failed transactions, in units of the fee denom.",
      labelNames: ["connection_id"],
    }),
    txBytes: counter({
      question: "What does it cost?",
      name: "relaywatch_relayer_tx_bytes_total",
      help: "Encoded size of included transactions, in bytes.",
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
      help: "Size of the bodies of RPC requests (sent) and responses (received), in bytes.",
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

interface GoGaugeSource {
  readonly queries: () => number;
  /** Number of proven results that are not yet in a transaction. */
  readonly queued: () => number;
  readonly deadLetters: () => number;
}

/** The Go relayer's metrics under their original names, for the Go relayer's dashboards. */
export type GoMetrics = ReturnType<typeof createGoMetrics>;

/** Upper bounds of the Go relayer's histogram buckets, in seconds. */
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30];

/** The steps in which the Go relayer builds an update header. This relayer replaces all of these steps with one block read. */
const HEADER_STEPS = ["TrustedHeaderFetcher", "GetIBCUpdateHeader", "GetUpdateClientMsg"] as const;

const GAUGES: StatusMetrics<GoGaugeSource> = {
  queries_to_process: { help: "Served queries.", read: ({ queries }) => queries() },
  subscriber_task_queue_num_elements: {
    help: "Proven results not yet in a transaction.",
    read: ({ queued }) => queued(),
  },
  unsuccessful_txs: {
    help: "Dead letters: remote transactions that are not retried.",
    read: ({ deadLetters }) => deadLetters(),
  },
};

/**
 * Registers the Go relayer's metrics (v0.3.0, `internal/metrics/metrics.go`). The gauges are absent until `readGauges` is called.
 */
export function createGoMetrics(registry: Registry, lasting?: LastingMetrics) {
  const factory = createMetricFactory(registry, lasting);
  const counter = (name: string, help: string) =>
    factory.counter({ name, help, labelNames: ["type"], zeros: { type: ["success", "failed"] } });
  const requests = counter("relayer_requests", "Attempts to answer a query.");
  const proofs = counter("relayer_proofs", "Proven results, whether or not a block includes them.");
  const submitted = counter("submitted_txs", "TX query results, whether or not a block includes them.");
  const histogram = (name: string, help: string) =>
    factory.histogram({ name, help, labelNames: ["method", "type"], buckets: BUCKETS });
  const requestTime = histogram(
    "request_time",
    "Time from reading the remote chain to the end of an attempt.",
  );
  const proofTime = histogram("proof_neutron_time", "Duration of a broadcast to the local chain.");
  const actions = histogram("action_durations", "Duration of reading a remote block for an update header.");
  const record = (attempt: EndedAttempt): void => {
    if (NOT_NEEDED.has(attempt.outcome)) return;
    const type = attempt.outcome === "included" ? "success" : "failed";
    requests.inc({ type });
    requestTime.observe({ method: attempt.type, type }, attempt.durationMs / 1_000);
    // An attempt without a remote height ended before anything was proven.
    if (attempt.remoteHeight === 0n) return;
    proofs.inc({ type });
    if (attempt.type === "tx") submitted.inc({ type });
  };
  return {
    /** Wraps a sink in a sink that also counts attempts. */
    attempts: (inner: AttemptSink): AttemptSink => ({
      note: (attempts) => {
        for (const attempt of attempts) record(attempt);
        inner.note(attempts);
      },
    }),
    /** Wraps an observer in an observer that also measures calls to a chain. */
    observer: (chain: "local" | "remote", inner: RpcObserver): RpcObserver => ({
      ...inner,
      onCall: (call) => {
        const seconds = call.durationMs / 1_000;
        if (chain === "local" && call.method === "broadcast_tx_sync")
          proofTime.observe({ method: "kv", type: call.outcome === "ok" ? "success" : "failed" }, seconds);
        if (chain === "remote" && call.method === "commit" && call.outcome === "ok")
          for (const method of HEADER_STEPS) actions.observe({ method, type: "success" }, seconds);
        inner.onCall(call);
      },
    }),
    readGauges: (source: GoGaugeSource): void => registerStatusMetrics(registry, GAUGES, () => source),
  };
}
