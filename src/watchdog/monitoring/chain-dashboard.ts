import {
  type DashboardSpec,
  graph,
  type PanelSpec,
  query,
  stat,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import { ALERTS_TABLE, ANNOTATIONS, PLACE, VARIABLES } from "./oracle-parts.ts";

const NO_SECTION = "The watchdog has no section chain for this, or the chain has no such module";
const NO_UPGRADE = "No upgrade is planned";

/** Prices, upgrade and payment, from the chain. */
const CHAIN_PANELS: readonly PanelSpec[] = [
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
      emptyText: NO_SECTION,
      decimals: 2,
    },
  ),
  stat(
    "Blocks until the upgrade",
    [query(`min by (chain_id, upgrade) (oracle_watchdog_upgrade_remaining_blocks{${PLACE}})`, "{{upgrade}}")],
    {
      description: "Blocks until the height of the upgrade that the chain has planned.",
      unit: "blocks",
      show: "name and value",
      emptyText: NO_UPGRADE,
      width: 6,
    },
  ),
  stat(
    "Height of the upgrade",
    [query(`max by (chain_id, upgrade) (oracle_watchdog_upgrade_height{${PLACE}})`, "{{upgrade}}")],
    {
      description: "Height before which every node needs the new version.",
      unit: "none",
      emptyText: NO_UPGRADE,
      width: 6,
    },
  ),
  stat(
    "Last month's payment",
    [query(`max by (state) (oracle_watchdog_payment_state{${PLACE}}) == 1`, "{{state}}")],
    {
      description:
        "State of the last month's payment beside the expected amount. With several validators, select one.",
      unit: "none",
      show: "name",
      emptyText: NO_SECTION,
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
    {
      description: "Time since the block with the last month's payment.",
      unit: "s",
      emptyText: "No payment was found",
      width: 6,
    },
  ),
  graph(
    "Payment",
    [
      query(
        `max by (validator, denom, amount) (oracle_watchdog_payment_amount{${PLACE}}) / 1e6`,
        "{{validator}}, {{amount}}, million {{denom}}",
      ),
    ],
    {
      description:
        "Amount of the last month's payment, and the expected one, in millions of the denomination's base unit (NTRN for untrn).",
      unit: "short",
      emptyText: "No payment was found",
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
      emptyText: NO_UPGRADE,
    },
  ),
];

/** The signing window, jail, and the other validators. */
const STANDING_ROW: DashboardSpec["rows"][number] = {
  title: "Signing, jail, and the other validators",
  panels: [
    stat("Jail", [query(`max by (state) (oracle_watchdog_jail_state{${PLACE}}) == 1`, "{{state}}")], {
      description: "State in the chain's slashing module. With several validators, select one.",
      unit: "none",
      show: "name",
      emptyText: NO_SECTION,
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
        emptyText: "It is not jailed",
        width: 4,
      },
    ),
    stat("Signed", [query(`min by (validator) (oracle_watchdog_signed_ratio{${PLACE}})`, "{{validator}}")], {
      description: "Signed share of the blocks in the signing window.",
      unit: "percentunit",
      emptyText: NO_SECTION,
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
        emptyText: NO_SECTION,
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
      show: "name and value",
      emptyText: NO_SECTION,
      width: 4,
    }),
    stat(
      "Others not better",
      [query(`min by (measure) (oracle_watchdog_percentile_ratio{${PLACE}})`, "{{measure}}")],
      {
        description: "Share of the other validators that are not better.",
        unit: "percentunit",
        show: "name and value",
        emptyText: NO_SECTION,
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
        emptyText: NO_SECTION,
        limits: /^boundary/,
      },
    ),
    graph("Time to jail", [query(`oracle_watchdog_jail_seconds{${PLACE}}`, "{{validator}}, {{basis}}")], {
      description: "If every block is missed from now on, and at the present rate. Blank: never.",
      unit: "s",
      emptyText: NO_SECTION,
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
        emptyText: NO_SECTION,
        limits: /^boundary/,
      },
    ),
    graph(
      "Power that misses commits too",
      [query(`oracle_watchdog_others_missing_power_ratio{${PLACE}}`, "{{validator}}")],
      {
        description: "Share of the other validators' voting power. Above a third, the chain halts.",
        unit: "percentunit",
        emptyText: NO_SECTION,
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
      {
        description: "Shares of signed or paid blocks, and of votes.",
        unit: "percentunit",
        decimals: 3,
        emptyText: NO_SECTION,
      },
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
          "none",
        ),
      ],
      {
        description: "Time since the others were read, and how many were compared.",
        unit: "s",
        emptyText: NO_SECTION,
      },
    ),
  ],
};

/** Validator on the chain. */
export const VALIDATOR_ON_CHAIN: DashboardSpec = {
  uid: DASHBOARDS.validator,
  pages: ["watchdog"],
  file: "validator-on-chain.json",
  title: "Validator on the chain",
  description:
    "What the chain says: signing window and jail, the other validators, prices, upgrade, last month's payment.",
  variables: VARIABLES,
  range: "hours",
  ...ANNOTATIONS,
  rows: [
    STANDING_ROW,
    { title: "Prices, upgrade, payment", panels: CHAIN_PANELS },
    { title: "Alerts", panels: [ALERTS_TABLE] },
  ],
};
