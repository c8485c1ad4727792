import type { AlertCase, SeriesCase } from "../../platform/monitoring/alerts/alert-spec.ts";
import type { Times } from "../../platform/monitoring/alerts/times.ts";

/** A rule on raw metrics that replaces a condition in installations without a watchdog. */
export interface RawRule {
  readonly expr: (times: Times) => string;
  /** Alert text with the current value, written as a Prometheus template. */
  readonly value: string;
  readonly example: AlertCase;
}

/** The PromQL clause that groups series by validator. */
export const VALIDATOR = "by (chain_id, validator)";

/** The windows for which the share of bad calls is recorded. */
export const WINDOWS = ["5m", "30m", "1h", "6h", "3d"] as const;

export type BadShareWindow = (typeof WINDOWS)[number];

/**
 * Returns a selector for a sidecar metric. Deployed sidecars use the prefix side_car_. The specification and later versions use
 * connect_.
 */
export function sidecarMetric(name: string, matchers = ""): string {
  return `{__name__=~"(side_car|connect)_${name}"${matchers === "" ? "" : `,${matchers}`}}`;
}

/** Returns the name of the recording rule for the share of bad calls in a window. */
export function badShare(window: BadShareWindow): string {
  return `validator:oracle_bad_calls:ratio_rate${window}`;
}

/** Returns PromQL that counts the matching pairs whose price was updated in the last minute. */
export function pricedPairs(times: Times, matchers: string): string {
  return `count ${VALIDATOR} (rate(${sidecarMetric("health_check_ticker_updates_total", matchers)}[${times("1m")}]) > 0)`;
}

/** Allowed shares of bad calls for the 98 % and 95 % boundaries (docs/spec/chain-extension-modules.md, "Limits"). */
export const ALLOWED = { full: 0.02, none: 0.05 } as const;

/** PromQL for the seconds until the end of the month. */
export const MONTH_SECONDS_LEFT =
  "scalar((days_in_month() - day_of_month() + 1) * 86400 - hour() * 3600 - minute() * 60)";

/** PromQL that selects sidecars that are running although no pair has a price. */
export const NO_PRICE =
  "(validator:sidecar_ticks:rate1m > 0 unless validator:sidecar_priced_pairs:count > 0)";

// The following Prometheus series are used in the rules' test cases. `$` is a placeholder for the validator's labels.

export const call = (status: "Success" | "Failure", step: number, from = 0): SeriesCase => ({
  series: `app_oracle_responses{$,status="${status}"}`,
  from,
  step,
});
/** Continues a test series from its last value, with increments of `step`. */
export const continued = (series: string, step: number): SeriesCase => ({ series, step });
const FAILURES = 'app_oracle_responses{$,status="Failure"}';
export const SUCCESSES = 'app_oracle_responses{$,status="Success"}';
export const TICKS = "side_car_health_check_system_updates_total{$}";
export const UPDATES = (pair: string): string => `side_car_health_check_ticker_updates_total{$,id="${pair}"}`;
export const READS = 'side_car_web_socket_connection_status{$,provider="okx_ws",status="read_success"}';
/** The metric for the height of the node's latest block. */
export const BLOCK_HEIGHT = "cometbft_consensus_latest_block_height";
export const HEIGHT = "cometbft_consensus_latest_block_height{$}";
export const POWER = 'cometbft_consensus_validator_power{$,validator_address="AB"}';
export const LAST_SIGNED = 'cometbft_consensus_validator_last_signed_height{$,validator_address="AB"}';
export const SECOND_HEIGHT = 'cometbft_consensus_latest_block_height{$,instance="second:26660"}';

export const failing: AlertCase["fires"] = [call("Success", 0, 100), call("Failure", 3000)];
export const succeeding: AlertCase["clears"] = [continued(FAILURES, 0), continued(SUCCESSES, 3000)];
