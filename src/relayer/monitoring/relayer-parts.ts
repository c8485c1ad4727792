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

/** Selects the connections of the variable. */
export const PLACE = `${PROCESSES},connection_id=~"$connection"`;
/** Selects the chains of the variable. */
export const CHAIN = `${PROCESSES},chain_id=~"$chain"`;
/** Prefix of the relayer's metrics. */
export const M = "relaywatch_relayer";

/** The variables of relayers. */
export const RELAYERS: readonly VariableSpec[] = processVariables(`${M}_ready`);
/** The variable of connections. */
export const CONNECTIONS: VariableSpec = {
  name: "connection",
  label: "Connection",
  metric: `${M}_remote_height{${PROCESSES}}`,
  from: "connection_id",
};
/** The variable of chains. */
export const CHAINS: VariableSpec = {
  name: "chain",
  label: "Chain",
  metric: `${M}_endpoint_up{${PROCESSES}}`,
  from: "chain_id",
};

/** Annotations of the dashboards of the relayer. */
export const ANNOTATIONS = {
  restarts: restartsOf(PROCESSES),
  alerts: 'ALERTS{component="icq-relayer",alertstate="firing",job=~"$job"}',
};

/** Days from here on are shown as "more than a year". */
export const YEAR = [366, "more than a year"] as const;

/** How long the account can pay. */
export const BALANCE_LASTS: PanelSpec = stat(
  "Balance lasts for",
  [query(`min(${M}_account_left_seconds{${PROCESSES}}) / 86400`, "left")],
  {
    description: "Time until the balance is spent at the rate of the last day.",
    unit: "days",
    decimals: 1,
    enough: YEAR,
    colors: [
      ["red", undefined],
      ["yellow", 1],
      ["green", 7],
    ],
    emptyText: "Nothing was spent yet",
    width: 6,
  },
);

/** Why queries wait. */
export const BACKING_OFF: PanelSpec = graph(
  "Queries that back off",
  [
    query(
      `sum by (instance, connection_id, code) (${M}_backing_off_queries{${PLACE}}) > 0`,
      "{{code}} {{connection_id}} {{instance}}",
    ),
  ],
  { description: "By the code of their last failure.", unit: "none", emptyText: "No query backs off" },
);
