import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  BAD_ABOVE_ZERO,
  graph,
  type PanelSpec,
  PROCESSES,
  query,
  type RowSpec,
  table,
  upOrDown,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import { M, PLACE } from "./relayer-parts.ts";

/** The label starts with the line's subject, because Grafana cuts off the end of a long name. */
const of = (text: string): string => `${text} {{connection_id}} {{instance}}`;

const CONNECTION_TABLE: PanelSpec = table(
  "Connections",
  [
    `max by (instance, connection_id) (${M}_overdue_queries{${PLACE}})`,
    `max by (instance, connection_id) (${M}_most_late_blocks{${PLACE}})`,
    `max by (instance, connection_id) (${M}_last_included_timestamp_seconds{${PLACE}}) * 1000`,
    `min by (instance, connection_id) (${M}_client_active{${PLACE}})`,
    `max by (instance, connection_id) (${M}_remote_height{${PLACE}})`,
    `max by (instance, connection_id) (${M}_consensus_height{${PLACE}})`,
    `max by (instance, connection_id) (${M}_consensus_lag_blocks{${PLACE}})`,
  ],
  {
    description:
      "Overdue queries, how late the most delayed one is, last result, light client, and how many remote blocks its newest consensus state lags behind. The name links to the queries.",
    unit: "none",
    height: 6,
    emptyText: "No connection is served",
    columns: [
      {
        label: "connection_id",
        title: "Connection",
        leadsTo: { dashboard: DASHBOARDS.query, variable: "connection" },
      },
      { label: "instance", title: "Instance" },
      { label: "Value #A", title: "Overdue", steps: BAD_ABOVE_ZERO },
      { label: "Value #B", title: "Late", unit: "blocks" },
      { label: "Value #C", title: "Last result", unit: "dateTimeFromNow" },
      { label: "Value #D", title: "Light client", states: upOrDown("active", "expired or frozen") },
      { label: "Value #E", title: "Remote height" },
      { label: "Value #F", title: "Consensus height" },
      { label: "Value #G", title: "Behind", unit: "blocks" },
    ],
  },
);

export const ACTIVE_ROWS: readonly RowSpec[] = [
  {
    title: "Is it active?",
    panels: [
      CONNECTION_TABLE,
      graph(
        "Results",
        [
          query(
            `sum by (instance, connection_id, outcome) (rate(${M}_results_total{${PLACE}}[$__rate_interval])) > 0`,
            of("{{outcome}}"),
          ),
          query(
            `sum by (instance, connection_id) (rate(${M}_results_proven_total{${PLACE}}[$__rate_interval]))`,
            of("proven"),
          ),
        ],
        {
          description: "Results per second: proven results, and results by outcome.",
          unit: "results/s",
          emptyText: "No result",
        },
      ),
      graph(
        "Transactions and cycles",
        [
          query(
            `sum by (instance, outcome) (rate(${M}_transactions_total{${PROCESSES}}[$__rate_interval]))`,
            "transactions {{outcome}} {{instance}}",
          ),
          query(
            `sum by (instance, connection_id, outcome) (rate(${M}_cycles_total{${PLACE}}[$__rate_interval]))`,
            of("cycles {{outcome}}"),
          ),
          query(
            `sum by (instance) (rate(${M}_query_list_reloads_total{${PROCESSES}}[$__rate_interval]))`,
            "reads of the query list {{instance}}",
          ),
        ],
        {
          description:
            "Transactions, cycles over the due queries, and reads of the query list per second. A failed cycle means a connection error. More than one read a minute (0.017) means that events are missed.",
          unit: "ops",
        },
      ),
    ],
  },
  {
    title: "Is it current?",
    panels: [
      graph(
        "Lateness",
        [
          query(`max by (instance, connection_id) (${M}_most_late_blocks{${PLACE}})`, of("latest query")),
          // A standby includes no results, and the quantile of an empty set is NaN.
          ...[
            ["0.5", "median"],
            ["0.95", "95 %"],
          ].map(([share, text]) =>
            query(
              `histogram_quantile(${share}, sum by (instance, connection_id, le) (rate(${M}_due_to_included_blocks_bucket{${PLACE}}[$__rate_interval]))) >= 0`,
              of(`included, ${text}`),
            ),
          ),
        ],
        {
          description:
            "Local blocks since the most delayed query's result was due, and between the height at which included results were due and their inclusion.",
          unit: "blocks",
        },
      ),
      graph(
        "Queries",
        [
          query(`sum by (instance, connection_id, state) (${M}_queries{${PLACE}}) > 0`, of("{{state}}")),
          query(`${M}_overdue_queries{${PLACE}}`, of("overdue")),
          query(
            `sum by (instance, connection_id, reason) (${M}_unanswerable_queries{${PLACE}}) > 0`,
            of("no result: {{reason}}"),
          ),
        ],
        {
          description:
            "Served queries by state, due queries that are late, and queries for which no result is possible now.",
          unit: "none",
          emptyText: "No query is served",
        },
      ),
      graph(
        "Age of the newest block",
        [
          query(`time() - ${M}_remote_last_block_seen_timestamp_seconds{${PLACE}}`, of("seen")),
          query(`time() - ${M}_remote_block_timestamp_seconds{${PLACE}}`, of("by its header")),
          query(
            `time() - ${M}_local_last_block_seen_timestamp_seconds{${PROCESSES}}`,
            "local, seen {{instance}}",
          ),
          query(
            `time() - ${M}_local_block_timestamp_seconds{${PROCESSES}}`,
            "local, by its header {{instance}}",
          ),
        ],
        { description: "Grows when a chain or its node has halted.", unit: "s" },
      ),
      graph(
        "Local blocks per minute",
        [query(`60 * deriv(${M}_local_height{${PROCESSES}}[$__rate_interval])`, "{{instance}}")],
        {
          description: "Growth of the local chain's height. Zero: the chain or its node has halted.",
          unit: "none",
        },
      ),
    ],
  },
];
