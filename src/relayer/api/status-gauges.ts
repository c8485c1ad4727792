import type { Registry } from "prom-client";
import {
  answering,
  knownSeries,
  registerStatusMetrics,
  secondsSeries,
  type Series,
  series,
} from "../../platform/process/status-metrics.ts";
import { registerMarketGauges } from "../forecast/market-outputs.ts";
import { latestOf, UNANSWERABLE } from "../health/lateness.ts";
import { CONNECTION_PROBLEM_CODES, PROBLEM_CODES, type ProblemCode } from "../health/problems.ts";
import type { ConnectionStatus, QueryView, RelayerStatus } from "../health/relayer-status.ts";
import { QUERY_FAILURE_CODES, QUERY_STATUSES } from "../registry/query-state.ts";
import { blocksBehind } from "./status-json.ts";

/** Maximum number of queries with their own series, in id order. Without this limit, any contract could add series. */
const MAX_QUERY_SERIES = 200;

const OF_CONNECTIONS: ReadonlySet<ProblemCode> = new Set(CONNECTION_PROBLEM_CODES);

const STATUS_GAUGES = [
  ...answering<RelayerStatus>("Is it current?", [
    {
      name: "relaywatch_relayer_ready",
      help: "1 if the relayer has no problem, like GET /readyz, else 0.",
      labelNames: [],
      values: ({ problems }) => [series(problems.length === 0 ? 1 : 0)],
    },
    {
      name: "relaywatch_relayer_problems",
      help: "Current problems by code: the reasons in GET /readyz. connection_id is empty for problems of the whole relayer.",
      labelNames: ["code", "connection_id"],
      values: problemSeries,
    },
    {
      name: "relaywatch_relayer_queries",
      help: "Served queries by state: answered, pending (no result yet), or backing_off (after a failure).",
      labelNames: ["connection_id", "state"],
      values: (status) =>
        perConnection(status, (_connection, queries) =>
          QUERY_STATUSES.map((state) =>
            series(queries.filter((query) => query.state === state).length, { state }),
          ),
        ),
    },
    {
      name: "relaywatch_relayer_overdue_queries",
      help: "Queries overdue by more than health.overdue_blocks, excluding queries with a failure of their own. A query without a newer remote block counts only if the remote chain has stopped.",
      labelNames: ["connection_id"],
      values: (status) =>
        perConnection(status, (_connection, queries) => [
          series(queries.filter(({ lateness }) => lateness.isOverdue).length),
        ]),
    },
    {
      name: "relaywatch_relayer_unanswerable_queries",
      help: "Due queries that cannot have a result, by reason: a failure of their own, or no newer remote block.",
      labelNames: ["connection_id", "reason"],
      values: (status) =>
        perConnection(status, (_connection, queries) =>
          UNANSWERABLE.map((reason) =>
            series(
              queries.filter(({ lateness }) => lateness.blocks > 0n && lateness.unanswerable === reason)
                .length,
              { reason },
            ),
          ),
        ),
    },
    {
      name: "relaywatch_relayer_most_late_blocks",
      help: "Local blocks since the result of the connection's most delayed query was due, excluding queries with a failure of their own. 0 when none is late.",
      labelNames: ["connection_id"],
      values: (status) =>
        perConnection(status, (_connection, queries) => [
          series(Number(latestOf(queries)?.lateness.blocks ?? 0n)),
        ]),
    },
    {
      name: "relaywatch_relayer_most_late_seconds",
      help: "Time covered by the local blocks in relaywatch_relayer_most_late_blocks, estimated from the block time for blocks that this process did not see. Absent until that is known.",
      labelNames: ["connection_id"],
      values: (status) =>
        perConnection(status, (_connection, queries) =>
          secondsSeries((latestOf(queries)?.lateness ?? { ms: 0 }).ms),
        ),
    },
    {
      name: "relaywatch_relayer_query_late_blocks",
      help: `Local blocks since the query's result was due, or since its registration if it has none, for the first ${MAX_QUERY_SERIES} queries.`,
      labelNames: ["query_id"],
      values: ({ queries }) =>
        queries
          .slice(0, MAX_QUERY_SERIES)
          .map(({ id, lateness }) => series(Number(lateness.blocks), { query_id: `${id}` })),
    },
    {
      name: "relaywatch_relayer_local_height",
      help: "Latest height of the local chain. Absent before the first block.",
      labelNames: [],
      values: ({ local }) => knownSeries(local.height),
    },
    {
      name: "relaywatch_relayer_local_block_timestamp_seconds",
      help: "Time in the header of the latest block of the local chain.",
      labelNames: [],
      values: ({ local }) => secondsSeries(local.blockTimeMs),
    },
    {
      name: "relaywatch_relayer_local_last_block_seen_timestamp_seconds",
      help: "Time at which the relayer saw the latest block of the local chain.",
      labelNames: [],
      values: ({ local, nowMs }) => seenAt(local.sinceBlockMs, nowMs),
    },
    {
      name: "relaywatch_relayer_remote_height",
      help: "Latest height of the connection's remote chain. Absent before the first block.",
      labelNames: ["connection_id"],
      values: (status) => perConnection(status, ({ remote }) => knownSeries(remote.height)),
    },
    {
      name: "relaywatch_relayer_remote_block_timestamp_seconds",
      help: "Time in the header of the latest block of the connection's remote chain.",
      labelNames: ["connection_id"],
      values: (status) => perConnection(status, ({ remote }) => secondsSeries(remote.blockTimeMs)),
    },
    {
      name: "relaywatch_relayer_remote_last_block_seen_timestamp_seconds",
      help: "Time at which the relayer saw the latest block of the connection's remote chain.",
      labelNames: ["connection_id"],
      values: (status) => perConnection(status, ({ remote }) => seenAt(remote.sinceBlockMs, status.nowMs)),
    },
    {
      name: "relaywatch_relayer_consensus_height",
      help: "Remote height of the newest consensus state of the connection's light client.",
      labelNames: ["connection_id"],
      values: (status) =>
        perConnection(status, ({ client: { reading } }) => knownSeries(reading?.latestHeight.height)),
    },
    {
      name: "relaywatch_relayer_consensus_lag_blocks",
      help: "Remote blocks after the newest consensus state of the connection's light client.",
      labelNames: ["connection_id"],
      values: (status) =>
        perConnection(status, ({ client, remote }) => knownSeries(blocksBehind(client, remote))),
    },
    {
      name: "relaywatch_relayer_subscription_connected",
      help: "1 while the WebSocket to the local chain is connected, else 0.",
      labelNames: [],
      values: ({ connected }) => [series(connected ? 1 : 0)],
    },
  ]),
  ...answering<RelayerStatus>("Is it safe?", [
    {
      name: "relaywatch_relayer_account_balance",
      help: "Balance of the relayer's account in units of the denom. Absent before the first read.",
      labelNames: ["denom"],
      values: ({ account: { balance, denom } }) => knownSeries(balance, { denom }),
    },
    {
      name: "relaywatch_relayer_account_left_seconds",
      help: "Time until the balance is spent at this process's rate of fees over the last day. Absent if it paid none.",
      labelNames: [],
      values: ({ account: { daysLeft } }) => (daysLeft === undefined ? [] : [series(daysLeft * 86_400)]),
    },
    {
      name: "relaywatch_relayer_client_expiry_timestamp_seconds",
      help: "Time at which the connection's client expires unless it is updated. Absent before the first read.",
      labelNames: ["connection_id"],
      values: (status) =>
        perConnection(status, ({ client: { reading } }) => secondsSeries(reading?.expiresAtMs)),
    },
    {
      name: "relaywatch_relayer_client_trusting_period_seconds",
      help: "How long after its last update the connection's client expires. Absent before the first read.",
      labelNames: ["connection_id"],
      values: (status) =>
        perConnection(status, ({ client: { reading } }) =>
          reading === undefined ? [] : [series(Number(reading.trustingPeriodNs) / 1e9)],
        ),
    },
    {
      name: "relaywatch_relayer_client_active",
      help: "1 while the connection's client is active, 0 if it is expired or frozen. Absent before the first read.",
      labelNames: ["connection_id"],
      values: (status) =>
        perConnection(status, ({ client: { reading } }) =>
          reading === undefined ? [] : [series(reading.status === "Active" ? 1 : 0)],
        ),
    },
    {
      name: "relaywatch_relayer_backing_off_queries",
      help: "Queries that are backing off, by the code of their last failure.",
      labelNames: ["connection_id", "code"],
      values: (status) =>
        perConnection(status, (_connection, queries) =>
          QUERY_FAILURE_CODES.map((code) =>
            series(queries.filter(({ error }) => error?.code === code).length, { code }),
          ),
        ),
    },
    {
      name: "relaywatch_relayer_dead_letters",
      help: "Stored remote transactions that are not retried, as listed by GET /unsuccessful-txs.",
      labelNames: [],
      values: ({ deadLetters }) => [series(deadLetters)],
    },
    {
      name: "relaywatch_relayer_endpoint_up",
      help: "1 while the last call to the endpoint succeeded, else 0. Absent before the first call.",
      labelNames: ["chain_id", "endpoint"],
      values: ({ endpoints }) =>
        endpoints.flatMap(({ chainId, name, state }) =>
          state === "unchecked"
            ? []
            : [series(state === "good" ? 1 : 0, { chain_id: chainId, endpoint: name })],
        ),
    },
    {
      name: "relaywatch_relayer_endpoint_distrusted",
      help: "1 while other endpoints are preferred because a response was proven wrong, else 0.",
      labelNames: ["chain_id", "endpoint"],
      values: ({ endpoints }) =>
        endpoints.map(({ chainId, name, distrusted }) =>
          series(distrusted === undefined ? 0 : 1, { chain_id: chainId, endpoint: name }),
        ),
    },
    {
      name: "relaywatch_relayer_endpoint_lacks",
      help: "Number of RPC methods that the endpoint recently could not serve, plus 1 after oversized responses. The page and the status name them.",
      labelNames: ["chain_id", "endpoint"],
      values: ({ endpoints }) =>
        endpoints.map(({ chainId, name, lacks }) =>
          series(lacks?.size ?? 0, { chain_id: chainId, endpoint: name }),
        ),
    },
    {
      name: "relaywatch_relayer_endpoint_batch_size",
      help: "Maximum number of calls in one request to the endpoint: the setting, or what the endpoint accepts.",
      labelNames: ["chain_id", "endpoint"],
      values: ({ endpoints }) =>
        endpoints.flatMap(({ chainId, name, batchSize }) =>
          knownSeries(batchSize, { chain_id: chainId, endpoint: name }),
        ),
    },
    {
      name: "relaywatch_relayer_endpoint_lag_blocks",
      help: "How many blocks the endpoint was behind its chain's best endpoint at the last comparison.",
      labelNames: ["chain_id", "endpoint"],
      values: ({ endpoints }) =>
        endpoints.flatMap(({ chainId, name, lagBlocks }) =>
          knownSeries(lagBlocks, { chain_id: chainId, endpoint: name }),
        ),
    },
    {
      name: "relaywatch_relayer_endpoint_latency_seconds",
      help: "Time taken by the endpoint's last status request. Absent before the first one.",
      labelNames: ["chain_id", "endpoint"],
      values: ({ endpoints }) =>
        endpoints.flatMap(({ chainId, name, latencyMs }) =>
          secondsSeries(latencyMs, { chain_id: chainId, endpoint: name }),
        ),
    },
  ]),
];

