import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import {
  type DashboardSpec,
  graph,
  PROCESSES,
  processVariables,
  query,
  restartsOf,
  ruleAlerts,
  stat,
} from "../../platform/monitoring/dashboards/panel-spec.ts";

const PLACE = `${PROCESSES},chain_id=~"$chain",validator=~"$validator"`;
const RECORDED = 'chain_id=~"$chain",validator=~"$validator"';
const BOUNDARY = [query("vector(0.98)", "boundary full"), query("vector(0.95)", "boundary none")];
const SIDECAR = (name: string): string => `{__name__=~"(side_car|connect)_${name}",validator=~"$validator"}`;

/** "Oracle: am I paid?" without the watchdog. */
export const PAID_RAW: DashboardSpec = {
  uid: DASHBOARDS.paidRaw,
  pages: [],
  file: "oracle-am-i-paid-raw.json",
  title: "Oracle: am I paid? (without the watchdog)",
  description:
    "The same question, answered from node and sidecar metrics alone. It needs the recording rules in oracle-raw.rules.yaml, and knows neither unknown blocks nor the chain's policy.",
  variables: [
    ...processVariables("app_oracle_responses"),
    { name: "chain", label: "Chain", metric: `app_oracle_responses{${PROCESSES}}`, from: "chain_id" },
    {
      name: "validator",
      label: "Validator",
      metric: `app_oracle_responses{${PROCESSES},chain_id=~"$chain"}`,
      from: "validator",
    },
  ],
  range: "month",
  restarts: restartsOf(PROCESSES),
  alerts: 'ALERTS{component="oracle-raw",alertstate="firing",validator=~"$validator"}',
  rows: [
    {
      title: "Am I paid?",
      panels: [
        stat(
          "Rate of the month",
          [query(`min by (validator) (validator:oracle_month:success_ratio{${RECORDED}})`, "{{validator}}")],
          {
            description:
              "This month's successful calls, divided by all calls. At least 98 % is paid in full; below 95 %, nothing is paid.",
            unit: "percentunit",
            width: 6,
            decimals: 4,
            colors: [
              ["red", undefined],
              ["yellow", 0.95],
              ["green", 0.98],
            ],
          },
        ),
        stat(
          "Calls that may fail: full pay",
          [
            query(
              `min by (validator) (validator:oracle_month:misses_left{${RECORDED},boundary="full"})`,
              "{{validator}}",
            ),
          ],
          {
            description: "How many more calls may fail before the month is no longer paid in full.",
            unit: "short",
            width: 6,
            colors: [
              ["red", undefined],
              ["green", 1],
            ],
          },
        ),
        stat(
          "Calls that may fail: any pay",
          [
            query(
              `min by (validator) (validator:oracle_month:misses_left{${RECORDED},boundary="none"})`,
              "{{validator}}",
            ),
          ],
          {
            description: "How many more calls may fail before the month pays nothing.",
            unit: "short",
            width: 6,
            colors: [
              ["red", undefined],
              ["green", 1],
            ],
          },
        ),
        stat(
          "Bad calls, 5 minutes",
          [
            query(
              `max by (validator) (validator:oracle_bad_calls:ratio_rate5m{${RECORDED}})`,
              "{{validator}}",
            ),
          ],
          {
            description: "Share of failed calls in the last 5 minutes.",
            unit: "percentunit",
            width: 6,
            decimals: 1,
            colors: [
              ["green", undefined],
              ["yellow", 0.02],
              ["red", 0.05],
            ],
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
              "Oracle calls per second by status, and the bad share in several windows. The Failure series begins with the first failure.",
            unit: "ops",
          },
        ),
        graph(
          "Vote extensions",
          [
            query(
              `sum by (status) (rate(app_abci_requests{${PLACE},abci_method="extend_vote"}[$__rate_interval]))`,
              "{{status}}",
            ),
          ],
          { description: "Results of extend_vote by class. They show why a vote was lost.", unit: "ops" },
        ),
        graph(
          "Oracle call latency",
          [
            query(
              `histogram_quantile(0.9, sum by (instance, le) (rate(app_oracle_response_latency_bucket{${PLACE}}[$__rate_interval]))) / 1000 >= 0`,
              "{{instance}}",
            ),
          ],
          {
            description:
              "90 % of calls are faster than this. The histogram ends at 512 ms, and neutrond ends a call after 1 s.",
            unit: "s",
          },
        ),
        graph("Sidecar price loop", [query(`validator:sidecar_ticks:rate1m{${RECORDED}}`, "{{validator}}")], {
          description:
            "Iterations per second, four when healthy. Zero: the loop has hung. Absent: the sidecar is down.",
          unit: "ops",
        }),
        graph(
          "Pairs with prices",
          [query(`validator:sidecar_priced_pairs:count{${RECORDED}}`, "{{validator}}")],
          {
            description: "Pairs whose price was updated in the last minute.",
            unit: "none",
          },
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
              "Rate since the beginning of the month, calls that may still fail, and the documented boundaries.",
            unit: "percentunit",
            decimals: 3,
            limits: /^boundary/,
          },
        ),
        graph(
          "WebSocket messages",
          [
            query(
              `sum by (provider) (rate({__name__=~"(side_car|connect)_web_socket_connection_status",validator=~"$validator",status="read_success"}[$__rate_interval]))`,
              "{{provider}}",
            ),
          ],
          {
            description: "Messages per second by provider. Individual interruptions are normal.",
            unit: "ops",
            emptyText: "No provider has a WebSocket",
          },
        ),
        graph(
          "Providers per market",
          [query(`min by (id) (${SIDECAR("health_check_market_providers")})`, "{{id}}")],
          {
            description: "Usable providers for each market at the last iteration. Most markets need three.",
            unit: "none",
          },
        ),
        graph(
          "Blocks per minute",
          [
            query(
              `60 * deriv(cometbft_consensus_latest_block_height{${PLACE}}[$__rate_interval])`,
              "{{instance}}",
            ),
          ],
          {
            description: "New blocks on each node. Zero: the node or the chain has halted.",
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
              "Grows while the validator does not sign. Without power, the validator is not in the set.",
            unit: "none",
          },
        ),
      ],
    },
  ],
};
