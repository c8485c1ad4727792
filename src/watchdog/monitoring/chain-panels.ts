import { graph, type PanelSpec, query } from "../../platform/monitoring/dashboards/panel-spec.ts";
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
];
