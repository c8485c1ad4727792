import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  type DashboardSpec,
  graph,
  PROCESSES,
  query,
  stat,
  table,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import { BACKING_OFF, ANNOTATIONS, CONNECTIONS, M, PLACE, RELAYERS } from "./relayer-parts.ts";

export const QUERY: DashboardSpec = {
  uid: DASHBOARDS.query,
  pages: ["relayer"],
  file: "icq-query.json",
  title: "ICQ query detail",
  description:
    "One query, and the connection it is read over. relaywatch relayer inspect shows its attempts and costs.",
  variables: [
    ...RELAYERS,
    {
      name: "query",
      label: "Query",
      metric: `${M}_query_late_blocks{${PROCESSES}}`,
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
        stat("Late", [query(`max(${M}_query_late_blocks{${PROCESSES},query_id="$query"})`, "blocks")], {
          description: "Local blocks since the query's result was due. 0: it is not late.",
          unit: "blocks",
          colors: [
            ["green", undefined],
            ["yellow", 5],
            ["red", 20],
          ],
          width: 12,
        }),
        stat(
          "Queries that are later",
          [
            query(
              `count(${M}_query_late_blocks{${PROCESSES}} > scalar(max(${M}_query_late_blocks{${PROCESSES},query_id="$query"}))) or vector(0)`,
              "queries",
            ),
          ],
          {
            description: "If others are late too, the cause is the connection, not the query.",
            unit: "none",
            width: 12,
          },
        ),
        table("Latest queries", [`topk(20, max by (query_id) (${M}_query_late_blocks{${PROCESSES}}))`], {
          description: "The most delayed queries. Click a number to select its query.",
          unit: "blocks",
          width: 6,
          height: 8,
          emptyText: "No query is served",
          columns: [
            {
              label: "query_id",
              title: "Query",
              leadsTo: { dashboard: DASHBOARDS.query, variable: "query" },
            },
            { label: "Value", title: "Late" },
          ],
        }),
        graph(
          "Lateness",
          [
            query(
              `max by (instance, query_id) (${M}_query_late_blocks{${PROCESSES},query_id="$query"})`,
              "query {{query_id}} {{instance}}",
            ),
            query(
              `quantile(0.5, ${M}_query_late_blocks{${PROCESSES},query_id!="$query"})`,
              "median of the others",
            ),
          ],
          {
            description:
              "Local blocks since the query's result was due, and the median of all others: if they are late too, the cause is the connection.",
            unit: "blocks",
            width: 18,
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
              `sum by (instance, connection_id, outcome) (rate(${M}_results_total{${PLACE}}[$__rate_interval])) > 0`,
              "{{outcome}} {{connection_id}} {{instance}}",
            ),
          ],
          {
            description: "Results per second by outcome.",
            unit: "results/s",
            emptyText: "No result",
          },
        ),
        BACKING_OFF,
        graph("Remote height", [query(`${M}_remote_height{${PLACE}}`, "{{connection_id}} {{instance}}")], {
          description: "A flat line means that the remote chain has no newer value.",
          unit: "none",
        }),
        graph(
          "Pruned blocks",
          [
            query(
              `sum by (instance, connection_id) (increase(${M}_tx_pruned_blocks_total{${PLACE}}[1h]))`,
              "{{connection_id}} {{instance}}",
            ),
          ],
          {
            description:
              "Remote blocks that TX queries skipped in the last hour because every endpoint has pruned them.",
            unit: "blocks",
          },
        ),
      ],
    },
  ],
};
