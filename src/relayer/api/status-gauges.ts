import type { Registry } from "prom-client";
import { latestOf, UNANSWERABLE } from "../health/lateness.ts";
import { CONNECTION_PROBLEM_CODES, PROBLEM_CODES, type ProblemCode } from "../health/problems.ts";
import type { RelayerStatus } from "../health/relayer-status.ts";
import { QUERY_FAILURE_CODES, QUERY_STATUSES } from "../registry/query-state.ts";
import { registerMarketGauges } from "./cost-gauges.ts";
import {
  gaugesOf,
  type Reading,
  registerStatusMetrics,
  seconds,
  type StatusMetrics,
} from "../../platform/process/status-metrics.ts";
import { blocksBehind } from "./status-json.ts";

/** Maximum number of queries with their own series. Queries with higher ids have no series, because any contract could add series. */
const MAX_QUERY_SERIES = 200;

const OF_CONNECTIONS: ReadonlySet<ProblemCode> = new Set(CONNECTION_PROBLEM_CODES);

const perConnection = gaugesOf(["connection_id"], ({ connections, queries, nowMs }: RelayerStatus) =>
  connections.map((connection) => {
    const own = queries.filter(({ connectionId }) => connectionId === connection.id);
    return [[connection.id], { ...connection, queries: own, nowMs }] as const;
  }),
);
const perEndpoint = gaugesOf(["chain_id", "endpoint"], ({ endpoints }: RelayerStatus) =>
  endpoints.map((one) => [[one.chainId, one.name], one] as const),
);

const CURRENT: StatusMetrics<RelayerStatus> = {
  relaywatch_relayer_ready: {
    help: "1 if the relayer has no problem, so that GET /readyz returns 200, else 0.",
    read: ({ problems }) => problems.length === 0,
  },
  relaywatch_relayer_problems: {
    help: "Number of current problems by code, as listed by GET /readyz. The label connection_id is empty for problems that affect the whole relayer.",
    by: ["code", "connection_id"],
    read: problemCounts,
  },
  relaywatch_relayer_queries: perConnection(
    "Served queries by state: answered, pending (no result yet), or backing_off (after a failure).",
    ({ queries }) =>
      QUERY_STATUSES.map((state) => [state, queries.filter((query) => query.state === state).length]),
    "state",
  ),
  relaywatch_relayer_overdue_queries: perConnection(
    "Queries that are overdue by more than health.overdue_blocks, excluding queries that fail for reasons specific to the query. If the remote chain has no newer block, a query is included only if the chain has stopped.",
    ({ queries }) => queries.filter(({ lateness }) => lateness.isOverdue).length,
  ),
  relaywatch_relayer_unanswerable_queries: perConnection(
    "Due queries for which no result is possible, by reason: an error specific to the query, or a remote chain without a newer block.",
    ({ queries }) => {
      const late = queries.filter(({ lateness }) => lateness.blocks > 0n);
      return UNANSWERABLE.map((reason) => [
        reason,
        late.filter(({ lateness }) => lateness.unanswerable === reason).length,
      ]);
    },
    "reason",
  ),
  relaywatch_relayer_most_late_blocks: perConnection(
    "Local blocks since the connection's most delayed result was due, ignoring queries that fail for reasons specific to the query. 0 if no query is late.",
    ({ queries }) => latestOf(queries)?.lateness.blocks ?? 0n,
  ),
  relaywatch_relayer_most_late_seconds: perConnection(
    "Duration of the local blocks counted by relaywatch_relayer_most_late_blocks. For blocks that this process did not see, the duration is estimated from the block time. Absent until the block time is known.",
    ({ queries }) => seconds((latestOf(queries)?.lateness ?? { ms: 0 }).ms),
  ),
  relaywatch_relayer_query_late_blocks: {
    help: `Local blocks since the query's result was due, or since the query's registration if the query has no result. Exported for the first ${MAX_QUERY_SERIES} queries only.`,
    by: ["query_id"],
    read: ({ queries }) =>
      queries.slice(0, MAX_QUERY_SERIES).map(({ id, lateness }) => [`${id}`, lateness.blocks]),
  },
  relaywatch_relayer_local_height: {
    help: "The local chain's latest height. Absent before the first block.",
    read: ({ local }) => local.height,
  },
  relaywatch_relayer_local_block_timestamp_seconds: {
    help: "Time in the header of the local chain's latest block.",
    read: ({ local }) => seconds(local.blockTimeMs),
  },
  relaywatch_relayer_local_last_block_seen_timestamp_seconds: {
    help: "Time at which the relayer saw the local chain's latest block.",
    read: ({ local, nowMs }) => seenAt(local.sinceBlockMs, nowMs),
  },
  relaywatch_relayer_remote_height: perConnection(
    "The remote chain's latest height. Absent before the first block.",
    ({ remote }) => remote.height,
  ),
  relaywatch_relayer_remote_block_timestamp_seconds: perConnection(
    "Time in the header of the remote chain's latest block.",
    ({ remote }) => seconds(remote.blockTimeMs),
  ),
  relaywatch_relayer_remote_last_block_seen_timestamp_seconds: perConnection(
    "Time at which the relayer saw the remote chain's latest block.",
    ({ remote, nowMs }) => seenAt(remote.sinceBlockMs, nowMs),
  ),
  relaywatch_relayer_consensus_height: perConnection(
    "Remote height of the light client's newest consensus state.",
    ({ client }) => client.reading?.latestHeight.height,
  ),
  relaywatch_relayer_consensus_lag_blocks: perConnection(
    "Number of remote blocks that are newer than the light client's newest consensus state.",
    ({ client, remote }) => blocksBehind(client, remote),
  ),
  relaywatch_relayer_subscription_connected: {
    help: "1 while the WebSocket to the local chain is connected, else 0.",
    read: ({ connected }) => connected,
  },
};

