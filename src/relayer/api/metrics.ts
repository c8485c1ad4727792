import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { RpcObserver } from "../../client/rpc/rpc-caller.ts";
import { QUERY_FAULT_CODES } from "../registry/query-state.ts";

/** Everything that the relayer measures; names and meanings in its README. */
export interface RelayerMetrics {
  readonly results: Counter<"connection_id" | "outcome">;
  readonly clientUpdates: Counter<"connection_id">;
  readonly rounds: Counter<"connection_id" | "outcome">;
  readonly batchSize: Histogram<"connection_id">;
  readonly gasUsed: Counter<"connection_id">;
  readonly txBytes: Counter<"connection_id">;
  readonly queries: Gauge<"connection_id" | "state">;
  readonly localHeight: Gauge<string>;
  readonly connected: Gauge<string>;
  readonly reloads: Counter<string>;
  readonly accountBalance: Gauge<"denom">;
  readonly clientExpiry: Gauge<"connection_id">;
  readonly rpcCalls: Counter<"chain_id" | "method" | "outcome">;
  readonly rpcBytes: Counter<"chain_id" | "direction">;
}

/** States that `relaywatch_relayer_queries` counts. */
const QUERY_STATES = ["answered", "waiting", "held"] as const;

/** Registers the relayer's metrics, with every closed label set at zero. */
export function createRelayerMetrics(registry: Registry, connectionIds: readonly string[]): RelayerMetrics {
  const registers = [registry];
  const metrics: RelayerMetrics = {
    results: new Counter({
      name: "relaywatch_relayer_results_total",
      help: "Query results by what became of them; included means in a block with code 0.",
      labelNames: ["connection_id", "outcome"],
      registers,
    }),
    clientUpdates: new Counter({
      name: "relaywatch_relayer_client_updates_total",
      help: "Client updates in included transactions.",
      labelNames: ["connection_id"],
      registers,
    }),
    rounds: new Counter({
      name: "relaywatch_relayer_rounds_total",
      help: "Rounds of due queries; failed means that the connection, not a query, was at error.",
      labelNames: ["connection_id", "outcome"],
      registers,
    }),
    batchSize: new Histogram({
      name: "relaywatch_relayer_batch_results",
      help: "Results per included transaction.",
      labelNames: ["connection_id"],
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 400],
      registers,
    }),
    gasUsed: new Counter({
      name: "relaywatch_relayer_gas_used_total",
      help: "Gas used by included transactions.",
      labelNames: ["connection_id"],
      registers,
    }),
    txBytes: new Counter({
      name: "relaywatch_relayer_tx_bytes_total",
      help: "Size of included transactions.",
      labelNames: ["connection_id"],
      registers,
    }),
    queries: new Gauge({
      name: "relaywatch_relayer_queries",
      help: "Served queries: answered at least once, waiting for a first result, or held back after an error.",
      labelNames: ["connection_id", "state"],
      registers,
    }),
    localHeight: new Gauge({
      name: "relaywatch_relayer_local_height",
      help: "Latest local height seen.",
      registers,
    }),
    connected: new Gauge({
      name: "relaywatch_relayer_subscription_connected",
      help: "Whether the local chain's WebSocket is connected.",
      registers,
    }),
    reloads: new Counter({
      name: "relaywatch_relayer_reloads_total",
      help: "Times that the whole list of queries was read: at start, once a minute, and after lost events.",
      registers,
    }),
    accountBalance: new Gauge({
      name: "relaywatch_relayer_account_balance",
      help: "Coins of the account that pays, in the smallest unit. Absent until it was read.",
      labelNames: ["denom"],
      registers,
    }),
    clientExpiry: new Gauge({
      name: "relaywatch_relayer_client_expiry_timestamp_seconds",
      help: "When the connection's client expires unless it is updated before. Absent until it was read.",
      labelNames: ["connection_id"],
      registers,
    }),
    rpcCalls: new Counter({
      name: "relaywatch_relayer_rpc_calls_total",
      help: "RPC calls by chain, method and how they ended.",
      labelNames: ["chain_id", "method", "outcome"],
      registers,
    }),
    rpcBytes: new Counter({
      name: "relaywatch_relayer_rpc_bytes_total",
      help: "Bytes of RPC requests sent and answers received, bodies only.",
      labelNames: ["chain_id", "direction"],
      registers,
    }),
  };
  for (const connection_id of connectionIds) zero(metrics, connection_id);
  return metrics;
}

function zero(metrics: RelayerMetrics, connection_id: string): void {
  for (const outcome of ["included", ...QUERY_FAULT_CODES])
    metrics.results.inc({ connection_id, outcome }, 0);
  for (const outcome of ["done", "failed"]) metrics.rounds.inc({ connection_id, outcome }, 0);
  for (const state of QUERY_STATES) metrics.queries.set({ connection_id, state }, 0);
  metrics.clientUpdates.inc({ connection_id }, 0);
  metrics.gasUsed.inc({ connection_id }, 0);
  metrics.txBytes.inc({ connection_id }, 0);
  metrics.batchSize.zero({ connection_id });
}

/** Counts the RPC traffic with one chain. */
export function createRpcObserver(metrics: RelayerMetrics, chain_id: string): RpcObserver {
  return {
    onCall: ({ method, outcome }) => metrics.rpcCalls.inc({ chain_id, method, outcome }),
    onRequest: ({ bytesOut, bytesIn }) => {
      metrics.rpcBytes.inc({ chain_id, direction: "sent" }, bytesOut);
      metrics.rpcBytes.inc({ chain_id, direction: "received" }, bytesIn);
    },
  };
}
