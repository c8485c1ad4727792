import type { AlertCase, SeriesCase } from "../../platform/monitoring/alerts/alert-spec.ts";

const call = (status: "Success" | "Failure", step: number, from = 0): SeriesCase => ({
  series: `app_oracle_responses{$,status="${status}"}`,
  from,
  step,
});
/** The value goes on where it was, by another growth. */
const goesOn = (series: string, step: number): SeriesCase => ({ series, step });
const FAILURES = 'app_oracle_responses{$,status="Failure"}';
const SUCCESSES = 'app_oracle_responses{$,status="Success"}';
const TICKS = "side_car_health_check_system_updates_total{$}";
const UPDATES = (pair: string): string => `side_car_health_check_ticker_updates_total{$,id="${pair}"}`;
const READS = 'side_car_web_socket_connection_status{$,provider="okx_ws",status="read_success"}';
const HEIGHT = "cometbft_consensus_latest_block_height{$}";
const POWER = 'cometbft_consensus_validator_power{$,validator_address="AB"}';
const SIGNED = 'cometbft_consensus_validator_last_signed_height{$,validator_address="AB"}';
const SECOND_HEIGHT = 'cometbft_consensus_latest_block_height{$,instance="second:26660"}';

const failing: AlertCase["fires"] = [call("Success", 0, 100), call("Failure", 3000)];
const succeeding: AlertCase["clears"] = [goesOn(FAILURES, 0), goesOn(SUCCESSES, 3000)];

/** A sidecar that runs without a price, and a node that counts successes. */
const empty: AlertCase = {
  fires: [{ series: TICKS, step: 240 }, { series: UPDATES("btc/usd"), from: 7 }, call("Success", 60)],
  clears: [goesOn(UPDATES("btc/usd"), 240)],
};

/** The end of a month whose calls ended: what it lost remains. */
const lost: AlertCase = {
  fires: [call("Success", 0), { ...call("Failure", 0), jump: 1_000_000 }],
  clears: [{ series: SUCCESSES, from: 1_000_000_000 }],
  settles: "7h",
};

/** A month at one call per second, `misses` of which were bad on the first day. */
const atRisk = (misses: number): AlertCase => ({
  fires: [call("Success", 60), { ...call("Failure", 0), jump: misses }],
  clears: [{ series: SUCCESSES, from: 1_000_000_000 }],
  settles: "7h",
  onlyPromtool: "what remains depends on the day of the month",
});

const burnt = (resolves: string): AlertCase => ({ fires: failing, clears: succeeding, resolves });
const low: AlertCase = { fires: failing, clears: [{ series: SUCCESSES, from: 1_000_000_000 }] };

/** Situations for the alerts on raw metrics: in each one a series of the node or the sidecar that real ones have. */
export const RAW_CASES: Readonly<Record<string, AlertCase>> = {
  "sidecar-down": {
    fires: [call("Success", 0, 100), call("Failure", 3000), { series: TICKS, step: 240, ends: 3 }],
    clears: succeeding,
  },
  "oracle-calls-failing": { fires: failing, clears: succeeding },
  "sidecar-slow": {
    fires: [
      { series: 'app_oracle_response_latency_bucket{$,le="512"}', step: 10 },
      { series: 'app_oracle_response_latency_bucket{$,le="+Inf"}', step: 60 },
    ],
    clears: [
      goesOn('app_oracle_response_latency_bucket{$,le="512"}', 60),
      goesOn('app_oracle_response_latency_bucket{$,le="+Inf"}', 60),
    ],
  },
  "websocket-providers-failing": {
    fires: [{ series: READS, from: 50 }, ...failing],
    clears: [goesOn(READS, 60)],
  },
  "all-prices-missing": empty,
  "major-pairs-missing": {
    fires: [
      { series: UPDATES("btc/usd"), step: 240 },
      { series: UPDATES("eth/usd"), step: 240 },
      { series: UPDATES("ntrn/usd"), from: 9 },
    ],
    clears: [goesOn(UPDATES("ntrn/usd"), 240)],
  },
  "empty-prices-counted": empty,
  "stale-price-timestamp": { fires: [{ series: TICKS, from: 100 }], clears: [goesOn(TICKS, 240)] },
  "chain-halted": { fires: [{ series: HEIGHT, from: 100 }], clears: [goesOn(HEIGHT, 60)] },
  "node-halted": {
    fires: [
      { series: HEIGHT, from: 100 },
      { series: SECOND_HEIGHT, from: 100, step: 60 },
    ],
    clears: [goesOn(HEIGHT, 60)],
  },
  "node-behind": {
    fires: [
      { series: HEIGHT, from: 100, step: 60 },
      { series: SECOND_HEIGHT, from: 200, step: 60 },
    ],
    clears: [
      { series: HEIGHT, from: 1_000_000 },
      { series: SECOND_HEIGHT, from: 1_000_000 },
    ],
  },
  "not-in-validator-set": { fires: [{ series: POWER }], clears: [{ series: POWER, from: 10 }] },
  "not-signing": {
    fires: [
      { series: POWER, from: 10 },
      { series: HEIGHT, from: 200, step: 60 },
      { series: SIGNED, from: 100 },
    ],
    clears: [{ series: SIGNED, from: 1_000_000 }],
  },
  "node-not-voting": {
    fires: [{ series: POWER, from: 10 }, { series: HEIGHT, from: 200, step: 60 }, call("Success", 0, 100)],
    clears: [goesOn(SUCCESSES, 60)],
  },
  "full-reward-lost": lost,
  "any-reward-lost": lost,
  "full-reward-rate-low": low,
  "any-reward-rate-low": low,
  "full-reward-at-risk": atRisk(45_500),
  "any-reward-at-risk": atRisk(128_000),
  "full-reward-fast-burn": burnt("20m"),
  "any-reward-fast-burn": burnt("20m"),
  "full-reward-slow-burn": burnt("8h"),
  "any-reward-slow-burn": burnt("8h"),
};
