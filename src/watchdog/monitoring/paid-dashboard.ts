import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  ALERTS_TABLE,
  ALLOWANCE_COLORS,
  allowanceLeft,
  ANNOTATIONS,
  metric,
  ONE_VALIDATOR,
  seriesBy,
  PLACE,
  steps,
  TIER_STATES,
  tierCode,
  VALIDATOR,
} from "./oracle-parts.ts";
import { graph, query, stat, stateCode, timeline } from "../../platform/monitoring/dashboards/panel-spec.ts";
import type { DashboardSpec, PanelSpec, StateSpec } from "../../platform/monitoring/dashboards/panel-spec.ts";

const BOUNDARY_STATES: readonly StateSpec[] = [
  [1, "lost", "red"],
  [2, "open", "blue"],
  [3, "clinched", "green"],
];

const ROTATION_STATES: readonly StateSpec[] = [
  [1, "none", "green"],
  [2, "next", "yellow"],
  [3, "due", "red"],
];

/** Returns PromQL for the numeric code of a validator's current state. */
function oneOf(name: string, label: string, states: readonly StateSpec[], by = "validator"): string {
  return stateCode({ metric: `oracle_watchdog_${name}`, selector: PLACE, by, states, label });
}

/** The text of the forecast panels while there is no forecast. */
const NO_FORECAST = "none yet";

/** The states for a timeline of sources and their URLs. Rows for sources and rows for URLs use different codes. */
const SOURCE_STATES: readonly StateSpec[] = [
  [0, "cannot be read", "red"],
  [1, "readable", "green"],
  [2, "URL fails", "red"],
  [3, "URL responds", "blue"],
  [4, "URL used last, failing", "red"],
  [5, "URL in use", "green"],
  [6, "not served", "text"],
  [7, "readable", "green"],
];

const MONTH_RESULT: readonly PanelSpec[] = [
  stat("Tier so far", seriesBy("validator", `max by (validator) (${tierCode()})`), {
    description:
      "Reward tier if the month ended now, or too early to say in the month's first hour. Full pay left shows whether full pay is still possible.",
    unit: "none",
    states: TIER_STATES,
    width: 3,
  }),
  stat("Rate", seriesBy("validator", `min by (validator) (${metric("month_success_ratio")})`), {
    description: "This month's good blocks divided by the sum of its good and bad blocks.",
    unit: "percentunit",
    decimals: 4,
    width: 3,
  }),
  stat("Full pay left", seriesBy("validator", allowanceLeft("full")), {
    description:
      "Remaining share of the misses that the month allows with full pay. Below 0, the month is no longer paid in full. The Headroom graph shows this share as time.",
    unit: "percentunit",
    decimals: 0,
    colors: ALLOWANCE_COLORS,
    width: 3,
  }),
  stat("Any pay left", seriesBy("validator", allowanceLeft("none")), {
    description:
      "Remaining share of the misses that the month allows with any pay. Below 0, the month pays nothing.",
    unit: "percentunit",
    decimals: 0,
    colors: ALLOWANCE_COLORS,
    width: 3,
  }),
  stat(
    "Forecast",
    seriesBy("validator", `min by (validator) (${metric("forecast_success_ratio", 'estimate="middle"')})`),
    {
      description: "Expected rate at the end of the month.",
      emptyText: NO_FORECAST,
      unit: "percentunit",
      decimals: 4,
      width: 3,
    },
  ),
  stat(
    "Likely pay",
    [query(`min by (currency) (${metric("forecast_reward", 'estimate="middle"')})`, "reward {{currency}}")],
    {
      description: "Expected reward for the month, in the configured currency.",
      emptyText: NO_FORECAST,
      unit: "none",
      show: "name and value",
      decimals: 2,
      width: 3,
    },
  ),
  stat(
    "Burn, 1 h",
    seriesBy(
      "boundary",
      `max by (boundary) (${metric("burn_rate", 'window="1h"')} unless on (instance, chain_id, validator) (${metric("alert_firing", 'alert="cannot-see-votes"')} == 1))`,
    ),
    {
      description:
        "A value above 1 means that the last hour lost more than the boundary allows. A rate of 14.4 uses 2 % of a month's allowance in an hour. Not shown while the watchdog cannot see the votes.",
      unit: "none",
      emptyText: "not seen",
      decimals: 1,
      colors: steps("green", { yellow: 1, red: 14.4 }),
      width: 3,
    },
  ),
  stat(
    "Node seen",
    seriesBy(
      "validator",
      `time() - max by (validator) (oracle_watchdog_source_last_success_timestamp_seconds{${VALIDATOR},source="node"})`,
    ),
    {
      description:
        "Time since the watchdog last read the node's metrics. The other panels do not include blocks since this reading.",
      unit: "s",
      decimals: 0,
      colors: steps("green", { yellow: 60, red: 120 }),
      width: 3,
    },
  ),
  ALERTS_TABLE,
];

