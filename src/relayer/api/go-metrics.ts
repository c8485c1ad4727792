import type { Registry } from "prom-client";
import { createMetricFactory, type LastingMetrics } from "../../platform/process/lasting-metrics.ts";
import { registerStatusMetrics, type StatusMetrics } from "../../platform/process/status-metrics.ts";
import type { RpcObserver } from "../../cosmos/client/rpc-caller.ts";
import { type AttemptSink, type EndedAttempt, NOT_NEEDED } from "../state/attempt.ts";

interface GoGaugeSource {
  readonly queries: () => number;
  /** Proven results that are not yet in a transaction. */
  readonly queued: () => number;
  readonly deadLetters: () => number;
}

/** The Go relayer's metrics under their original names, for dashboards built for it. */
export type GoMetrics = ReturnType<typeof createGoMetrics>;

/** Upper bounds of the Go relayer's histogram buckets, in seconds. */
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30];

/** The steps in which the Go relayer builds an update header. This relayer reads a remote block once for all three steps. */
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

/** Registers the metrics (v0.3.0, `internal/metrics/metrics.go`). The gauges are absent until `readGauges` is called. */
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
    /** Wraps a sink so that it also counts attempts. */
    attempts: (inner: AttemptSink): AttemptSink => ({
      note: (attempts) => {
        for (const attempt of attempts) record(attempt);
        inner.note(attempts);
      },
    }),
    /** Wraps an observer so that it also measures calls to a chain. */
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
