import { graph, query, table } from "../../platform/monitoring/dashboards/panel-spec.ts";
import type { DashboardSpec, PanelSpec, RowSpec } from "../../platform/monitoring/dashboards/panel-spec.ts";
import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import { ALERTS_TABLE, ANNOTATIONS, metric, steps, TO_PAID, VARIABLES } from "./oracle-parts.ts";

const NO_SECTION = "The watchdog reads no chain (section chain), or the chain has no such module";
const BY = "by (chain_id, validator)";

/** Returns PromQL that copies a metric's `state` label to the label `as`. One table can then show two states. */
function stateAs(as: string, name: string): string {
  return `label_replace(max by (chain_id, validator, state) (${metric(name)}) == 1, "${as}", "$1", "state", "(.+)")`;
}

const VALIDATORS: PanelSpec = table(
  "Validators",
  [
    `max by (chain_id, validator, jail) (${stateAs("jail", "jail_state")})`,
    `min ${BY} (${metric("signed_ratio")})`,
    `min ${BY} (${metric("jail_seconds", 'basis="all_missed"')})`,
    `max ${BY} (${metric("jailed_until_timestamp_seconds")} - time())`,
    `max ${BY} (${metric("price_deviation_ratio")})`,
    `min ${BY} (${metric("upgrade_remaining_blocks")})`,
    `max by (chain_id, validator, payment) (${stateAs("payment", "payment_state")})`,
    `max ${BY} (${metric("upgrade_height")})`,
  ],
  {
    description:
      "State in the slashing module, signed share of the signing window, time until jail if every block is missed from now on, time until release is possible (negative: possible now), largest price deviation, blocks until the upgrade and its height, and last month's payment next to the expected amount.",
    unit: "none",
    emptyText: NO_SECTION,
    columns: [
      { label: "validator", title: "Validator", leadsTo: TO_PAID },
      { label: "chain_id", title: "Chain" },
      {
        label: "jail",
        title: "Standing",
        colors: { active: "green", jailed: "red", tombstoned: "red", unknown: "yellow" },
      },
      { label: "Value #B", title: "Signed", unit: "percentunit", decimals: 2 },
      {
        label: "Value #C",
        title: "Jail if all is missed",
        unit: "s",
        steps: steps("red", { yellow: 3600, green: 2 * 3600 }),
      },
      { label: "Value #D", title: "Release", unit: "s" },
      { label: "Value #E", title: "Price deviation", unit: "percentunit", decimals: 2 },
      { label: "Value #F", title: "Upgrade in", unit: "blocks" },
      { label: "Value #H", title: "Upgrade at", decimals: 0 },
      {
        label: "payment",
        title: "Last payment",
        colors: { equal: "green", differs: "yellow", failed: "red", missing: "red" },
      },
    ],
  },
);

const SIGNING_ROW: RowSpec = {
  title: "Signing and jail",
  closed: true,
  panels: [
    graph(
      "Signing window",
      [
        query(metric("slashing_missed_blocks"), "missed {{validator}} {{instance}}"),
        query(metric("slashing_misses_left"), "left until jail {{validator}} {{instance}}"),
        query(`max(${metric("slashing_window_blocks")})`, "boundary window"),
      ],
      {
        description:
          "Missed blocks in the signing window, and the number of further misses that the window allows.",
        unit: "blocks",
        emptyText: NO_SECTION,
        limits: /^boundary/,
      },
    ),
    graph("Time to jail", [query(metric("jail_seconds"), "{{basis}} {{validator}} {{instance}}")], {
      description:
        "Time until the validator is jailed if it misses every block from now on, and at the current rate of misses. Blank if no jailing is expected.",
      unit: "s",
      emptyText: NO_SECTION,
    }),
  ],
};

