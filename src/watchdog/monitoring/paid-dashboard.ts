import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import { CHAIN_PANELS, STANDING_ROW } from "./chain-panels.ts";
import { ALERTS_TABLE, ANNOTATIONS, PLACE, TIER_COLORS, VALIDATOR, VARIABLES } from "./oracle-parts.ts";
import {
  type DashboardSpec,
  graph,
  type PanelSpec,
  query,
  stat,
} from "../../platform/monitoring/dashboards/panel-spec.ts";

const HEADROOM_COLORS = [
  ["red", undefined],
  ["yellow", 4 * 3600],
  ["green", 24 * 3600],
] as const;

/** The month's result at a glance. */
const MONTH_RESULT: readonly PanelSpec[] = [
  stat("Tier", [query(`max by (tier) (oracle_watchdog_month_tier{${PLACE}}) == 1`, "{{tier}}")], {
    description: "Reward tier of this month so far. With several validators, select one.",
    unit: "none",
    showName: true,
    seriesColors: TIER_COLORS,
    width: 3,
  }),
  stat(
    "Rate",
    [query(`min by (validator) (oracle_watchdog_month_success_ratio{${PLACE}})`, "{{validator}}")],
    {
      description: "Good blocks of this month, divided by good and bad ones.",
      unit: "percentunit",
      decimals: 4,
      width: 3,
    },
  ),
  stat(
    "Left to full pay",
    [
      query(
        `min by (validator) (oracle_watchdog_headroom_seconds{${PLACE},boundary="full"})`,
        "{{validator}}",
      ),
    ],
    {
      description: "Time of a total outage until the month is no longer paid in full.",
      unit: "s",
      colors: HEADROOM_COLORS,
      width: 3,
    },
  ),
  stat(
    "Left to any pay",
    [
      query(
        `min by (validator) (oracle_watchdog_headroom_seconds{${PLACE},boundary="none"})`,
        "{{validator}}",
      ),
    ],
    {
      description: "Time of a total outage until the month pays nothing.",
      unit: "s",
      colors: HEADROOM_COLORS,
      width: 3,
    },
  ),
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
    "Expected pay",
    [
      query(
        `min by (validator) (oracle_watchdog_forecast_reward{${PLACE},estimate="middle"})`,
        "{{validator}}",
      ),
    ],
    {
      description: "Expected reward of the month in currency units.",
      unit: "none",
      decimals: 2,
      width: 3,
    },
  ),
  stat(
    "Burn, last hour",
    [query(`max by (boundary) (oracle_watchdog_burn_rate{${PLACE},window="1h"})`, "{{boundary}}")],
    {
      description:
        "Above 1, the last hour lost more than the boundary allows. 14.4 uses 2 % of a month's allowance in an hour.",
      unit: "none",
      decimals: 1,
      colors: [
        ["green", undefined],
        ["yellow", 1],
        ["red", 14.4],
      ],
      width: 3,
    },
  ),
  stat("Rotation", [query(`max by (state) (oracle_watchdog_rotation_state{${PLACE}}) == 1`, "{{state}}")], {
    description:
      "none: no risk. next: this month would meet a rule. due: a rule is met, and the validator may be rotated out.",
    unit: "none",
    showName: true,
    seriesColors: { none: "green", next: "yellow", due: "red" },
    width: 3,
  }),
  ALERTS_TABLE,
];

