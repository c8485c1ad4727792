import type { Sample } from "../prometheus/line-parser.ts";
import { SourceError } from "./source-failure.ts";

/** Reading of an oracle metrics or sidecar metrics page. */
export type OracleMetricsReading =
  | {
      readonly kind: "sidecar";
      /** Updates of the price loop since the start of the sidecar. */
      readonly systemUpdates: number;
      /** Market prices that these updates produced. */
      readonly tickerUpdates: number;
    }
  | { readonly kind: "oracle"; readonly responses: number };

/** The specification uses the prefix `connect_`; deployed sidecars use `side_car_`. */
const SIDECAR = /^(?:connect|side_car)_/;
const SYSTEM_UPDATES = /^(?:connect|side_car)_health_check_system_updates_total$/;
const TICKER_UPDATES = /^(?:connect|side_car)_health_check_ticker_updates_total$/;

/** Whether {@link toOracleMetricsReading} needs the series. */
export function isOracleMetricsSeries(name: string): boolean {
  return SIDECAR.test(name) || name.startsWith("app_");
}

/**
 * Reads a page. Throws {@link SourceError} when it has neither sidecar nor oracle metrics, or when a counter is not a
 * positive number.
 */
export function toOracleMetricsReading(samples: readonly Sample[]): OracleMetricsReading {
  // Metric names decide the kind of the page, not the port: operators change ports.
  if (samples.some(({ name }) => SIDECAR.test(name)))
    return {
      kind: "sidecar",
      systemUpdates: sum(samples, (name) => SYSTEM_UPDATES.test(name)),
      tickerUpdates: sum(samples, (name) => TICKER_UPDATES.test(name)),
    };
  if (samples.length > 0)
    return { kind: "oracle", responses: sum(samples, (name) => name === "app_oracle_responses") };
  throw new SourceError({ code: "not-metrics" }, "the page has neither sidecar nor oracle metrics");
}

function sum(samples: readonly Sample[], wants: (name: string) => boolean): number {
  return samples
    .filter(({ name }) => wants(name))
    .reduce((total, { name, value }) => {
      if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) return total + value;
      throw new SourceError({ code: "bad-value" }, `${name} is ${value}, which is not a count`);
    }, 0);
}
