import {
  graph,
  query,
  type RowSpec,
  type StateSpec,
  stateCode,
  upOrDown,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import { BACKING_OFF, CHAIN, JOB, M, PLACE } from "./relayer-parts.ts";

const ENDPOINT_STATES: readonly StateSpec[] = [
  [0, "does not respond", "red"],
  [1, "responds", "green"],
  [2, "distrusted, does not respond", "red"],
  [3, "distrusted", "orange"],
];

/** Rows of one timeline: role, gate and subscription have numbers of their own. */
const ROLE_STATES: readonly StateSpec[] = [
  [1, "leader", "green"],
  [2, "starting", "blue"],
  [3, "standby", "blue"],
  [4, "unknown", "red"],
  [5, "admitted", "green"],
  [6, "not admitted", "yellow"],
  [7, "connected", "green"],
  [8, "not connected", "yellow"],
];

/** Is it safe? */
export const SAFE_ROW: RowSpec = {
  title: "Is it safe?",
  panels: [
    graph(
      "Time until the light client expires",
      [
        query(`${M}_client_expiry_timestamp_seconds{${PLACE}} - time()`, "{{connection_id}}"),
        query(
          `${M}_client_trusting_period_seconds{${PLACE}} / 3`,
          "{{connection_id}} limit: the relayer updates it",
        ),
        query(
          `${M}_client_trusting_period_seconds{${PLACE}} / 20`,
          "{{connection_id}} limit: it is about to expire",
        ),
      ],
      {
        description:
          "Below the upper line the relayer updates the client by itself, below the lower one a critical alert fires. At zero only governance can replace it.",
        unit: "s",
        limits: /limit/,
      },
    ),
    BACKING_OFF,
    graph(
      "Gaps and batches of endpoints",
      [
        query(`${M}_endpoint_lacks{${CHAIN}}`, "{{chain_id}} {{endpoint}} lacks"),
        query(`${M}_endpoint_batch_size{${CHAIN}}`, "{{chain_id}} {{endpoint}} calls in a request"),
      ],
      {
        description: "What an endpoint could not do recently, and the calls that it takes in one request.",
        unit: "none",
      },
    ),
    graph(
      "Failed RPC calls",
      [
        query(
          `sum by (chain_id, method, outcome) (rate(${M}_rpc_calls_total{${CHAIN},outcome!~"ok|not-found"}[$__rate_interval]))`,
          "{{chain_id}} {{method}} {{outcome}}",
        ),
      ],
      { description: "Per second, by code of the error.", unit: "ops", emptyText: "No call failed" },
    ),
    graph(
      "Store",
      [
        query(`${M}_store_writable{${JOB}}`, "writable"),
        query(`${M}_store_pending_writes{${JOB}}`, "pending writes"),
        query(`${M}_store_dropped_writes{${JOB}}`, "dropped writes"),
      ],
      { description: "At writable 0 nothing is sent.", unit: "none" },
    ),
    {
      kind: "timeline",
      title: "Light clients",
      description: "The light client of each connection. An expired or frozen one needs governance.",
      unit: "none",
      width: 12,
      queries: [query(`min by (connection_id) (${M}_client_active{${PLACE}})`, "{{connection_id}}")],
      states: upOrDown("active", "expired or frozen"),
    },
    {
      kind: "timeline",
      title: "Endpoints",
      description:
        "Whether the last call succeeded, and whether an endpoint is distrusted for what it returned.",
      unit: "none",
      width: 12,
      queries: [
        query(
          `min by (chain_id, endpoint) (${M}_endpoint_up{${CHAIN}}) + 2 * max by (chain_id, endpoint) (${M}_endpoint_distrusted{${CHAIN}})`,
          "{{chain_id}} {{endpoint}}",
        ),
      ],
      states: ENDPOINT_STATES,
    },
    graph(
      "Latency and lag of endpoints",
      [
        query(`${M}_endpoint_latency_seconds{${CHAIN}}`, "{{chain_id}} {{endpoint}}"),
        query(`${M}_endpoint_lag_blocks{${CHAIN}}`, "{{chain_id}} {{endpoint}} behind", "blocks"),
      ],
      {
        description: "Time of the last status call, and blocks behind the chain's best endpoint.",
        unit: "s",
      },
    ),
    {
      kind: "timeline",
      title: "Role, gate and subscription",
      description:
        "Which process submits, whether the gate admitted the last transaction, whether the subscription is connected.",
      unit: "none",
      width: 12,
      queries: [
        query(
          stateCode({
            metric: `${M}_role`,
            selector: JOB,
            by: "instance",
            states: ROLE_STATES.slice(0, 4),
            label: "role",
          }),
          "{{instance}} role",
        ),
        query(`6 - ${M}_admitted{${JOB}}`, "{{instance}} gate"),
        query(`8 - ${M}_subscription_connected{${JOB}}`, "{{instance}} subscription"),
      ],
      states: ROLE_STATES,
    },
  ],
};
