import { graph, query, type RowSpec } from "../../platform/monitoring/dashboards/panel-spec.ts";
import { JOB, M, PLACE } from "./relayer-parts.ts";

/** Is it active? Is it current? */
export const ACTIVE_ROWS: readonly RowSpec[] = [
  {
    title: "Is it active?",
    panels: [
      graph(
        "Results",
        [
          query(
            `sum by (connection_id, outcome) (rate(${M}_results_total{${PLACE}}[$__rate_interval]))`,
            "{{connection_id}} {{outcome}}",
          ),
          query(
            `sum by (connection_id) (rate(${M}_results_proven_total{${PLACE}}[$__rate_interval]))`,
            "{{connection_id}} proven",
          ),
        ],
        {
          description: "Results per second: proven ones, and each by its outcome.",
          unit: "results/s",
        },
      ),
      graph(
        "Transactions and cycles",
        [
          query(
            `sum by (outcome) (rate(${M}_transactions_total{${JOB}}[$__rate_interval]))`,
            "transactions {{outcome}}",
          ),
          query(
            `sum by (connection_id, outcome) (rate(${M}_cycles_total{${PLACE}}[$__rate_interval]))`,
            "{{connection_id}} cycles {{outcome}}",
          ),
        ],
        {
          description:
            "Transactions and cycles over the due queries per second. A failed cycle is an error of the connection.",
          unit: "ops",
        },
      ),
      graph(
        "Age of the last result",
        [query(`time() - ${M}_last_included_timestamp_seconds{${PLACE}}`, "{{connection_id}}")],
        {
          description: "Time since a result was included.",
          unit: "s",
        },
      ),
      graph(
        "Queries",
        [query(`sum by (connection_id, state) (${M}_queries{${PLACE}})`, "{{connection_id}} {{state}}")],
        {
          description: "Served queries by state.",
          unit: "none",
        },
      ),
      graph(
        "Reads of the query list",
        [query(`sum by (instance) (increase(${M}_query_list_reloads_total{${JOB}}[5m]))`, "{{instance}}")],
        {
          description:
            "Reads of the last 5 minutes. One a minute is normal. More means that events are missed.",
          unit: "none",
        },
      ),
    ],
  },
  {
    title: "Is it current?",
    panels: [
      graph(
        "Lateness",
        [query(`max by (connection_id) (${M}_most_late_blocks{${PLACE}})`, "{{connection_id}}")],
        {
          description: "Local blocks since the result of the latest query was due.",
          unit: "blocks",
        },
      ),
      graph(
        "Due to included",
        [
          query(
            `histogram_quantile(0.5, sum by (connection_id, le) (rate(${M}_due_to_included_blocks_bucket{${PLACE}}[$__rate_interval])))`,
            "{{connection_id}} median",
          ),
          query(
            `histogram_quantile(0.95, sum by (connection_id, le) (rate(${M}_due_to_included_blocks_bucket{${PLACE}}[$__rate_interval])))`,
            "{{connection_id}} 95 %",
          ),
        ],
        {
          description: "Blocks between the height at which a query was due and the inclusion of its result.",
          unit: "blocks",
        },
      ),
      graph(
        "Age of the newest block",
        [
          query(`time() - ${M}_remote_last_block_seen_timestamp_seconds{${PLACE}}`, "{{connection_id}} seen"),
          query(`time() - ${M}_remote_block_timestamp_seconds{${PLACE}}`, "{{connection_id}} by its header"),
          query(`time() - ${M}_local_last_block_seen_timestamp_seconds{${JOB}}`, "{{instance}} local, seen"),
          query(`time() - ${M}_local_block_timestamp_seconds{${JOB}}`, "{{instance}} local, by its header"),
        ],
        { description: "Grows when a chain or its node has halted.", unit: "s" },
      ),
      graph(
        "Heights",
        [
          query(`${M}_local_height{${JOB}}`, "{{instance}} local"),
          query(`${M}_remote_height{${PLACE}}`, "{{connection_id}} remote"),
          query(`${M}_consensus_height{${PLACE}}`, "{{connection_id}} consensus"),
        ],
        {
          description: "Latest heights, and that of the newest consensus state of each light client.",
          unit: "none",
        },
      ),
      graph("Light client behind", [query(`${M}_consensus_lag_blocks{${PLACE}}`, "{{connection_id}}")], {
        description: "Remote blocks after the newest consensus state.",
        unit: "blocks",
      }),
      graph(
        "Overdue, and without a possible result",
        [
          query(`${M}_overdue_queries{${PLACE}}`, "{{connection_id}} overdue"),
          query(
            `sum by (connection_id, reason) (${M}_unanswerable_queries{${PLACE}})`,
            "{{connection_id}} {{reason}}",
          ),
        ],
        {
          description: "Due queries that are late, and those for which no result is possible now.",
          unit: "none",
        },
      ),
    ],
  },
];
