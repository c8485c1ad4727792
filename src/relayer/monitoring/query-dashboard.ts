import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import { type DashboardSpec, graph, query, stat } from "../../platform/monitoring/dashboards/panel-spec.ts";
import { BACKING_OFF, ANNOTATIONS, CONNECTIONS, JOB, JOBS, M, PLACE } from "./relayer-parts.ts";

/** ICQ query detail. */
export const QUERY: DashboardSpec = {
  uid: DASHBOARDS.query,
  pages: ["relayer"],
  file: "icq-query.json",
  title: "ICQ query detail",
  description:
    "One query, and the connection that it is read over. relaywatch relayer inspect has its attempts and costs.",
  variables: [
    JOBS,
    {
      name: "query",
      label: "Query",
      metric: `${M}_query_late_blocks{job=~"$job"}`,
      from: "query_id",
      single: true,
      numeric: true,
    },
    CONNECTIONS,
  ],
  range: "hours",
  ...ANNOTATIONS,
  rows: [
    {
      title: "The query",
      panels: [
        stat("Late", [query(`max(${M}_query_late_blocks{${JOB},query_id="$query"})`, "blocks")], {
          description: "Local blocks since its result was due. 0: it is not late.",
          unit: "blocks",
          colors: [
            ["green", undefined],
            ["yellow", 5],
            ["red", 20],
          ],
          width: 6,
        }),
        stat(
          "Queries that are later",
          [
            query(
              `count(${M}_query_late_blocks{${JOB}} > scalar(max(${M}_query_late_blocks{${JOB},query_id="$query"}))) or vector(0)`,
              "queries",
            ),
          ],
          {
            description: "When others are late too, the cause is the connection and not the query.",
            unit: "none",
            width: 6,
          },
        ),
        graph(
          "Lateness",
          [
            query(
              `max by (query_id) (${M}_query_late_blocks{${JOB},query_id="$query"})`,
              "query {{query_id}}",
            ),
          ],
          {
            description: "Local blocks since the query's result was due.",
            unit: "blocks",
          },
        ),
        graph(
          "Lateness of the others",
          [
            query(
              `topk(10, max by (query_id) (${M}_query_late_blocks{${JOB},query_id!="$query"}))`,
              "query {{query_id}}",
            ),
          ],
          {
            description: "The ten latest of the other queries.",
            unit: "blocks",
            emptyText: "There is no other query",
          },
        ),
      ],
    },
    {
      title: "Its connection",
      panels: [
        graph(
          "Results",
          [
            query(
              `sum by (connection_id, outcome) (rate(${M}_results_total{${PLACE}}[$__rate_interval]))`,
              "{{connection_id}} {{outcome}}",
            ),
          ],
          {
            description: "Results per second by outcome.",
            unit: "results/s",
          },
        ),
        BACKING_OFF,
        graph("Remote height", [query(`${M}_remote_height{${PLACE}}`, "{{connection_id}}")], {
          description: "A flat line is a remote chain without a newer value.",
          unit: "none",
        }),
        graph("Light client behind", [query(`${M}_consensus_lag_blocks{${PLACE}}`, "{{connection_id}}")], {
          description: "Remote blocks after the newest consensus state.",
          unit: "blocks",
        }),
        graph(
          "Pruned blocks",
          [
            query(
              `sum by (connection_id) (increase(${M}_tx_pruned_blocks_total{${PLACE}}[1h]))`,
              "{{connection_id}}",
            ),
          ],
          {
            description:
              "Remote blocks of the last hour that TX queries skipped, because every endpoint has pruned them.",
            unit: "blocks",
          },
        ),
      ],
    },
  ],
};
