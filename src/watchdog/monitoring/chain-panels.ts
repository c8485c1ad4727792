import { graph, type PanelSpec, query, stat } from "../../platform/monitoring/dashboards/panel-spec.ts";
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