const OTHERS_ROW: RowSpec = {
  title: "Other validators",
  panels: [
    table(
      "Comparison with the others",
      [
        `max by (chain_id, validator, measure) (${metric("rank")})`,
        `max by (chain_id, validator, measure) (${metric("compared_validators")})`,
        `min by (chain_id, validator, measure) (${metric("percentile_ratio")})`,
        `min by (chain_id, validator, measure) (${metric("own_ratio")})`,
        `max by (chain_id, validator, measure) (${metric("others_median_ratio")})`,
        `max by (chain_id, validator, measure) (${metric("comparison_timestamp_seconds")}) * 1000`,
      ],
      {
        description:
          "The validator's rank in the set (1 is best), the share of other validators that do no better, the validator's own ratio and the other validators' median, by signed or paid blocks and by votes.",
        unit: "percentunit",
        decimals: 2,
        emptyText: NO_SECTION,
        columns: [
          { label: "validator", title: "Validator" },
          { label: "chain_id", title: "Chain" },
          { label: "measure", title: "Measure" },
          { label: "Value #A", title: "Rank", unit: "none", decimals: 0 },
          { label: "Value #B", title: "Of", unit: "none", decimals: 0 },
          { label: "Value #C", title: "Not better" },
          { label: "Value #D", title: "Own share" },
          { label: "Value #E", title: "Median" },
          { label: "Value #F", title: "Read", unit: "dateTimeFromNow" },
        ],
      },
    ),
    graph(
      "Others that also miss",
      [
        query(metric("others_missing"), "{{kind}} {{validator}} {{instance}}"),
        query(`max by (kind) (${metric("others")})`, "boundary of {{kind}}"),
      ],
      {
        description:
          "Other validators that also miss at least half of the latest commits or votes that this validator missed.",
        unit: "none",
        emptyText: NO_SECTION,
        limits: /^boundary/,
      },
    ),
    graph(
      "Power that also misses commits",
      [query(metric("others_missing_power_ratio"), "{{validator}} {{instance}}")],
      {
        description:
          "Share of the other validators' voting power that also misses commits. If more than a third of the voting power is missing, the chain halts.",
        unit: "percentunit",
        range: [0, 1],
        emptyText: NO_SECTION,
      },
    ),
  ],
};

const PLANS_ROW: RowSpec = {
  title: "Prices, upgrade, payment",
  panels: [
    graph(
      "Price deviations",
      [
        query(
          `max by (validator, node, pair, reference) (${metric("price_deviation_ratio")})`,
          "{{pair}} from {{reference}} {{validator}} {{node}}",
        ),
      ],
      {
        description:
          "Deviation of each sidecar's prices from the chain's prices and from the median of all sidecars. A line is missing while there is no fresh price to compare.",
        unit: "percentunit",
        emptyText: NO_SECTION,
        decimals: 2,
      },
    ),
    graph(
      "Time until the upgrade",
      [
        query(
          `(max by (chain_id, upgrade, estimate) (${metric("upgrade_expected_timestamp_seconds")}) - time()) / 86400`,
          "{{estimate}} {{upgrade}}",
        ),
      ],
      {
        description:
          "Time until the chain reaches the planned upgrade's height, at which every node needs the new version: the expected time, and the times if blocks are as fast or as slow as in the fastest or slowest hour of the last day.",
        unit: "days",
        emptyText: "No upgrade is planned",
      },
    ),
    table(
      "Last month's payment",
      [
        `max by (chain_id, validator, denom) (${metric("payment_amount", 'amount="paid"')}) / 1e6`,
        `max by (chain_id, validator, denom) (${metric("payment_amount", 'amount="expected"')}) / 1e6`,
        `max ${BY} (${metric("payment_timestamp_seconds")}) * 1000`,
      ],
      {
        description:
          "Last month's payment and the expected amount, in millions of the denomination's base unit (NTRN for untrn).",
        unit: "short",
        emptyText: "No payment was found",
        columns: [
          { label: "validator", title: "Validator" },
          { label: "chain_id", title: "Chain" },
          { label: "denom", title: "Million" },
          { label: "Value #A", title: "Paid" },
          { label: "Value #B", title: "Expected" },
          { label: "Value #C", title: "Block", unit: "dateTimeFromNow" },
        ],
      },
    ),
  ],
};

export const VALIDATOR_ON_CHAIN: DashboardSpec = {
  uid: DASHBOARDS.validator,
  pages: ["watchdog"],
  file: "validator-on-chain.json",
  title: "Validator on the chain",
  description:
    "Shows what the chain reports about the validator: signing window, jail status, comparison with other validators, prices, planned upgrade, and last month's payment.",
  variables: VARIABLES,
  range: "hours",
  ...ANNOTATIONS,
  rows: [
    { title: "Is the validator safe?", panels: [VALIDATORS, ALERTS_TABLE] },
    SIGNING_ROW,
    OTHERS_ROW,
    PLANS_ROW,
  ],
};
