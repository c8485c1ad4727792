import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  graph,
  PROCESSES,
  query,
  restartsOf,
  ruleAlerts,
  stat,
} from "../../platform/monitoring/dashboards/panel-spec.ts";
import type { DashboardSpec, PanelSpec } from "../../platform/monitoring/dashboards/panel-spec.ts";
import { PLACE, seriesBy, steps, variablesOf } from "./oracle-parts.ts";

const RECORDED = 'chain_id=~"$chain",validator=~"$validator"';
const BOUNDARY = [query("vector(0.98)", "boundary full"), query("vector(0.95)", "boundary none")];
const SIDECAR = (name: string): string => `{__name__=~"(side_car|connect)_${name}",validator=~"$validator"}`;

/** Returns a panel that shows how many more calls may fail before full pay or any pay is lost this month. */
function callsLeft(part: "full" | "any", description: string): PanelSpec {
  const boundary = part === "full" ? "full" : "none";
  return stat(
    `Calls that may fail: ${part} pay`,
    seriesBy(
      "validator",
      `min by (validator) (validator:oracle_month:misses_left{${RECORDED},boundary="${boundary}"})`,
    ),
    { description, unit: "short", width: 6, colors: steps("red", { green: 1 }) },
  );
}

/** The dashboard "Oracle: am I paid?" for installations without a watchdog. */
export const PAID_RAW: DashboardSpec = {
  uid: DASHBOARDS.paidRaw,
  pages: [],
  file: "oracle-am-i-paid-raw.json",
  title: "Oracle: am I paid? (without the watchdog)",
  description:
    "Shows from node and sidecar metrics alone whether the validator is paid. The recording rules in oracle-raw.rules.yaml compute the figures, and take neither unknown blocks nor the chain's policy into account.",
  variables: variablesOf("app_oracle_responses"),
  range: "month",
  restarts: restartsOf(PROCESSES),
  alerts: 'ALERTS{component="oracle-raw",alertstate="firing",validator=~"$validator"}',
  rows: [
    {
      title: "Am I paid?",
      panels: [
        stat(
          "Rate of the month",
          seriesBy("validator", `min by (validator) (validator:oracle_month:success_ratio{${RECORDED}})`),
          {
            description:
              "This month's successful calls, divided by all calls. At least 98 % is paid in full; below 95 %, nothing is paid.",
            unit: "percentunit",
            width: 6,
            decimals: 4,
            colors: steps("red", { yellow: 0.95, green: 0.98 }),
          },
        ),
        callsLeft("full", "How many more calls may fail before the month is no longer paid in full."),
        callsLeft("any", "How many more calls may fail before the month pays nothing."),
        stat(
          "Bad calls, 5 minutes",
          seriesBy("validator", `max by (validator) (validator:oracle_bad_calls:ratio_rate5m{${RECORDED}})`),
          {
            description: "Share of failed calls in the last 5 minutes.",
            unit: "percentunit",
            width: 6,
            decimals: 1,
            colors: steps("green", { yellow: 0.02, red: 0.05 }),
          },
        ),
        ruleAlerts('component="oracle-raw",validator=~"$validator"', [
          { label: "validator", title: "Validator" },
        ]),
      ],
    },
    {
      title: "Causes",
      panels: [
        graph(
          "Calls",
          [
            query(
              `sum by (instance, status) (rate(app_oracle_responses{${PLACE}}[$__rate_interval]))`,
              "{{status}} {{instance}}",
            ),
            query(
              `label_replace({__name__=~"validator:oracle_bad_calls:ratio_rate.+",${RECORDED}}, "window", "$1", "__name__", ".*ratio_rate(.+)")`,
              "bad in {{window}} {{validator}}",
              "percentunit",
            ),
          ],
          {
            description:
              "Oracle calls per second by status, and the share of bad calls in several windows. The series for Failure appears only after the first failure.",
            unit: "ops",
          },
        ),
        graph(
          "Vote extensions",
          seriesBy(
            "status",
            `sum by (status) (rate(app_abci_requests{${PLACE},abci_method="extend_vote"}[$__rate_interval]))`,
          ),
          { description: "Results of extend_vote by class. They show why a vote was lost.", unit: "ops" },
        ),
        graph(
          "Oracle call latency",
          seriesBy(
            "instance",
            `histogram_quantile(0.9, sum by (instance, le) (rate(app_oracle_response_latency_bucket{${PLACE}}[$__rate_interval]))) / 1000 >= 0`,
          ),
          {
            description:
              "90th percentile of the oracle call's latency. The histogram ends at 512 ms, and neutrond ends a call after 1 s.",
            unit: "s",
          },
        ),
        graph("Sidecar price loop", seriesBy("validator", `validator:sidecar_ticks:rate1m{${RECORDED}}`), {
          description:
            "Iterations of the sidecar's price loop per second. A healthy sidecar makes four. Zero means that the loop has hung. A line is missing while the sidecar is down.",
          unit: "ops",
        }),
        graph(
          "Pairs with prices",
          seriesBy("validator", `validator:sidecar_priced_pairs:count{${RECORDED}}`),
          { description: "Pairs whose price was updated in the last minute.", unit: "none" },
        ),
      ].map((panel) => ({ ...panel, last: "6h" as const })),
    },
    {
      title: "Month, providers and node",
      panels: [
        graph(
          "Rate over the month",
          [
            query(`validator:oracle_month:success_ratio{${RECORDED}}`, "{{validator}}"),
            query(
              `validator:oracle_month:misses_left{${RECORDED}}`,
              "{{validator}} may fail: {{boundary}}",
              "short",
            ),
            ...BOUNDARY,
          ],
          {
            description:
              "Success rate since the beginning of the month, number of calls that may still fail, and the documented reward boundaries.",
            unit: "percentunit",
            decimals: 3,
            limits: /^boundary/,
          },
        ),
        graph(
          "WebSocket messages",
          seriesBy(
            "provider",
            `sum by (provider) (rate({__name__=~"(side_car|connect)_web_socket_connection_status",validator=~"$validator",status="read_success"}[$__rate_interval]))`,
          ),
          {
            description: "Messages per second by provider. Individual interruptions are normal.",
            unit: "ops",
            emptyText: "No provider has a WebSocket",
          },
        ),
        graph(
          "Providers per market",
          seriesBy("id", `min by (id) (${SIDECAR("health_check_market_providers")})`),
          {
            description: "Usable providers for each market at the last iteration. Most markets need three.",
            unit: "none",
          },
        ),
        graph(
          "Blocks per minute",
          seriesBy(
            "instance",
            `60 * deriv(cometbft_consensus_latest_block_height{${PLACE}}[$__rate_interval])`,
          ),
          {
            description:
              "Number of new blocks on each node. Zero means that the node or the chain has halted.",
            unit: "none",
          },
        ),
        graph(
          "Blocks since the last signature",
          [
            query(
              `max by (instance) (cometbft_consensus_latest_block_height{${PLACE}}) - max by (instance) (cometbft_consensus_validator_last_signed_height{${PLACE}})`,
              "{{instance}}",
            ),
            query(
              `max by (instance) (cometbft_consensus_validator_power{${PLACE}})`,
              "power {{instance}}",
              "short",
            ),
          ],
          {
            description:
              "Grows while the validator does not sign blocks. A validator without voting power is not in the validator set.",
            unit: "none",
          },
        ),
      ],
    },
  ],
};
