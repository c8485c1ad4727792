import {
  graph,
  type PanelSpec,
  PROCESSES,
  processVariables,
  query,
  restartsOf,
  stat,
  type VariableSpec,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import { M } from "./relayer-condition.ts";

export const PLACE = `${PROCESSES},connection_id=~"$connection"`;
export const CHAIN = `${PROCESSES},chain_id=~"$chain"`;

export const RELAYERS: readonly VariableSpec[] = processVariables(`${M}_ready`);
export const CONNECTIONS: VariableSpec = {
  name: "connection",
  label: "Connection",
  metric: `${M}_remote_height{${PROCESSES}}`,
  from: "connection_id",
};
export const CHAINS: VariableSpec = {
  name: "chain",
  label: "Chain",
  metric: `${M}_endpoint_up{${PROCESSES}}`,
  from: "chain_id",
};

export const ANNOTATIONS = {
  restarts: restartsOf(PROCESSES),
  alerts: 'ALERTS{component="icq-relayer",alertstate="firing",job=~"$job"}',
};

/** The text that a panel shows instead of the number of days, and the number from which it applies. */
export const YEAR = [366, "more than a year"] as const;

/** Returns a selector for the selected processes' series of a metric, narrowed by `labels`, for example `kind="price"`. */
export function own(metric: string, labels?: string): string {
  return `${M}_${metric}{${PROCESSES}${labels === undefined ? "" : `,${labels}`}}`;
}

/** Returns a counter's increase per second, summed by the labels in `by`. */
export function rate(by: string, metric: string, selector: string): string {
  return `sum by (${by}) (rate(${M}_${metric}{${selector}}[$__rate_interval]))`;
}

/** Returns a graph of `series`, which maps legends to expressions. A series whose legend starts with "limit" is dashed. */
export function plot(
  title: string,
  unit: PanelSpec["unit"],
  description: string,
  series: Readonly<Record<string, string>>,
): PanelSpec {
  const queries = Object.entries(series).map(([legend, expr]) => query(expr, legend));
  const isLimited = queries.some(({ legend }) => legend.startsWith("limit"));
  return graph(title, queries, { description, unit, ...(isLimited && { limits: /^limit/ }) });
}

/** A panel that shows how long the account can pay. */
export const BALANCE_LASTS: PanelSpec = stat(
  "Balance lasts for",
  [query(`min(${own("account_left_seconds")}) / 86400`, "left")],
  {
    description: "Time until the balance is spent at the last day's rate.",
    unit: "days",
    decimals: 1,
    enough: YEAR,
    colors: [
      ["red", undefined],
      ["yellow", 1],
      ["green", 7],
    ],
    emptyText: "Nothing has been spent yet",
    width: 6,
  },
);

/** A graph of the queries that are backing off, by the code of their last failure. */
export const BACKING_OFF: PanelSpec = {
  ...plot("Queries backing off", "none", "Queries that are backing off, by the code of their last failure.", {
    "{{code}} {{connection_id}} {{instance}}": `sum by (instance, connection_id, code) (${M}_backing_off_queries{${PLACE}}) > 0`,
  }),
  emptyText: "No query is backing off",
};
