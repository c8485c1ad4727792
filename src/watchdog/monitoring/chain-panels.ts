import {
  type DashboardSpec,
  graph,
  type PanelSpec,
  query,
  stat,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import { PLACE } from "./oracle-parts.ts";

/** Panels of what the chain says beside the validator's own numbers. */
export const CHAIN_PANELS: readonly PanelSpec[] = [
  graph(
    "Deviation of the prices",
    [
      query(
        `max by (validator, node, pair, reference) (oracle_watchdog_price_deviation_ratio{${PLACE}})`,
        "{{validator}}, {{node}}: {{pair}} from {{reference}}",
      ),
    ],
    {
      description:
        "Distance of each sidecar's prices from those of the chain, and from the median of all sidecars. No line: there is no fresh price to compare.",
      unit: "percentunit",
      decimals: 2,
    },
  ),
  stat(
    "Blocks until the upgrade",
    [query(`min by (chain_id, upgrade) (oracle_watchdog_upgrade_remaining_blocks{${PLACE}})`, "{{upgrade}}")],
    {
      description:
        "Blocks until the height of the upgrade that the chain has planned. Empty: none is planned or known.",
      unit: "none",
      showName: true,
      width: 6,
    },
  ),
  stat(
    "Height of the upgrade",
    [query(`max by (chain_id, upgrade) (oracle_watchdog_upgrade_height{${PLACE}})`, "{{upgrade}}")],
    {
      description: "Height before which every node needs the new version.",
      unit: "none",
      width: 6,
    },
  ),
  stat(
    "Last month's payment",
    [query(`max by (state) (oracle_watchdog_payment_state{${PLACE}}) == 1`, "{{state}}")],
    {
      description:
        "State of the last month's payment beside the expected amount. With several validators, select one. Empty: it is not searched.",
      unit: "none",
      showName: true,
      seriesColors: { equal: "green", differs: "yellow", failed: "red", missing: "red" },
      width: 6,
    },
  ),
  stat(
    "Time of the payment",
    [
      query(
        `max by (validator) (time() - oracle_watchdog_payment_timestamp_seconds{${PLACE}})`,
        "{{validator}}",
      ),
    ],
    { description: "Time since the block with the last month's payment.", unit: "s", width: 6 },
  ),
  graph(
    "Payment",
    [
      query(
        `max by (validator, denom, amount) (oracle_watchdog_payment_amount{${PLACE}})`,
        "{{validator}}, {{amount}}, {{denom}}",
      ),
    ],
    {
      description:
        "Amount of the last month's payment, and the expected one, in the base unit of its denomination.",
      unit: "none",
    },
  ),
  graph(
    "Time until the upgrade",
    [
      query(
        `max by (chain_id, upgrade, estimate) (oracle_watchdog_upgrade_expected_timestamp_seconds{${PLACE}}) - time()`,
        "{{upgrade}}, {{estimate}}",
      ),
    ],
    {
      description:
        "Expected time until the height of the planned upgrade, and if blocks were as fast or as slow as in the extreme hours of the last day.",
      unit: "s",
    },
  ),
];

/** Row of the dashboard: the signing window, jail, and the other validators. */
export const STANDING_ROW: DashboardSpec["rows"][number] = {
  title: "Signing, jail, and the other validators",
  panels: [
    stat("Jail", [query(`max by (state) (oracle_watchdog_jail_state{${PLACE}}) == 1`, "{{state}}")], {
      description: "State in the chain's slashing module. With several validators, select one.",
      unit: "none",
      showName: true,
      seriesColors: { active: "green", jailed: "red", tombstoned: "red", unknown: "yellow" },
      width: 4,
    }),
    stat(
      "Release from jail",
      [
        query(
          `max by (validator) (oracle_watchdog_jailed_until_timestamp_seconds{${PLACE}} - time())`,
          "{{validator}}",
        ),
      ],
      {
        description: "Time until a jailed validator can be released. Negative: it can be released now.",
        unit: "s",
        width: 4,
      },
    ),
    stat("Signed", [query(`min by (validator) (oracle_watchdog_signed_ratio{${PLACE}})`, "{{validator}}")], {
      description: "Signed share of the blocks in the signing window.",
      unit: "percentunit",
      decimals: 4,
      width: 4,
    }),
    stat(
      "Jail if all is missed",
      [
        query(
          `min by (validator) (oracle_watchdog_jail_seconds{${PLACE},basis="all_missed"})`,
          "{{validator}}",
        ),
      ],
      {
        description: "Time until jail if every block is missed from now on.",
        unit: "s",
        colors: [
          ["red", undefined],
          ["yellow", 3600],
          ["green", 2 * 3600],
        ],
        width: 4,
      },
    ),
    stat("Rank", [query(`max by (measure) (oracle_watchdog_rank{${PLACE}})`, "{{measure}}")], {
      description: "Rank among the validators of the set. 1 is the best.",
      unit: "none",
      showName: true,
      width: 4,
    }),
    stat(
      "Others not better",
      [query(`min by (measure) (oracle_watchdog_percentile_ratio{${PLACE}})`, "{{measure}}")],
      {
        description: "Share of the other validators that are not better.",
        unit: "percentunit",
        showName: true,
        width: 4,
      },
    ),
    graph(
      "Signing window",
      [
        query(`oracle_watchdog_slashing_missed_blocks{${PLACE}}`, "{{validator}}, missed"),
        query(`oracle_watchdog_slashing_misses_left{${PLACE}}`, "{{validator}}, left until jail"),
        query(`max(oracle_watchdog_slashing_window_blocks{${PLACE}})`, "boundary window"),
      ],
      {
        description: "Missed blocks of the window, and how many more it allows.",
        unit: "blocks",
        limits: /^boundary/,
      },
    ),
    graph("Time to jail", [query(`oracle_watchdog_jail_seconds{${PLACE}}`, "{{validator}}, {{basis}}")], {
      description: "If every block is missed from now on, and at the present rate. Blank: never.",
      unit: "s",
    }),
    graph(
      "Others that miss too",
      [
        query(`oracle_watchdog_others_missing{${PLACE}}`, "{{validator}}, {{kind}}"),
        query(`max by (kind) (oracle_watchdog_others{${PLACE}})`, "boundary of {{kind}}"),
      ],
      {
        description:
          "Other validators that miss at least half of the latest commits or votes that the validator missed.",
        unit: "none",
        limits: /^boundary/,
      },
    ),
    graph(
      "Power that misses commits too",
      [query(`oracle_watchdog_others_missing_power_ratio{${PLACE}}`, "{{validator}}")],
      {
        description: "Share of the other validators' voting power. Above a third, the chain halts.",
        unit: "percentunit",
      },
    ),
    graph(
      "Own share and median of the others",
      [
        query(`oracle_watchdog_own_ratio{${PLACE}}`, "{{validator}}, {{measure}}"),
        query(
          `oracle_watchdog_others_median_ratio{${PLACE}}`,
          "{{validator}}, {{measure}}, median of the others",
        ),
      ],
      { description: "Shares of signed or paid blocks, and of votes.", unit: "percentunit", decimals: 3 },
    ),
    graph(
      "Age of the comparison",
      [
        query(
          `time() - oracle_watchdog_comparison_timestamp_seconds{${PLACE}}`,
          "{{validator}}, {{measure}}",
        ),
        query(
          `max by (measure) (oracle_watchdog_compared_validators{${PLACE}})`,
          "validators by {{measure}}",
        ),
      ],
      { description: "Time since the others were read, and how many were compared.", unit: "none" },
    ),
  ],
};