const SAFE: StatusMetrics<RelayerStatus> = {
  relaywatch_relayer_account_balance: {
    help: "The relayer's account balance in units of the denom. Absent before the first read.",
    by: ["denom"],
    read: ({ account: { balance, denom } }) => [[denom, balance]],
  },
  relaywatch_relayer_account_left_seconds: {
    help: "Time until the balance is spent if this process keeps paying fees at the last day's rate. Absent if this process paid no fees.",
    read: ({ account: { daysLeft } }) => daysLeft && daysLeft * 86_400,
  },
  relaywatch_relayer_client_expiry_timestamp_seconds: perConnection(
    "Time at which the connection's client expires if it is not updated. Absent before the first read.",
    ({ client }) => seconds(client.reading?.expiresAtMs),
  ),
  relaywatch_relayer_client_trusting_period_seconds: perConnection(
    "Time from the client's last update to its expiry. Absent before the first read.",
    ({ client: { reading } }) => reading && Number(reading.trustingPeriodNs) / 1e9,
  ),
  relaywatch_relayer_client_active: perConnection(
    "1 while the connection's client is active, 0 if it is expired or frozen. Absent before the first read.",
    ({ client: { reading } }) => reading && reading.status === "Active",
  ),
  relaywatch_relayer_backing_off_queries: perConnection(
    "Queries that are backing off, by the code of their last failure.",
    ({ queries }) =>
      QUERY_FAILURE_CODES.map((code) => [code, queries.filter(({ error }) => error?.code === code).length]),
    "code",
  ),
  relaywatch_relayer_dead_letters: {
    help: "Number of dead letters, i.e. remote transactions that were rejected or could not be proven. GET /unsuccessful-txs lists them.",
    read: ({ deadLetters }) => deadLetters,
  },
  relaywatch_relayer_endpoint_up: perEndpoint(
    "1 while the last call to the endpoint succeeded, else 0. Absent before the first call.",
    ({ state }) => (state === "unchecked" ? undefined : state === "good"),
  ),
  relaywatch_relayer_endpoint_distrusted: perEndpoint(
    "1 while the relayer prefers other endpoints because this endpoint returned a provably wrong response, else 0.",
    ({ distrusted }) => distrusted !== undefined,
  ),
  relaywatch_relayer_endpoint_lacks: perEndpoint(
    "Number of RPC methods that the endpoint recently could not serve, plus 1 if the endpoint sent oversized responses. The status page and GET /api/status list the methods.",
    ({ lacks }) => lacks?.size ?? 0,
  ),
  relaywatch_relayer_endpoint_batch_size: perEndpoint(
    "Maximum number of calls in one request to the endpoint: the configured number, or a lower number if the endpoint accepts only smaller batches.",
    ({ batchSize }) => batchSize,
  ),
  relaywatch_relayer_endpoint_lag_blocks: perEndpoint(
    "Blocks by which the endpoint lagged behind its chain's best endpoint at the last comparison.",
    ({ lagBlocks }) => lagBlocks,
  ),
  relaywatch_relayer_endpoint_latency_seconds: perEndpoint(
    "Duration of the endpoint's last status request. Absent before the first status request.",
    ({ latencyMs }) => seconds(latencyMs),
  ),
};

export function registerStatusGauges(registry: Registry, status: () => RelayerStatus): void {
  const scraped = oncePerTurn(status);
  registerMarketGauges(registry, () => scraped().market);
  registerStatusMetrics(registry, CURRENT, scraped, "Is it current?");
  registerStatusMetrics(registry, SAFE, scraped, "Is it safe?");
}

/** Caches the status for one turn of the event loop, because a scrape reads all gauges within one turn. */
function oncePerTurn(status: () => RelayerStatus): () => RelayerStatus {
  let current: RelayerStatus | undefined;
  return () => {
    if (current !== undefined) return current;
    current = status();
    setImmediate(() => {
      current = undefined;
    });
    return current;
  };
}

/** Returns the number of current problems for every code and connection, including zeros. */
function problemCounts({ problems, connections }: RelayerStatus): Reading {
  const ids = connections.map(({ id }) => id);
  return PROBLEM_CODES.map((code) => [
    code,
    (OF_CONNECTIONS.has(code) ? ids : code === "starting" ? ["", ...ids] : [""]).map((id) => [
      id,
      problems.filter((one) => one.code === code && (one.connectionId ?? "") === id).length,
    ]),
  ]);
}

/** Converts the time since an event to the event's Unix time in seconds. */
function seenAt(sinceMs: number | undefined, nowMs: number): number | undefined {
  return sinceMs === undefined ? undefined : seconds(nowMs - sinceMs);
}