export const PAID: DashboardSpec = {
  uid: DASHBOARDS.paid,
  pages: ["watchdog"],
  file: "oracle-am-i-paid.json",
  title: "Oracle: am I paid?",
  description: "The month's tier, rate, headroom and forecast, from the oracle watchdog. Causes are below.",
  variables: ONE_VALIDATOR,
  range: "month",
  ...ANNOTATIONS,
  rows: [
    { title: "Am I paid?", panels: MONTH_RESULT },
    {
      title: "What is the cause?",
      panels: [
        timeline(
          "Sources",
          [
            query(
              `max by (node, source) (oracle_watchdog_source_up{${VALIDATOR},source!="oracle-metrics"} or 6 + oracle_watchdog_source_up{${VALIDATOR},source="oracle-metrics"})`,
              "{{node}} {{source}}",
            ),
            query(
              `2 + max by (node, source, endpoint) (oracle_watchdog_endpoint_up{${VALIDATOR}} + 2 * oracle_watchdog_endpoint_used{${VALIDATOR}})`,
              "{{node}} {{source}} {{endpoint}}",
            ),
          ],
          {
            description:
              "Shows whether the watchdog can read each source and, for a source with several URLs, which URL is in use and which URLs fail. The source oracle-metrics is grey because current programs have no separate page for oracle metrics.",
            last: "6h",
            states: SOURCE_STATES,
          },
        ),
        graph("Burn rate", [query(metric("burn_rate"), "{{boundary}}, {{window}} {{instance}}")], {
          description:
            "Share of bad blocks in each window, divided by the share that the boundary allows. A value above 1 means that the window was worse than the boundary allows.",
          unit: "none",
          last: "6h",
        }),
        graph("Pairs with prices", seriesBy("instance", `oracle_watchdog_priced_pairs{${VALIDATOR}}`), {
          description:
            "Number of pairs in the sidecar's last response. If the number is zero, the chain counts every vote as missed.",
          unit: "none",
          last: "6h",
        }),
        graph(
          "Blocks",
          [
            query(metric("month_blocks"), "{{result}} {{instance}}"),
            query(metric("month_remaining_blocks"), "remaining {{instance}}"),
            query(metric("headroom_blocks"), "may be bad: {{boundary}} {{instance}}"),
          ],
          {
            description:
              "The month's blocks by result, blocks until its end, and how many more may be bad. Unknown: a node restart erased the result. No new good blocks: the node or the chain has halted.",
            unit: "blocks",
            logAxis: true,
            last: "6h",
          },
        ),
      ],
    },
    {
      title: "This month",
      panels: [
        graph(
          "Success rate",
          [
            query(metric("month_success_ratio"), "{{instance}}"),
            query(metric("month_success_ratio_bound"), "{{bound}} {{instance}}"),
            query(`max by (boundary) (${metric("boundary_ratio")})`, "boundary {{boundary}}"),
          ],
          {
            description:
              "The month's rate, its bounds if all unknown blocks were bad or all good, and the policy's boundaries.",
            unit: "percentunit",
            decimals: 3,
            height: 10,
            limits: /^boundary/,
          },
        ),
        graph(
          "Forecast of the month's end",
          [
            query(metric("forecast_success_ratio"), "{{estimate}} {{instance}}"),
            query(metric("regime_success_ratio"), "as {{regime}} {{instance}}"),
            query(metric("required_success_ratio"), "needed from now on: {{boundary}} {{instance}}"),
            query(`max by (boundary) (${metric("boundary_ratio")})`, "boundary {{boundary}}"),
          ],
          {
            description:
              "Middle: the current loss continues. 80 % of the forecasts from recent days lie between low and high. As now, days and month: the rest of the month is like the last 6 hours, the last 3 days, or the month so far. Needed: minimum rate for the remaining blocks. Above 100 %, the boundary is lost; below 0, it is safe.",
            unit: "percentunit",
            decimals: 3,
            height: 10,
            limits: /^boundary/,
          },
        ),
        graph(
          "Headroom",
          [
            query(metric("headroom_seconds"), "{{boundary}} {{instance}}"),
            query(metric("boundary_loss_seconds"), "{{boundary}}, at the current loss {{instance}}"),
          ],
          {
            description:
              "Time until each reward boundary is lost, in a total outage and at the current loss rate.",
            unit: "s",
          },
        ),
        graph(
          "Pay",
          [
            query(metric("month_reward"), "now, {{currency}} {{instance}}"),
            query(metric("forecast_reward"), "{{estimate}}, {{currency}} {{instance}}"),
            query(`max(${metric("full_reward")})`, "boundary full"),
          ],
          {
            description: "Reward at the current rate, and its forecast, in the configured currency.",
            unit: "none",
            limits: /^boundary/,
          },
        ),
        timeline(
          "Boundaries",
          seriesBy("boundary", oneOf("boundary_state", "state", BOUNDARY_STATES, "boundary")),
          {
            description:
              "Open: the month can still end on either side. Clinched: it stays above. Lost: it ends below.",
            states: BOUNDARY_STATES,
          },
        ),
        timeline("Rotation", seriesBy("validator", oneOf("rotation_state", "state", ROTATION_STATES)), {
          description:
            "Rotation risk. None: no risk. Next: this month's result would meet a rotation rule. Due: a rule is already met, and the validator may be rotated out.",
          states: ROTATION_STATES,
        }),
      ],
    },
  ],
};
