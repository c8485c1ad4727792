import { type PanelSpec, query, type VariableSpec } from "../../platform/monitoring/dashboards/panel-spec.ts";

/** Selects the validators of the variables. */
export const PLACE = 'job=~"$job",chain_id=~"$chain",validator=~"$validator"';
/** The same for metrics without a chain. */
export const VALIDATOR = 'job=~"$job",validator=~"$validator"';
/** Colours of the tiers. */
export const TIER_COLORS = { full: "green", proportional: "yellow", none: "red" };

/** Variables of every dashboard of the watchdog. */
export const VARIABLES: readonly VariableSpec[] = [
  { name: "job", label: "Job", metric: "oracle_watchdog_alert_firing", from: "job" },
  { name: "chain", label: "Chain", metric: 'oracle_watchdog_alert_firing{job=~"$job"}', from: "chain_id" },
  {
    name: "validator",
    label: "Validator",
    metric: 'oracle_watchdog_alert_firing{job=~"$job",chain_id=~"$chain"}',
    from: "validator",
  },
];

/** Annotations of the dashboards of the watchdog. */
export const ANNOTATIONS = {
  restarts: 'changes(oracle_watchdog_node_restarts_total{job=~"$job"}[1m]) > 0',
  alerts: `max by (alert, validator) (oracle_watchdog_alert_firing{${PLACE}}) > 0`,
};

/** What fires now. */
export const ALERTS_TABLE: PanelSpec = {
  kind: "table",
  title: "Alerts",
  description: "Firing (value 2) and pending (value 1) alerts. The name leads to the runbook.",
  unit: "none",
  width: 24,
  queries: [
    query(
      `max by (validator, chain_id, severity, alert) (oracle_watchdog_alert_firing{${PLACE}} * 2 or oracle_watchdog_alert_pending{${PLACE}}) > 0 or max by (validator, chain_id, severity, alert) (oracle_watchdog_alert_pending{${PLACE}}) > 0`,
      "",
    ),
  ],
  emptyText: "No alert fires or is pending",
  runbookColumn: "alert",
};
