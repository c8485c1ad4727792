import { QUERY_FAILURE_CODES } from "../registry/query-state.ts";
import { perConnection, series, type StatusGauge } from "./status-gauge.ts";

/** Gauges for the question: is it safe? */
export const SAFETY_GAUGES: readonly StatusGauge[] = [
  {
    name: "relaywatch_relayer_account_balance",
    help: "Balance of the relayer's account in units of the denom. Absent before the first read.",
    labelNames: ["denom"],
    values: ({ account: { balance, denom } }) =>
      balance === undefined ? [] : [series(Number(balance), { denom })],
  },
  {
    name: "relaywatch_relayer_account_left_seconds",
    help: "Time until the balance is spent at the rate of the last day. Absent while nothing was spent.",
    labelNames: [],
    values: ({ account: { daysLeft } }) => (daysLeft === undefined ? [] : [series(daysLeft * 86_400)]),
  },
  {
    name: "relaywatch_relayer_client_expiry_timestamp_seconds",
    help: "Time at which the connection's client expires without an update. Absent before the first read.",
    labelNames: ["connection_id"],
    values: (status) =>
      perConnection(status, ({ client: { reading } }) =>
        reading === undefined ? [] : [series(reading.expiresAtMs / 1_000)],
      ),
  },
  {
    name: "relaywatch_relayer_client_trusting_period_seconds",
    help: "Time after its last update at which the connection's client expires. Absent before the first read.",
    labelNames: ["connection_id"],
    values: (status) =>
      perConnection(status, ({ client: { reading } }) =>
        reading === undefined ? [] : [series(Number(reading.trustingPeriodNs) / 1e9)],
      ),
  },
  {
    name: "relaywatch_relayer_client_active",
    help: "1 while the connection's client is active, 0 when it is expired or frozen. Absent before the first read.",
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
    help: "Stored remote transactions that are not sent again, as GET /unsuccessful-txs lists them.",
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
    help: "1 while other endpoints are preferred since a response was proven to be wrong, else 0.",
    labelNames: ["chain_id", "endpoint"],
    values: ({ endpoints }) =>
      endpoints.map(({ chainId, name, distrusted }) =>
        series(distrusted === undefined ? 0 : 1, { chain_id: chainId, endpoint: name }),
      ),
  },
  {
    name: "relaywatch_relayer_endpoint_lag_blocks",
    help: "Blocks that the endpoint was behind the best endpoint of its chain at the last comparison.",
    labelNames: ["chain_id", "endpoint"],
    values: ({ endpoints }) =>
      endpoints.flatMap(({ chainId, name, lagBlocks }) =>
        lagBlocks === undefined ? [] : [series(Number(lagBlocks), { chain_id: chainId, endpoint: name })],
      ),
  },
  {
    name: "relaywatch_relayer_endpoint_latency_seconds",
    help: "Time that the last status of the endpoint took. Absent before the first one.",
    labelNames: ["chain_id", "endpoint"],
    values: ({ endpoints }) =>
      endpoints.flatMap(({ chainId, name, latencyMs }) =>
        latencyMs === undefined ? [] : [series(latencyMs / 1_000, { chain_id: chainId, endpoint: name })],
      ),
  },
];
