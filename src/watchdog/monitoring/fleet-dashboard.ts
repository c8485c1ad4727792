import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import { ALERTS_TABLE, ANNOTATIONS, PLACE, TIER_COLORS, VALIDATOR, VARIABLES } from "./oracle-parts.ts";
import { type DashboardSpec, graph, query, stat } from "../../platform/monitoring/dashboards/panel-spec.ts";

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
              seriesColors: { [tier]: TIER_COLORS[tier] },
              width: 3,
            },
          ),
        ),
        stat("Alerts", [query(`sum(oracle_watchdog_alert_firing{${PLACE}})`, "firing")], {
          description: "Firing alerts of all validators.",
          unit: "none",
          colors: [
            ["green", undefined],
            ["red", 1],
          ],
        }),
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
            colors: [
              ["green", undefined],
              ["red", 1],
            ],
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
          },
        ),
        {
          kind: "table",
          title: "Validators",
          description: "Rate of the month by validator, lowest first.",
          unit: "percentunit",
          decimals: 4,
          width: 12,
          queries: [
            query(`sort(min by (chain_id, validator) (oracle_watchdog_month_success_ratio{${PLACE}}))`, ""),
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
              'sum by (source) (rate(oracle_watchdog_skipped_lines_total{job=~"$job"}[$__rate_interval])) > 0',
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
          "Age of the last poll",
          [query(`time() - oracle_watchdog_last_poll_timestamp_seconds{${VALIDATOR}}`, "{{validator}}")],
          {
            description: "Grows when a watchdog has stopped.",
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
              'sum by (instance) (increase(oracle_watchdog_node_restarts_total{job=~"$job"}[$__rate_interval]))',
              "{{instance}}",
            ),
          ],
          {
            description: "Node restarts that the watchdogs detected in the nodes' counters.",
            unit: "none",
          },
        ),
      ],
    },
  ],
};
