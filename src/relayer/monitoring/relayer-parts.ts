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

export const PLACE = `${PROCESSES},connection_id=~"$connection"`;
export const CHAIN = `${PROCESSES},chain_id=~"$chain"`;
export const M = "relaywatch_relayer";

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

/** From this number of days, the panel shows "more than a year" instead. */
export const YEAR = [366, "more than a year"] as const;

/** How long the account can pay. */
export const BALANCE_LASTS: PanelSpec = stat(
  "Balance lasts for",
  [query(`min(${M}_account_left_seconds{${PROCESSES}}) / 86400`, "left")],
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

/** Why queries wait. */
export const BACKING_OFF: PanelSpec = graph(
  "Queries backing off",
  [
    query(
      `sum by (instance, connection_id, code) (${M}_backing_off_queries{${PLACE}}) > 0`,
      "{{code}} {{connection_id}} {{instance}}",
    ),
  ],
  { description: "By the code of their last failure.", unit: "none", emptyText: "No query is backing off" },
);
