import {
  graph,
  PROCESSES,
  query,
  type RowSpec,
  type StateSpec,
  stateCode,
  table,
  timeline,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import { BACKING_OFF, CHAIN, M, PLACE } from "./relayer-parts.ts";

const ENDPOINT_STATES: readonly StateSpec[] = [
  [0, "does not respond", "red"],
  [1, "responds", "green"],
  [2, "distrusted, does not respond", "red"],
  [3, "distrusted", "orange"],
];

/** All rows of one timeline share these values. Role, gate, subscription, light client and store each use different numbers. */
const PART_STATES: readonly StateSpec[] = [
  [1, "leader", "green"],
  [2, "starting", "blue"],
  [3, "standby", "blue"],
  [4, "unknown", "red"],
  [5, "admitted", "green"],
  [6, "not admitted", "yellow"],
  [7, "connected", "green"],
  [8, "not connected", "yellow"],
  [9, "active", "green"],
  [10, "expired or frozen", "red"],
  [11, "writable", "green"],
  [12, "not writable", "red"],
];

const ENDPOINT = "by (chain_id, endpoint)";

export const SAFE_ROW: RowSpec = {
  title: "Is it safe?",
  panels: [
    graph(
      "Time until the light client expires",
      [
        query(
          `(${M}_client_expiry_timestamp_seconds{${PLACE}} - time()) / 86400`,
          "{{connection_id}} {{instance}}",
        ),
        query(
          `max by (connection_id) (${M}_client_trusting_period_seconds{${PLACE}}) / 3 / 86400`,
          "limit: update {{connection_id}}",
        ),
        query(
          `max by (connection_id) (${M}_client_trusting_period_seconds{${PLACE}}) / 20 / 86400`,
          "limit: alert {{connection_id}}",
        ),
      ],
      {
        description:
          "Below the upper line, the relayer updates the client by itself; below the lower line, a critical alert fires. At zero, only governance can replace the client.",
        unit: "days",
        limits: /limit/,
      },
    ),
    timeline(
      "Role, gate, subscription, light clients, store",
      [
        query(
          stateCode({
            metric: `${M}_role`,
            selector: PROCESSES,
            by: "instance",
            states: PART_STATES.slice(0, 4),
            label: "role",
          }),
          "role {{instance}}",
        ),
        query(`6 - ${M}_admitted{${PROCESSES}}`, "gate {{instance}}"),
        query(`8 - ${M}_subscription_connected{${PROCESSES}}`, "subscription {{instance}}"),
        query(`10 - min by (connection_id) (${M}_client_active{${PLACE}})`, "{{connection_id}} light client"),
        query(`12 - ${M}_store_writable{${PROCESSES}}`, "store {{instance}}"),
      ],
      {
        description:
          "Which process submits, and whether the gate admitted the last transaction, the subscription is connected, each light client is active (an expired or frozen one needs governance) and the store can be written (otherwise nothing is sent).",
        states: PART_STATES,
      },
    ),
    timeline(
      "Endpoints",
      [
        query(
          `min ${ENDPOINT} (${M}_endpoint_up{${CHAIN}}) + 2 * max ${ENDPOINT} (${M}_endpoint_distrusted{${CHAIN}})`,
          "{{endpoint}} {{chain_id}}",
        ),
      ],
      {
        description:
          "Whether each endpoint's last call succeeded, and whether it is distrusted because of what it returned.",
        states: ENDPOINT_STATES,
      },
    ),
    table(
      "Endpoints now",
      [
        `max ${ENDPOINT} (${M}_endpoint_latency_seconds{${CHAIN}})`,
        `max ${ENDPOINT} (${M}_endpoint_lag_blocks{${CHAIN}})`,
        `max ${ENDPOINT} (${M}_endpoint_lacks{${CHAIN}})`,
        `min ${ENDPOINT} (${M}_endpoint_batch_size{${CHAIN}})`,
      ],
      {
        description:
          "Duration of the last status call, blocks behind the chain's best endpoint, methods that it recently could not serve, and how many calls it accepts per request.",
        unit: "none",
        width: 12,
        height: 8,
        columns: [
          { label: "chain_id", title: "Chain", width: 110 },
          { label: "endpoint", title: "Endpoint" },
          { label: "Value #A", title: "Latency", unit: "s", width: 80 },
          { label: "Value #B", title: "Behind", unit: "blocks", width: 80 },
          { label: "Value #C", title: "Lacks", width: 65 },
          { label: "Value #D", title: "Batch", width: 65 },
        ],
      },
    ),
    graph(
      "Endpoints behind",
      [query(`${M}_endpoint_lag_blocks{${CHAIN}}`, "{{endpoint}} {{chain_id}} {{instance}}")],
      {
        description: "Blocks behind the chain's best endpoint.",
        unit: "blocks",
      },
    ),
    graph(
      "Failed RPC calls",
      [
        query(
          `sum by (instance, chain_id, method, outcome) (rate(${M}_rpc_calls_total{${CHAIN},outcome!~"ok|not-found"}[$__rate_interval]))`,
          "{{method}} {{outcome}} {{chain_id}} {{instance}}",
        ),
      ],
      { description: "Per second, by error code.", unit: "ops", emptyText: "No call failed" },
    ),
    BACKING_OFF,
    graph(
      "Store writes and dead letters",
      [
        query(`${M}_store_pending_writes{${PROCESSES}}`, "pending writes {{instance}}"),
        query(`${M}_store_dropped_writes{${PROCESSES}}`, "dropped writes {{instance}}"),
        query(`${M}_dead_letters{${PROCESSES}}`, "dead letters {{instance}}"),
      ],
      {
        description:
          "Writes that are not durable yet or were given up, and remote transactions that are not resent automatically.",
        unit: "none",
      },
    ),
  ],
};
