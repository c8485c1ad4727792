import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import { ALERTS_TABLE, allowanceLeft, ANNOTATIONS, PLACE, VALIDATOR, VARIABLES } from "./oracle-parts.ts";
import {
  BAD_ABOVE_ZERO,
  type DashboardSpec,
  graph,
  query,
  stat,
} from "../../platform/monitoring/dashboards/panel-spec.ts";

/** Nobody in a lower tier is good. */
const TIER_COUNT_COLORS = {
  full: [["green", undefined]],
  proportional: [
    ["green", undefined],
    ["yellow", 1],
  ],
  none: BAD_ABOVE_ZERO,
} as const;

/** Oracle fleet. */
export const FLEET: DashboardSpec = {
  uid: DASHBOARDS.fleet,
  pages: ["watchdog"],
  file: "oracle-fleet.json",
  title: "Oracle fleet",
  description: "All validators of the watchdogs: who loses pay, and which sources respond.",
  variables: VARIABLES,
  range: "hours",
  ...ANNOTATIONS,
  rows: [
    {
      title: "Is anybody losing pay?",
      panels: [
        stat(
          "Validators",
          [
            query(
              `count(max by (chain_id, validator) (oracle_watchdog_month_success_ratio{${PLACE}}))`,
              "validators",
            ),
          ],
          {
            description: "Validators with a counted block this month.",
            unit: "none",
            width: 3,
          },
        ),
        ...(["full", "proportional", "none"] as const).map((tier) =>
          stat(
            `Tier ${tier}`,
            [
              query(
                `sum(max by (chain_id, validator) (oracle_watchdog_month_tier{${PLACE},tier="${tier}"}))`,
                tier,
              ),
            ],
            {
              description: `Validators whose month is in the tier ${tier} now.`,
              unit: "none",
              colors: TIER_COUNT_COLORS[tier],
              width: 3,
            },
          ),
        ),
        stat(
          "Alerts",
          [
            query(`sum(oracle_watchdog_alert_firing{${PLACE}})`, "firing"),
            query(`sum(oracle_watchdog_alert_pending{${PLACE}})`, "pending"),
          ],
          {
            show: "name and value",
            description: "Firing alerts of all validators, also muted ones, and those that do not fire yet.",
            unit: "none",
            colors: BAD_ABOVE_ZERO,
          },
        ),
        stat(
          "Not acknowledged",
          [
            query(
              `sum(1 - oracle_watchdog_alert_acknowledged{${PLACE},severity="critical"}) or vector(0)`,
              "alerts",
            ),
          ],
          {
            description: "Critical alerts that fire and that nobody acknowledged.",
            unit: "none",
            colors: BAD_ABOVE_ZERO,
          },
        ),
        stat("Silences", [query('sum(oracle_watchdog_active_silences{job=~"$job"})', "silences")], {
          description: "Silences that are active now.",
          unit: "none",
        }),
        ALERTS_TABLE,
        graph(
          "Escalations",
          [
            query(
              `max by (validator, alert) (oracle_watchdog_alert_escalation_steps{${PLACE}}) > 0`,
              "{{validator}}: {{alert}}",
            ),
          ],
          {
            description: "Steps of the escalation that were taken, since nobody acknowledged the alert.",
            unit: "none",
            emptyText: "No alert was escalated",
          },
        ),
        {
          kind: "table",
          title: "Validators",
          description: "Each validator's month, the lowest rate first. The name leads to its own dashboard.",
          unit: "percentunit",
          decimals: 3,
          width: 12,
          height: 8,
          queries: [
            query(`sort(min by (chain_id, validator) (oracle_watchdog_month_success_ratio{${PLACE}}))`, ""),
            query(allowanceLeft("full"), ""),
            query(
              `min by (chain_id, validator) (oracle_watchdog_forecast_success_ratio{${PLACE},estimate="middle"})`,
              "",
            ),
            query(`sum by (chain_id, validator) (oracle_watchdog_alert_firing{${PLACE}})`, ""),
          ],
          columns: [
            {
              label: "validator",
              title: "Validator",
              link: { dashboard: DASHBOARDS.paid, variable: "validator" },
            },
            { label: "chain_id", title: "Chain" },
            { label: "Value #A", title: "Rate" },
            { label: "Value #B", title: "Allowance left" },
            { label: "Value #C", title: "Forecast" },
            { label: "Value #D", title: "Alerts", unit: "none" },
          ],
        },
        graph(
          "Rate by validator",
          [
            query(
              `min by (chain_id, validator) (oracle_watchdog_month_success_ratio{${PLACE}})`,
              "{{chain_id}} {{validator}}",
            ),
          ],
          {
            description: "Rates of the month of all validators.",
            unit: "percentunit",
            decimals: 3,
          },
        ),
      ],
    },
    {
      title: "Sources of the watchdogs",
      panels: [
        graph(
          "Failed scrapes",
          [
            query(
              'sum by (source) (rate(oracle_watchdog_scrapes_total{job=~"$job",outcome="failure"}[$__rate_interval]))',
              "{{source}}",
            ),
            query(
              'sum by (source) (rate(oracle_watchdog_skipped_lines_total{job=~"$job"}[$__rate_interval]))',
              "{{source}}, skipped lines",
            ),
          ],
          {
            description:
              "Failed scrapes per second by source, and lines that could not be read. A refused oracle-metrics page is normal.",
            unit: "ops",
          },
        ),
        graph(
          "Duration of scrapes",
          [
            query(
              'histogram_quantile(0.9, sum by (source, le) (rate(oracle_watchdog_scrape_duration_seconds_bucket{job=~"$job"}[$__rate_interval])))',
              "{{source}}",
            ),
          ],
          { description: "90 % of the scrapes are faster.", unit: "s" },
        ),
        graph(
          "Age of the last poll, and of each source",
          [
            query(`time() - oracle_watchdog_last_poll_timestamp_seconds{${VALIDATOR}}`, "{{validator}}"),
            query(
              `time() - oracle_watchdog_source_last_success_timestamp_seconds{${VALIDATOR}}`,
              "{{validator}}: {{node}} {{source}}",
            ),
          ],
          {
            description:
              "Time since a watchdog's last poll, which grows when the watchdog has stopped, and since each source was last read.",
            unit: "s",
          },
        ),
        graph(
          "Lateness of polls",
          [query(`max by (instance) (oracle_watchdog_poll_late_seconds{${VALIDATOR}})`, "{{instance}}")],
          {
            description:
              "How much later than planned the latest poll of a watchdog began. Above 2 s, it has too much work.",
            unit: "s",
          },
        ),
        graph(
          "Restarts of nodes",
          [
            query(
              'sum by (instance) (increase(oracle_watchdog_node_restarts_total{job=~"$job"}[1h]))',
              "{{instance}}",
            ),
          ],
          {
            description: "Node restarts of the last hour that the watchdogs detected in the nodes' counters.",
            unit: "none",
          },
        ),
      ],
    },
  ],
};
