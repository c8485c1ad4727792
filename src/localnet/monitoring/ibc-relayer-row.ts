import {
  graph,
  PROCESSES,
  query,
  type RowSpec,
  stateCode,
  type StateSpec,
  timeline,
} from "../../platform/monitoring/dashboards/panel-spec.ts";

const M = "relaywatch_ibc_relayer";
const EMPTY = "No localnet with an IBC relayer is scraped";

const STATES: readonly StateSpec[] = [
  [1, "carrying", "green"],
  [2, "starting", "blue"],
  [3, "blocked", "orange"],
  [4, "failing", "red"],
];

/** Shows whether a localnet's IBC relayer is relaying packets, which packets are pending, and what is failing. */
export const IBC_RELAYER_ROW: RowSpec = {
  title: "IBC relayer of a localnet",
  closed: true,
  panels: [
    timeline(
      "IBC relayer",
      [
        query(
          stateCode({ metric: `${M}_state`, selector: PROCESSES, by: "instance", states: STATES }),
          "{{instance}}",
        ),
      ],
      {
        description: "GET /ibc-relayer of the control API returns why the relayer is blocked or failing.",
        states: STATES,
        emptyText: EMPTY,
      },
    ),
    graph(
      "Packets",
      [
        query(`max by (chain_id) (${M}_pending_packets{${PROCESSES}})`, "pending {{chain_id}}"),
        query(`max by (chain_id) (${M}_unreadable_packets{${PROCESSES}})`, "pruned {{chain_id}}"),
      ],
      {
        description:
          "Packets that a chain sent and that are not acknowledged yet, and packets that cannot be relayed because their blocks are pruned.",
        unit: "none",
        emptyText: EMPTY,
      },
    ),
    graph(
      "Messages and failures",
      [
        query(
          `sum by (chain_id, kind) (rate(${M}_messages_total{${PROCESSES}}[$__rate_interval]))`,
          "{{kind}} on {{chain_id}}",
        ),
        query(
          `sum by (chain_id) (rate(${M}_refused_messages_total{${PROCESSES}}[$__rate_interval]))`,
          "rejected by {{chain_id}}",
        ),
        query(
          `sum by (reason) (rate(${M}_failed_cycles_total{${PROCESSES}}[$__rate_interval]))`,
          "failed cycles: {{reason}}",
        ),
        query(
          `rate(relaywatch_localnet_traffic_gas_total{${PROCESSES}}[$__rate_interval])`,
          "traffic",
          "gas/s",
        ),
      ],
      {
        description:
          "Messages in blocks by chain and kind, rejected messages, failed cycles, and the gas of simulated traffic (localnet start --traffic).",
        unit: "ops",
        emptyText: EMPTY,
      },
    ),
    graph(
      "Since the last cycle and packet",
      [
        query(`time() - ${M}_last_cycle_timestamp_seconds{${PROCESSES}}`, "cycle {{instance}}"),
        query(
          `time() - max by (chain_id) (${M}_last_message_timestamp_seconds{${PROCESSES}})`,
          "message on {{chain_id}}",
        ),
        query(
          `time() - min by (chain_id) (${M}_oldest_pending_timestamp_seconds{${PROCESSES}})`,
          "oldest pending packet of {{chain_id}}",
        ),
      ],
      {
        description:
          "Time since a cycle without an error (above 30 s the IBC relayer is failing), since the last message, and since the oldest pending packet was first seen.",
        unit: "s",
        emptyText: EMPTY,
      },
    ),
  ],
};
