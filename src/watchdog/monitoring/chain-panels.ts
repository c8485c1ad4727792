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
