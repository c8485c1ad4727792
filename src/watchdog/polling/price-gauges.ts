import { deviationBps } from "../prices/price-comparison.ts";
import { series, type StatusGauge } from "./status-gauge.ts";

/** Gauges of the comparison of prices. The pairs are those of the configuration. */
export const PRICE_GAUGES: readonly StatusGauge[] = [
  {
    name: "oracle_watchdog_price_deviation_ratio",
    help: "Distance of the sidecar's price from the chain's, or from the median of all sidecars of the watchdog, as a share of it. Absent while there is no fresh price to compare.",
    labelNames: ["validator", "chain_id", "node", "pair", "reference"],
    values: ({ validator, chainId, compared }) =>
      chainId === undefined || compared === undefined
        ? []
        : compared.comparisons.map((one) =>
            series(Number(deviationBps(one)) / 10_000, {
              validator,
              chain_id: chainId,
              node: one.node,
              pair: one.pair,
              reference: one.reference,
            }),
          ),
  },
];
