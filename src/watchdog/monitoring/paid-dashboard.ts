import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  ALERTS_TABLE,
  ALLOWANCE_COLORS,
  allowanceLeft,
  ANNOTATIONS,
  ONE_VALIDATOR,
  PLACE,
  TIER_STATES,
  VALIDATOR,
} from "./oracle-parts.ts";
import {
  type DashboardSpec,
  graph,
  type PanelSpec,
  query,
  type StateSpec,
  stat,
  stateCode,
  timeline,
} from "../../platform/monitoring/dashboards/panel-spec.ts";

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

/** PromQL: number of the state that a validator is in. */
function oneOf(metric: string, label: string, states: readonly StateSpec[]): string {
  return stateCode({ metric: `oracle_watchdog_${metric}`, selector: PLACE, by: "validator", states, label });
}

/** States of the rows in one timeline: sources use their own numbers, and so do the URLs of sources that have several. */
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

/** Panels that sum up the month's result. */
const MONTH_RESULT: readonly PanelSpec[] = [
  stat("Tier so far", [query(oneOf("month_tier", "tier", TIER_STATES), "{{validator}}")], {
    description:
      "Reward tier if the month ended now. Full pay left shows whether full pay is still possible.",
    unit: "none",
    states: TIER_STATES,
    width: 3,
  }),
  stat(
    "Rate",
    [query(`min by (validator) (oracle_watchdog_month_success_ratio{${PLACE}})`, "{{validator}}")],
    {
      description: "This month's good blocks divided by the sum of its good and bad blocks.",
      unit: "percentunit",
      decimals: 4,
      width: 3,
    },
  ),
  stat("Full pay left", [query(allowanceLeft("full"), "{{validator}}")], {
    description:
      "Remaining share of the misses that full pay allows in the month. Below 0, the month is no longer paid in full. The Headroom graph shows it as time.",
    unit: "percentunit",
    decimals: 0,
    colors: ALLOWANCE_COLORS,
    width: 3,
  }),
  stat("Any pay left", [query(allowanceLeft("none"), "{{validator}}")], {
    description: "The same for any pay. Below 0, the month pays nothing.",
    unit: "percentunit",
    decimals: 0,
    colors: ALLOWANCE_COLORS,
    width: 3,
  }),
  stat(
    "Forecast",
    [
      query(
        `min by (validator) (oracle_watchdog_forecast_success_ratio{${PLACE},estimate="middle"})`,
        "{{validator}}",
      ),
    ],
    {
      description: "Expected rate at the end of the month.",
      unit: "percentunit",
      decimals: 4,
      width: 3,
    },
  ),
  stat(
    "Likely pay",
    [
      query(
        `min by (currency) (oracle_watchdog_forecast_reward{${PLACE},estimate="middle"})`,
        "reward {{currency}}",
      ),
    ],
    {
      description: "Expected reward for the month, in the configured currency.",
      unit: "none",
      show: "name and value",
      decimals: 2,
      width: 3,
    },
  ),
  stat(
    "Burn, 1 h",
    [
      query(
        `max by (boundary) (oracle_watchdog_burn_rate{${PLACE},window="1h"} unless on (instance, chain_id, validator) (oracle_watchdog_alert_firing{${PLACE},alert="cannot-see-votes"} == 1))`,
        "{{boundary}}",
      ),
    ],
    {
      description:
        "Above 1, the last hour lost more than the boundary allows. A rate of 14.4 uses 2 % of a month's allowance in an hour. Not shown while the watchdog cannot see the votes.",
      unit: "none",
      emptyText: "not seen",
      decimals: 1,
      colors: [
        ["green", undefined],
        ["yellow", 1],
        ["red", 14.4],
      ],
      width: 3,
    },
  ),
  stat(
    "Node seen",
    [
      query(
        `time() - max by (validator) (oracle_watchdog_source_last_success_timestamp_seconds{${VALIDATOR},source="node"})`,
        "{{validator}}",
      ),
    ],
    {
      description:
        "Time since the watchdog last read the node's metrics. Blocks since then are not included in the other figures.",
      unit: "s",
      decimals: 0,
      colors: [
        ["green", undefined],
        ["yellow", 60],
        ["red", 120],
      ],
      width: 3,
    },
  ),
  ALERTS_TABLE,
];

