import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  ALERTS_TABLE,
  ALLOWANCE_COLORS,
  allowanceLeft,
  ANNOTATIONS,
  belowFullPay,
  isMeasured,
  metric,
  seriesBy,
  TIER_COLORS,
  TOO_EARLY,
  TO_PAID,
  VALIDATOR,
  VARIABLES,
} from "./oracle-parts.ts";
import {
  BAD_ABOVE_ZERO,
  graph,
  PROCESSES,
  query,
  stat,
  table,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import type { DashboardSpec, PanelSpec } from "../../platform/monitoring/dashboards/panel-spec.ts";

const VALIDATORS: PanelSpec = table(
  "Validators",
  [
    `sort(min by (chain_id, validator) (${metric("month_success_ratio")}))`,
    `(max by (chain_id, validator, tier) (${metric("month_tier")}) == 1 and on (chain_id, validator) ${isMeasured()} == 1) or label_replace(${isMeasured()} == 0, "tier", "${TOO_EARLY}", "", "")`,
    allowanceLeft("full"),
    `min by (chain_id, validator) (${metric("forecast_success_ratio", 'estimate="middle"')})`,
    `max by (chain_id, validator) (${metric("burn_rate", 'window="1h",boundary="full"')})`,
    `sum by (chain_id, validator) (max by (chain_id, validator, alert) (${metric("alert_firing")}))`,
    `sum by (chain_id, validator) (max by (chain_id, validator, alert) (${metric("alert_pending")}))`,
  ],
  {
    description: "Each validator's month, lowest rate first. The name links to the validator's dashboard.",
    unit: "percentunit",
    height: 6,
    emptyText: "No validator has a counted block this month",
    columns: [
      { label: "validator", title: "Validator", leadsTo: TO_PAID },
      { label: "chain_id", title: "Chain" },
      { label: "tier", title: "Tier", colors: TIER_COLORS },
      { label: "Value #A", title: "Rate", decimals: 3 },
      { label: "Value #C", title: "Full pay left", decimals: 0, steps: ALLOWANCE_COLORS },
      { label: "Value #D", title: "Forecast", decimals: 3 },
      { label: "Value #E", title: "Burn, 1 h", unit: "none", decimals: 1 },
      { label: "Value #F", title: "Firing alerts", unit: "none", steps: BAD_ABOVE_ZERO },
      { label: "Value #G", title: "Pending", unit: "none" },
    ],
  },
);

/** The PromQL fallback for a count without series. The result is zero if a watchdog is scraped, and no data otherwise. */
const NONE = `0 * count(oracle_watchdog_state_stored{${PROCESSES}})`;

export const FLEET: DashboardSpec = {
  uid: DASHBOARDS.fleet,
  pages: ["watchdog"],
  file: "oracle-fleet.json",
  title: "Oracle fleet",
  description:
    "Shows for all of the watchdogs' validators which validators are losing pay, and which sources respond.",
  variables: VARIABLES,
  range: "hours",
  ...ANNOTATIONS,
  rows: [
    {
      title: "Is anybody losing pay?",
      panels: [
        stat("Below full pay so far", [query(belowFullPay(), "validators")], {
          description: "Validators whose month would not be paid in full if it ended now.",
          unit: "none",
          colors: BAD_ABOVE_ZERO,
          width: 8,
        }),
        stat(
          "Not acknowledged",
          [
            query(
              `sum(1 - max by (chain_id, validator, alert) (${metric("alert_acknowledged", 'severity="critical"')})) or ${NONE}`,
              "critical alerts",
            ),
            query(
              `count(max by (chain_id, validator, alert) (${metric("alert_escalation_steps")}) > 0) or ${NONE}`,
              "escalated",
            ),
          ],
          {
            show: "name and value",
            description:
              "Firing critical alerts that nobody has acknowledged, and firing alerts that were escalated.",
            unit: "none",
            colors: BAD_ABOVE_ZERO,
            width: 8,
          },
        ),
        stat("Silences", [query(`sum(oracle_watchdog_active_silences{${PROCESSES}})`, "silences")], {
          description: "Number of active silences.",
          unit: "none",
          width: 8,
        }),
        VALIDATORS,
        ALERTS_TABLE,
      ],
    },
    {
      title: "Sources of the watchdogs",
      panels: [
        graph(
          "Age of the last poll and of each source",
          [
            query(
              `time() - oracle_watchdog_last_poll_timestamp_seconds{${VALIDATOR}}`,
              "poll of {{validator}} {{instance}}",
            ),
            query(
              `time() - oracle_watchdog_source_last_success_timestamp_seconds{${VALIDATOR}}`,
              "{{source}} {{validator}} {{node}} {{instance}}",
            ),
          ],
          {
            description:
              "Time since a watchdog's last poll, and since the last successful read of each source. The time since the last poll grows when the watchdog has stopped.",
            unit: "s",
          },
        ),
        graph(
          "Failed scrapes",
          [
            query(
              `sum by (instance, source) (rate(oracle_watchdog_scrapes_total{${PROCESSES},outcome="failure",source!="oracle-metrics"}[$__rate_interval])) > 0`,
              "{{source}} {{instance}}",
            ),
            query(
              `sum by (instance, source) (rate(oracle_watchdog_skipped_lines_total{${PROCESSES}}[$__rate_interval])) > 0`,
              "skipped lines {{source}} {{instance}}",
            ),
          ],
          {
            description:
              "Failed scrapes per second by source, and lines that could not be parsed. Excludes the source oracle-metrics, because current programs do not have this page.",
            unit: "ops",
            emptyText: "No scrape failed",
          },
        ),
        graph(
          "Scrape duration and poll lateness",
          [
            query(
              `histogram_quantile(0.9, sum by (instance, source, le) (rate(oracle_watchdog_scrape_duration_seconds_bucket{${PROCESSES}}[$__rate_interval]))) >= 0`,
              "{{source}} {{instance}}",
            ),
            query(
              `max by (instance) (oracle_watchdog_poll_late_seconds{${VALIDATOR}})`,
              "polls late {{instance}}",
            ),
          ],
          {
            description:
              "90th percentile of the scrape duration, and how late polls begin. If polls begin more than 2 s late, the watchdog has too much work.",
            unit: "s",
          },
        ),
        graph(
          "Node restarts",
          seriesBy(
            "instance",
            `sum by (instance) (increase(oracle_watchdog_node_restarts_total{${PROCESSES}}[1h]))`,
          ),
          {
            description:
              "Node restarts in the last hour that the watchdogs detected from the nodes' counters.",
            unit: "none",
          },
        ),
      ],
    },
  ],
};
