import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import { type DashboardSpec, query, stat, table } from "../../platform/monitoring/dashboards/panel-spec.ts";
import { ANNOTATIONS, BACKING_OFF, CONNECTIONS, own, PLACE, plot, rate, RELAYERS } from "./relayer-parts.ts";
import { M } from "./relayer-condition.ts";

const LATE = own("query_late_blocks");
const CHOSEN_LATE = own("query_late_blocks", 'query_id="$query"');

export const QUERY: DashboardSpec = {
  uid: DASHBOARDS.query,
  pages: ["relayer"],
  file: "icq-query.json",
  title: "ICQ query detail",
  description:
    "Shows one query and its connection. The command relaywatch relayer inspect shows the query's attempts and costs.",
  variables: [
    ...RELAYERS,
    { name: "query", label: "Query", metric: LATE, from: "query_id", single: true, numeric: true },
    CONNECTIONS,
  ],
  range: "hours",
  ...ANNOTATIONS,
  rows: [
    {
      title: "The query",
      panels: [
        stat("Late", [query(`max(${CHOSEN_LATE})`, "blocks")], {
          description: "Local blocks since the query's result was due. 0 if the result is not late.",
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
          [query(`count(${LATE} > scalar(max(${CHOSEN_LATE}))) or vector(0)`, "queries")],
          {
            description: "If other queries are late too, the cause is the connection, not this query.",
            unit: "none",
            width: 12,
          },
        ),
        table("Latest queries", [`topk(20, max by (query_id) (${LATE}))`], {
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
        {
          ...plot(
            "Lateness",
            "blocks",
            "Local blocks since the query's result was due, and the median of all other queries. If other queries are late too, the cause is the connection.",
            {
              "query {{query_id}} {{instance}}": `max by (instance, query_id) (${CHOSEN_LATE})`,
              "median of the others": `quantile(0.5, ${own("query_late_blocks", 'query_id!="$query"')})`,
            },
          ),
          width: 18,
        },
      ],
    },
    {
      title: "Its connection",
      panels: [
        {
          ...plot("Results", "results/s", "Results per second by outcome.", {
            "{{outcome}} {{connection_id}} {{instance}}": `${rate("instance, connection_id, outcome", "results_total", PLACE)} > 0`,
          }),
          emptyText: "No result",
        },
        BACKING_OFF,
        plot("Remote height", "none", "A flat line means that the remote chain has no newer value.", {
          "{{connection_id}} {{instance}}": `${M}_remote_height{${PLACE}}`,
        }),
        plot(
          "Pruned blocks",
          "blocks",
          "Remote blocks that TX queries skipped in the last hour because every endpoint has pruned them.",
          {
            "{{connection_id}} {{instance}}": `sum by (instance, connection_id) (increase(${M}_tx_pruned_blocks_total{${PLACE}}[1h]))`,
          },
        ),
      ],
    },
  ],
};