/** "Oracle: am I paid?" */
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
              "Whether the watchdog can read each source, and for sources with several URLs, which one is in use and which ones fail. Grey: current programs serve no oracle metrics.",
            last: "6h",
            states: SOURCE_STATES,
          },
        ),
        graph(
          "Burn rate",
          [query(`oracle_watchdog_burn_rate{${PLACE}}`, "{{boundary}}, {{window}} {{instance}}")],
          {
            description:
              "Share of bad blocks in each window, divided by the share that the boundary allows. Above 1, the month gets worse.",
            unit: "none",
            last: "6h",
          },
        ),
        graph("Pairs with prices", [query(`oracle_watchdog_priced_pairs{${VALIDATOR}}`, "{{instance}}")], {
          description: "Pairs in the sidecar's last response. Zero: the chain counts every vote as missed.",
          unit: "none",
          last: "6h",
        }),
        graph(
          "Blocks",
          [
            query(`oracle_watchdog_month_blocks{${PLACE}}`, "{{result}} {{instance}}"),
            query(`oracle_watchdog_month_remaining_blocks{${PLACE}}`, "remaining {{instance}}"),
            query(`oracle_watchdog_headroom_blocks{${PLACE}}`, "may be bad: {{boundary}} {{instance}}"),
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
            query(`oracle_watchdog_month_success_ratio{${PLACE}}`, "{{instance}}"),
            query(`oracle_watchdog_month_success_ratio_bound{${PLACE}}`, "{{bound}} {{instance}}"),
            query(`max by (boundary) (oracle_watchdog_boundary_ratio{${PLACE}})`, "boundary {{boundary}}"),
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
            query(`oracle_watchdog_forecast_success_ratio{${PLACE}}`, "{{estimate}} {{instance}}"),
            query(`oracle_watchdog_regime_success_ratio{${PLACE}}`, "as {{regime}} {{instance}}"),
            query(
              `oracle_watchdog_required_success_ratio{${PLACE}}`,
              "needed from now on: {{boundary}} {{instance}}",
            ),
            query(`max by (boundary) (oracle_watchdog_boundary_ratio{${PLACE}})`, "boundary {{boundary}}"),
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
            query(`oracle_watchdog_headroom_seconds{${PLACE}}`, "{{boundary}} {{instance}}"),
            query(
              `oracle_watchdog_boundary_loss_seconds{${PLACE}}`,
              "{{boundary}}, at the present loss {{instance}}",
            ),
          ],
          {
            description: "Time left until each boundary: in a total outage, and at the current loss rate.",
            unit: "s",
          },
        ),
        graph(
          "Pay",
          [
            query(`oracle_watchdog_month_reward{${PLACE}}`, "now, {{currency}} {{instance}}"),
            query(`oracle_watchdog_forecast_reward{${PLACE}}`, "{{estimate}}, {{currency}} {{instance}}"),
            query(`max(oracle_watchdog_full_reward{${PLACE}})`, "boundary full"),
          ],
          {
            description: "Reward at the current rate, and its forecast, in the configured currency.",
            unit: "none",
            limits: /^boundary/,
          },
        ),
        timeline(
          "Boundaries",
          [
            query(
              stateCode({
                metric: "oracle_watchdog_boundary_state",
                selector: PLACE,
                by: "boundary",
                states: BOUNDARY_STATES,
              }),
              "{{boundary}}",
            ),
          ],
          {
            description:
              "Open: the month can still end on either side. Clinched: it stays above. Lost: it ends below.",
            states: BOUNDARY_STATES,
          },
        ),
        timeline("Rotation", [query(oneOf("rotation_state", "state", ROTATION_STATES), "{{validator}}")], {
          description:
            "None: no risk. Next: this month would meet a rule. Due: a rule is met, and the validator may be rotated out.",
          states: ROTATION_STATES,
        }),
      ],
    },
  ],
};
