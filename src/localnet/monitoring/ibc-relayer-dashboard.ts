import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  type DashboardSpec,
  graph,
  query,
  restartsOf,
  stat,
} from "../../platform/monitoring/dashboards/panel-spec.ts";

const JOB = 'job=~"$job"';
const M = "relaywatch_ibc_relayer";
const EMPTY = "No IBC relayer is running, or nothing is pending";

/** The IBC relayer of a localnet. */
export const IBC_RELAYER: DashboardSpec = {
  uid: DASHBOARDS.ibcRelayer,
  pages: ["localnet"],
  file: "ibc-relayer.json",
  title: "IBC relayer",
  description:
    "The IBC relayer of a localnet: does it relay packets, which are pending, and what fails? Also the gas of its traffic.",
  variables: [{ name: "job", label: "Job", metric: `${M}_state`, from: "job" }],
  range: "hours",
  restarts: restartsOf(JOB),
  alerts: 'ALERTS{component="relaywatch",alertstate="firing",alertname!="RelaywatchDeadMan"}',
  rows: [
    {
      title: "Are packets relayed?",
      panels: [
        stat("State", [query(`max by (state) (${M}_state{${JOB}}) == 1`, "{{state}}")], {
          description: "GET /ibc-relayer of the control API has the reason when it is blocked or failing.",
          unit: "none",
          show: "name",
          width: 6,
          emptyText: EMPTY,
        }),
        stat("Last cycle", [query(`time() - max(${M}_last_cycle_timestamp_seconds{${JOB}})`, "ago")], {
          description: "Time since a cycle without an error. Above 30 s the IBC relayer is failing.",
          unit: "s",
          colors: [
            ["green", undefined],
            ["red", 30],
          ],
          width: 6,
          emptyText: EMPTY,
        }),
        stat("Pending packets", [query(`sum(${M}_pending_packets{${JOB}})`, "pending")], {
          description: "Packets that were sent and not acknowledged, of both chains.",
          unit: "none",
          width: 6,
          emptyText: EMPTY,
        }),
        stat(
          "Oldest pending packet",
          [query(`time() - min(${M}_oldest_pending_timestamp_seconds{${JOB}})`, "old")],
          {
            description:
              "Time since the IBC relayer first saw the oldest pending packet. When it grows, GET /ibc-relayer names the messages that a chain rejects.",
            unit: "s",
            width: 6,
            emptyText: EMPTY,
          },
        ),
        graph(
          "Messages",
          [
            query(
              `sum by (chain_id, kind) (rate(${M}_messages_total{${JOB}}[$__rate_interval]))`,
              "{{kind}} on {{chain_id}}",
            ),
          ],
          {
            description: "Messages of the IBC relayer in blocks, by chain and kind.",
            unit: "ops",
            emptyText: EMPTY,
          },
        ),
        graph("Pending", [query(`max by (chain_id) (${M}_pending_packets{${JOB}})`, "of {{chain_id}}")], {
          description: "Packets that a chain sent and that are not acknowledged.",
          unit: "none",
          emptyText: EMPTY,
        }),
      ],
    },
    {
      title: "What fails?",
      panels: [
        graph(
          "Failed cycles",
          [query(`sum by (reason) (increase(${M}_failed_cycles_total{${JOB}}[5m]))`, "{{reason}}")],
          {
            description:
              "Cycles of the last 5 minutes that ended with an error, by reason. They are retried after at most 10 s.",
            unit: "none",
            emptyText: EMPTY,
          },
        ),
        graph(
          "Rejected messages",
          [query(`sum by (chain_id) (increase(${M}_refused_messages_total{${JOB}}[5m]))`, "{{chain_id}}")],
          {
            description:
              "Messages of the last 5 minutes that a chain rejected. Each is retried after at most a minute.",
            unit: "none",
            emptyText: EMPTY,
          },
        ),
        graph(
          "Packets that cannot be relayed",
          [query(`max by (chain_id) (${M}_unreadable_packets{${JOB}})`, "of {{chain_id}}")],
          {
            description: "Pending packets whose blocks, or those of their acknowledgements, are pruned.",
            unit: "none",
            emptyText: EMPTY,
          },
        ),
        graph(
          "Last message",
          [
            query(
              `time() - max by (chain_id) (${M}_last_message_timestamp_seconds{${JOB}})`,
              "on {{chain_id}}",
            ),
          ],
          {
            description: "Time since the last message of the IBC relayer in a block of a chain.",
            unit: "s",
            emptyText: EMPTY,
          },
        ),
      ],
    },
    {
      title: "What do others use?",
      panels: [
        graph(
          "Traffic",
          [query(`rate(relaywatch_localnet_traffic_gas_total{${JOB}}[$__rate_interval])`, "gas")],
          {
            description:
              "Gas per second of the transactions of `localnet start --traffic`, as the fee market counts it.",
            unit: "none",
            emptyText: "The localnet runs without --traffic",
          },
        ),
      ],
    },
  ],
};
