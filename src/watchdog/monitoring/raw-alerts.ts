import { alertName } from "../conditions/condition.ts";
import { CONDITIONS } from "../conditions/conditions.ts";
import type { AlertCase, AlertSpec, GroupSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { DASHBOARDS } from "../../platform/monitoring/alerts/links.ts";
import { RAW_CASES } from "./raw-cases.ts";
import {
  ALLOWED,
  badShare,
  CALL_RECORDS,
  MONTH_RECORDS,
  pricedPairs,
  sidecarMetric,
  VALIDATOR,
} from "./raw-records.ts";
import type { Times } from "../../platform/monitoring/alerts/times.ts";

/** What an alert on raw metrics changes in the condition of the same name. */
interface RawRule {
  readonly expr: (times: Times) => string;
  /** Absent: that of the condition. */
  readonly for?: string;
  readonly value: string;
}

const HEIGHT = "cometbft_consensus_latest_block_height";
const WEB_SOCKETS = "web_socket_connection_status";
const NO_PRICE = "(validator:sidecar_ticks:rate1m > 0 unless validator:sidecar_priced_pairs:count > 0)";
const MIN_CALLS = 1800;

const BOUNDARIES = [
  ["full-reward", "full", 0.98],
  ["any-reward", "none", 0.95],
] as const;

const RULES: Readonly<Record<string, RawRule>> = {
  "sidecar-down": {
    expr: (times) =>
      `${badShare("5m")} > 0.5 unless validator:sidecar_ticks:rate1m and last_over_time(validator:sidecar_ticks:rate1m[${times("1d")}])`,
    value:
      "{{ $value | humanizePercentage }} of the calls of the last 5 minutes failed, and the sidecar's metrics are gone.",
  },
  "oracle-calls-failing": {
    expr: () => `${badShare("5m")} >= 0.9 and validator:oracle_calls:increase5m >= 30`,
    value: "{{ $value | humanizePercentage }} of the calls of the last 5 minutes failed.",
  },
  "sidecar-slow": {
    expr: (times) =>
      `histogram_quantile(0.9, sum by (chain_id, validator, le) (rate(app_oracle_response_latency_bucket[${times("5m")}]))) > 500`,
    value: "A tenth of the calls takes longer than {{ $value }} ms.",
  },
  "websocket-providers-failing": {
    expr: (times) =>
      [
        `count ${VALIDATOR} (${sidecarMetric(WEB_SOCKETS)})`,
        `unless count ${VALIDATOR} (increase(${sidecarMetric(WEB_SOCKETS, 'status="read_success"')}[${times("1m")}]) > 0)`,
        `and (${badShare("30m")} > 0.05 or ${NO_PRICE})`,
      ].join("\n"),
    value: "No WebSocket provider has sent a message for a minute.",
  },
  "all-prices-missing": { expr: () => NO_PRICE, value: "The sidecar runs, and updates no price." },
  "major-pairs-missing": {
    expr: (times) =>
      `validator:sidecar_priced_pairs:count > 0 unless ${pricedPairs(times, 'id=~"btc/usd|eth/usd|ntrn/usd"')} >= 3`,
    value: "{{ $value }} pairs have a price, and one of btc/usd, eth/usd and ntrn/usd has none.",
  },
  "empty-prices-counted": {
    expr: (times) =>
      `${NO_PRICE} and sum ${VALIDATOR} (increase(app_oracle_responses{status="Success"}[${times("1m")}])) > 0`,
    value: "The sidecar updates no price, and the node counts successes.",
  },
  "stale-price-timestamp": {
    expr: () => "validator:sidecar_ticks:rate1m == 0",
    value: "The sidecar's price loop has not turned for a minute.",
  },
  "chain-halted": {
    expr: (times) => `max ${VALIDATOR} (changes(${HEIGHT}[${times("1m")}])) == 0`,
    value: "No node of the validator has a new block.",
  },
  "node-halted": {
    expr: (times) =>
      `min ${VALIDATOR} (changes(${HEIGHT}[${times("1m")}])) == 0 and max ${VALIDATOR} (changes(${HEIGHT}[${times("1m")}])) > 0`,
    value: "A node of the validator has no new block, and another one has.",
  },
  "node-behind": {
    expr: () =>
      `max ${VALIDATOR} (${HEIGHT}) - min ${VALIDATOR} (${HEIGHT}) > 10 or max ${VALIDATOR} (cometbft_blocksync_syncing) == 1`,
    value: "A node is catching up, or more than 10 blocks behind another one.",
  },
  "not-in-validator-set": {
    expr: () => `max ${VALIDATOR} (cometbft_consensus_validator_power) == 0`,
    value: "Its voting power is 0.",
  },
  "not-signing": {
    expr: () =>
      `max ${VALIDATOR} (${HEIGHT}) - max ${VALIDATOR} (cometbft_consensus_validator_last_signed_height) > 5 and max ${VALIDATOR} (cometbft_consensus_validator_power) > 0`,
    value: "Its last signature is {{ $value }} blocks old.",
  },
  "node-not-voting": {
    expr: (times) =>
      [
        `max ${VALIDATOR} (changes(${HEIGHT}[${times("1m")}])) > 0`,
        `and max ${VALIDATOR} (cometbft_consensus_validator_power) > 0`,
        `unless max ${VALIDATOR} (increase(app_oracle_responses[${times("1m")}])) > 0`,
      ].join("\n"),
    value: "It has new blocks and makes no oracle call.",
  },
  ...Object.fromEntries(
    BOUNDARIES.flatMap(([prefix, boundary, least]): (readonly [string, RawRule])[] => {
      const left = `validator:oracle_month:misses_left{boundary="${boundary}"}`;
      const enough = `on (chain_id, validator) validator:oracle_month:calls >= ${MIN_CALLS}`;
      const burns = (window: Parameters<typeof badShare>[0], factor: number): string =>
        `${badShare(window)} > ${factor} * ${ALLOWED[boundary]}`;
      return [
        [
          `${prefix}-lost`,
          {
            expr: () => `${left} < 0 and ${enough}`,
            value: "The month ends {{ $value | humanize }} calls below the boundary.",
          },
        ],
        [
          `${prefix}-rate-low`,
          {
            expr: () => `validator:oracle_month:success_ratio < ${least} and ${enough}`,
            value: "The month's rate is {{ $value | humanizePercentage }}.",
          },
        ],
        [
          `${prefix}-at-risk`,
          {
            expr: () =>
              `${left} / on (chain_id, validator) group_left () (validator:oracle_calls:rate6h > 0) < 4 * 3600 and ${left} >= 0 and ${enough}`,
            value: "A total outage of {{ $value | humanizeDuration }} would cross the boundary.",
          },
        ],
        [
          `${prefix}-fast-burn`,
          {
            expr: () =>
              `(${burns("1h", 14.4)} and ${burns("5m", 14.4)}) or (${burns("6h", 6)} and ${burns("5m", 6)})`,
            value: "{{ $value | humanizePercentage }} of the calls fail.",
          },
        ],
        [
          `${prefix}-slow-burn`,
          {
            expr: () => `${burns("3d", 1)} and ${burns("6h", 1)}`,
            value: "{{ $value | humanizePercentage }} of the calls of the last 3 days failed.",
          },
        ],
      ];
    }),
  ),
};

/** The conditions that the metrics of node and sidecar alone show, for an installation without the watchdog. */
export const RAW_GROUPS: readonly GroupSpec[] = [
  { name: "oracle-raw.calls", records: CALL_RECORDS, alerts: [] },
  { name: "oracle-raw.month", interval: "1m", records: MONTH_RECORDS, alerts: [] },
  {
    name: "oracle-raw.alerts",
    records: [],
    alerts: CONDITIONS.flatMap((condition): readonly AlertSpec[] => {
      const { name, severity, title, description, impact, inhibits } = condition;
      const rule = RULES[name];
      if (rule === undefined) return [];
      return [
        {
          name,
          alert: alertName(name),
          component: "oracle-raw",
          severity,
          summary: `${title}.`,
          description: `{{ $labels.validator }} on {{ $labels.chain_id }}: ${rule.value} ${description}`,
          impact,
          expr: rule.expr,
          for: rule.for ?? condition.for,
          dashboard: DASHBOARDS.paidRaw,
          inhibits,
          scope: ["chain_id", "validator"],
          example: caseOf(name),
        },
      ];
    }),
  },
];

function caseOf(name: string): AlertCase {
  const found = RAW_CASES[name];
  if (found === undefined) throw new Error(`${name} has no case`);
  return found;
}