/** Oracle: am I paid? */
export const PAID: DashboardSpec = {
  uid: DASHBOARDS.paid,
  pages: ["watchdog"],
  file: "oracle-am-i-paid.json",
  title: "Oracle: am I paid?",
  description: "Tier, rate, headroom and forecast of the month, from the oracle watchdog. Causes below.",
  variables: VARIABLES,
  range: "month",
  ...ANNOTATIONS,
  rows: [
    { title: "Am I paid?", panels: MONTH_RESULT },
    {
      title: "This month",
      panels: [
        graph(
          "Success rate",
          [
            query(`oracle_watchdog_month_success_ratio{${PLACE}}`, "{{validator}}"),
            query(`oracle_watchdog_month_success_ratio_bound{${PLACE}}`, "{{validator}}, {{bound}}"),
            query(`max by (boundary) (oracle_watchdog_boundary_ratio{${PLACE}})`, "boundary {{boundary}}"),
          ],
          {
            description:
              "The month's rate, its bounds with unknown blocks as bad and as good, and the boundaries of the policy.",
            unit: "percentunit",
            decimals: 3,
            limits: /^boundary/,
          },
        ),
        graph(
          "Forecast of the month's end",
          [
            query(`oracle_watchdog_forecast_success_ratio{${PLACE}}`, "{{validator}}, {{estimate}}"),
            query(`oracle_watchdog_regime_success_ratio{${PLACE}}`, "{{validator}}, as {{regime}}"),
            query(`max by (boundary) (oracle_watchdog_boundary_ratio{${PLACE}})`, "boundary {{boundary}}"),
          ],
          {
            description:
              "Middle: the loss that goes on now does not end. 80 % of the forecasts from recent days lie between low and high. As now, days and month: the rest is like the last 6 hours, 3 days, and the month.",
            unit: "percentunit",
            decimals: 3,
            limits: /^boundary/,
          },
        ),
        graph(
          "Headroom",
          [
            query(`oracle_watchdog_headroom_seconds{${PLACE}}`, "{{validator}}, {{boundary}}"),
            query(
              `oracle_watchdog_boundary_loss_seconds{${PLACE}}`,
              "{{validator}}, {{boundary}}, at the present loss",
            ),
          ],
          {
            description:
              "Time that is left until each boundary: of a total outage, and at the loss that goes on now.",
            unit: "s",
          },
        ),
        graph(
          "Burn rate",
          [query(`oracle_watchdog_burn_rate{${PLACE}}`, "{{validator}}, {{boundary}}, {{window}}")],
          {
            description:
              "Share of bad blocks of each window, divided by the share that the boundary allows. Above 1 the month gets worse.",
            unit: "none",
          },
        ),
        graph("Blocks", [query(`oracle_watchdog_month_blocks{${PLACE}}`, "{{validator}}, {{result}}")], {
          description: "Blocks of the month by result. Unknown: a restart of the node erased the result.",
          unit: "blocks",
        }),
        graph(
          "Blocks left, and needed",
          [
            query(`oracle_watchdog_month_remaining_blocks{${PLACE}}`, "{{validator}}, remaining"),
            query(`oracle_watchdog_headroom_blocks{${PLACE}}`, "{{validator}}, may be bad: {{boundary}}"),
          ],
          {
            description: "Blocks until the end of the month, and how many of them may be bad.",
            unit: "blocks",
          },
        ),
        graph(
          "Pay",
          [
            query(`oracle_watchdog_month_reward{${PLACE}}`, "{{validator}}, now"),
            query(`oracle_watchdog_forecast_reward{${PLACE}}`, "{{validator}}, {{estimate}}"),
            query(`max(oracle_watchdog_full_reward{${PLACE}})`, "boundary full"),
          ],
          {
            description: "Reward at the current rate, and its forecast, in currency units.",
            unit: "none",
            limits: /^boundary/,
          },
        ),
        graph(
          "Needed for the rest of the month",
          [query(`oracle_watchdog_required_success_ratio{${PLACE}}`, "{{validator}}, {{boundary}}")],
          {
            description:
              "Least rate of the remaining blocks. Above 100 % the boundary is lost, below 0 it is safe.",
            unit: "percentunit",
          },
        ),
      ],
    },
    { title: "Chain", panels: CHAIN_PANELS },
    STANDING_ROW,
    {
      title: "Causes",
      panels: [
        {
          kind: "timeline",
          title: "Sources",
          description: "Green: the last scrape succeeded. Red: the watchdog cannot see the source.",
          unit: "bool",
          width: 12,
          queries: [
            query(`max by (node, source) (oracle_watchdog_source_up{${VALIDATOR}})`, "{{node}} {{source}}"),
          ],
          colors: [
            ["red", undefined],
            ["green", 1],
          ],
        },
        {
          kind: "timeline",
          title: "Boundaries",
          description: "State of each boundary: 1 for the one of open, clinched and lost that holds.",
          unit: "none",
          width: 12,
          queries: [
            query(
              `max by (boundary, state) (oracle_watchdog_boundary_state{${PLACE}})`,
              "{{boundary}} {{state}}",
            ),
          ],
        },
        {
          kind: "timeline",
          title: "URLs of sources",
          description: "Of sources with several URLs. Green: it responded last. Blank: it is not used.",
          unit: "bool",
          width: 12,
          queries: [
            query(
              `max by (node, source, endpoint) (oracle_watchdog_endpoint_used{${VALIDATOR}}) == 1`,
              "{{node}} {{source}} {{endpoint}}",
            ),
          ],
        },
        {
          kind: "timeline",
          title: "URLs that failed",
          description: "Of sources with several URLs. Red: a request failed in the last half minute.",
          unit: "bool",
          width: 12,
          queries: [
            query(
              `max by (node, source, endpoint) (oracle_watchdog_endpoint_up{${VALIDATOR}})`,
              "{{node}} {{source}} {{endpoint}}",
            ),
          ],
          colors: [
            ["red", undefined],
            ["green", 1],
          ],
        },
        graph("Pairs with a price", [query(`oracle_watchdog_priced_pairs{${VALIDATOR}}`, "{{validator}}")], {
          description: "Pairs in the sidecar's last response. Zero: the chain counts every vote as missed.",
          unit: "none",
        }),
        graph(
          "Age of the last successful scrape",
          [
            query(
              `time() - oracle_watchdog_source_last_success_timestamp_seconds{${VALIDATOR}}`,
              "{{node}} {{source}}",
            ),
          ],
          { description: "Time since the last successful scrape of each source.", unit: "s" },
        ),
      ],
    },
  ],
};
