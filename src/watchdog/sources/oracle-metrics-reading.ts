import type { Sample } from "../prometheus/line-parser.ts";
import { SourceError } from "./source-failure.ts";

/** What a page of the oracle side says; which kind it is is told by its content, as ports move. */
export type OraclePageReading =
  | {
      readonly kind: "sidecar";
      /** Turns of the price loop, and market prices that they made, since the sidecar's start. */
      readonly systemUpdates: number;
      readonly tickerUpdates: number;
    }
  | { readonly kind: "oracle"; readonly responses: number };

/** Specified names begin with `connect_`, deployed ones with `side_car_`. */
const SIDECAR = /^(?:connect|side_car)_/;
const SYSTEM_UPDATES = /^(?:connect|side_car)_health_check_system_updates_total$/;
const TICKER_UPDATES = /^(?:connect|side_car)_health_check_ticker_updates_total$/;

/** The series that {@link toOraclePageReading} needs. */
export function isOraclePageSeries(name: string): boolean {
  return SIDECAR.test(name) || name.startsWith("app_");
}

/** Reads a page of the oracle side. @throws {SourceError} when it is neither a sidecar's nor an oracle's. */
export function toOraclePageReading(samples: readonly Sample[]): OraclePageReading {
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
  return samples.filter(({ name }) => wants(name)).reduce((total, { value }) => total + value, 0);
}
