import type { AlertCase, SeriesCase } from "../../platform/monitoring/alerts/alert-spec.ts";
import type { Times } from "../../platform/monitoring/alerts/times.ts";

/** What an alert on the metrics of node and sidecar alone changes in the condition, for an installation without the watchdog. */
export interface RawRule {
  readonly expr: (times: Times) => string;
  /** Absent: the condition's own. */
  readonly for?: string;
  /** The sentence with the present value, as a template of Prometheus. */
  readonly value: string;
  readonly example: AlertCase;
}

/** Identity of a validator, as PromQL. */
export const VALIDATOR = "by (chain_id, validator)";

/** Windows of the share of bad calls. */
export const WINDOWS = ["5m", "30m", "1h", "6h", "3d"] as const;

/** One of {@link WINDOWS}. */
export type BadShareWindow = (typeof WINDOWS)[number];

/** Deployed sidecars name their metrics side_car_…, the specification and later versions connect_…. */
export function sidecarMetric(name: string, matchers = ""): string {
  return `{__name__=~"(side_car|connect)_${name}"${matchers === "" ? "" : `,${matchers}`}}`;
}

/** Name of the recorded share of bad calls of a window. */
export function badShare(window: BadShareWindow): string {
  return `validator:oracle_bad_calls:ratio_rate${window}`;
}

/** Pairs whose price was updated in the last minute, of those that match. */
export function pricedPairs(times: Times, matchers: string): string {
  return `count ${VALIDATOR} (rate(${sidecarMetric("health_check_ticker_updates_total", matchers)}[${times("1m")}]) > 0)`;
}

/** Share of bad calls that each boundary allows: 98 % and 95 % (docs/spec/chain-extension-modules.md, "Limits"). */
export const ALLOWED = { full: 0.02, none: 0.05 } as const;

/** PromQL: seconds until the end of the month. */
export const MONTH_SECONDS_LEFT =
  "scalar((days_in_month() - day_of_month() + 1) * 86400 - hour() * 3600 - minute() * 60)";

/** PromQL: the sidecar runs, and no pair has a price. */
export const NO_PRICE =
  "(validator:sidecar_ticks:rate1m > 0 unless validator:sidecar_priced_pairs:count > 0)";

// Series of the test cases.

export const call = (status: "Success" | "Failure", step: number, from = 0): SeriesCase => ({
  series: `app_oracle_responses{$,status="${status}"}`,
  from,
  step,
});
/** The value goes on where it was, by another growth. */
export const continued = (series: string, step: number): SeriesCase => ({ series, step });
const FAILURES = 'app_oracle_responses{$,status="Failure"}';
export const SUCCESSES = 'app_oracle_responses{$,status="Success"}';
export const TICKS = "side_car_health_check_system_updates_total{$}";
export const UPDATES = (pair: string): string => `side_car_health_check_ticker_updates_total{$,id="${pair}"}`;
export const READS = 'side_car_web_socket_connection_status{$,provider="okx_ws",status="read_success"}';
/** Height of the node. */
export const BLOCK_HEIGHT = "cometbft_consensus_latest_block_height";
export const HEIGHT = "cometbft_consensus_latest_block_height{$}";
export const POWER = 'cometbft_consensus_validator_power{$,validator_address="AB"}';
export const LAST_SIGNED = 'cometbft_consensus_validator_last_signed_height{$,validator_address="AB"}';
export const SECOND_HEIGHT = 'cometbft_consensus_latest_block_height{$,instance="second:26660"}';

export const failing: AlertCase["fires"] = [call("Success", 0, 100), call("Failure", 3000)];
export const succeeding: AlertCase["clears"] = [continued(FAILURES, 0), continued(SUCCESSES, 3000)];