export function registerStatusGauges(registry: Registry, status: () => RelayerStatus): void {
  const scraped = oncePerTurn(status);
  registerMarketGauges(registry, () => scraped().market);
  registerStatusMetrics(registry, STATUS_GAUGES, scraped);
}

/** Caches the status for one turn of the event loop. A scrape reads all gauges within one turn. */
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

/** Returns a series for every possible problem, with the value 0 if the problem is absent. */
function problemSeries({ problems, connections }: RelayerStatus): readonly Series[] {
  const ids = connections.map(({ id }) => id);
  return PROBLEM_CODES.flatMap((code) =>
    (OF_CONNECTIONS.has(code) ? ids : code === "starting" ? ["", ...ids] : [""]).map((id) =>
      series(problems.filter((one) => one.code === code && (one.connectionId ?? "") === id).length, {
        code,
        connection_id: id,
      }),
    ),
  );
}

/** Returns each connection's series, labelled with the connection id. */
function perConnection(
  { connections, queries }: RelayerStatus,
  read: (connection: ConnectionStatus, queries: readonly QueryView[]) => readonly Series[],
): readonly Series[] {
  return connections.flatMap((connection) =>
    read(
      connection,
      queries.filter(({ connectionId }) => connectionId === connection.id),
    ).map(({ labels, value }) => series(value, { connection_id: connection.id, ...labels })),
  );
}

/** Returns when an event happened, in Unix seconds; empty if `sinceMs` is undefined. */
function seenAt(sinceMs: number | undefined, nowMs: number): readonly Series[] {
  return sinceMs === undefined ? [] : secondsSeries(nowMs - sinceMs);
}
