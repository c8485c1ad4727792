import { Gauge, type Registry } from "prom-client";
import { createMetricFactory, type LastingMetrics } from "../../platform/process/lasting-metrics.ts";
import { DELIVERY_OUTCOMES, type DeliveryOutcome } from "../notify/delivery.ts";
import { TIERS, toRatio } from "../policy/reward-tier.ts";
import type { NodeReading, Observation, Seen, SidecarReading } from "../sources/observation.ts";
import { seenSources } from "../sources/seen-sources.ts";
import { SOURCE_NAMES } from "../sources/targets.ts";
import type { WatchdogStatus } from "./watchdog-status.ts";
import { CHAIN_GAUGES, chainGaugeOf } from "./status-gauges.ts";
import {
  gaugesOf,
  oneOf,
  seconds,
  type Series,
  seriesOf,
  type StatusMetric,
  type StatusMetrics,
} from "../../platform/process/status-metrics.ts";

/**
 * With up to this many validators, statuses are formatted on request. With more validators, one request cannot format all statuses in time.
 */
export const MAX_LAZY = 50;

const watchdogGauge = gaugesOf([], (status: WatchdogStatus) => [[[], status]]);
const validatorGauge = gaugesOf(["validator"], (status: WatchdogStatus) => [[[status.validator], status]]);
const monthGauge = chainGaugeOf(({ current }) => current);
const sourceGauge = gaugesOf(["validator", "node", "source"], ({ validator, sources }: WatchdogStatus) =>
  sources.map((source) => [[validator, source.node ?? "", source.name], source] as const),
);
const alertGauge = gaugesOf(
  ["validator", "chain_id", "alert", "severity"],
  ({ alerts, chainId = "" }: WatchdogStatus) =>
    alerts.map(({ validator, rule: { condition, severity }, state }) => {
      const labels = [validator, chainId, condition.name, severity];
      return [labels, state] as const;
    }),
);

const STATUS_GAUGES: StatusMetrics<WatchdogStatus> = {
  oracle_watchdog_month_blocks: monthGauge(
    "Blocks in the current UTC month, by the result of their oracle call. The result is unknown if a node restart erased the counter before the watchdog read it.",
    ({ counts: { good, bad, unknown } }) => Object.entries({ good, bad, unknown }),
    "result",
  ),
  oracle_watchdog_month_success_ratio: monthGauge(
    "Share of good blocks among good and bad blocks in the current UTC month. Absent before the first counted block.",
    ({ rate }) => rate && toRatio(rate),
  ),
  oracle_watchdog_month_tier: monthGauge(
    "1 for the reward tier of the current UTC month, 0 for the other tiers.",
    ({ tier }) => oneOf(TIERS, tier),
    "tier",
  ),
  oracle_watchdog_source_up: sourceGauge(
    "1 if the source's last scrape succeeded, 0 otherwise.",
    ({ up }) => up,
  ),
  oracle_watchdog_endpoint_used: sourceGauge(
    "1 for the URL of the source that responded last, 0 for its other URLs. Only for sources with several URLs.",
    ({ endpoints = [] }) => endpoints.map(({ host, isUsed }) => [host, isUsed]),
    "endpoint",
  ),
  oracle_watchdog_endpoint_up: sourceGauge(
    "1 unless a request to the URL failed in the last half minute, otherwise 0. Only for sources with several URLs.",
    ({ endpoints = [] }) => endpoints.map(({ host, isUp }) => [host, isUp]),
    "endpoint",
  ),
  oracle_watchdog_source_last_success_timestamp_seconds: sourceGauge(
    "Time of the source's last successful scrape.",
    ({ lastSuccessMs }) => seconds(lastSuccessMs),
  ),
  oracle_watchdog_priced_pairs: validatorGauge(
    "Number of pairs with a price in the sidecar's last response.",
    ({ pairs }) => pairs.length,
  ),
  oracle_watchdog_alert_firing: alertGauge(
    "1 while the alert is firing, 0 otherwise.",
    (state) => state?.phase === "firing",
  ),
  oracle_watchdog_alert_pending: alertGauge(
    "1 while the alert's condition holds but the alert is not firing yet, 0 otherwise.",
    (state) => state?.phase === "pending",
  ),
  oracle_watchdog_alert_since_timestamp_seconds: alertGauge(
    "Time at which the alert became pending or started to fire. A muted alert is firing, but another alert, a silence or maintenance suppresses its notifications. Absent while the alert is inactive.",
    (state) => {
      if (state === undefined || state.phase === "resolved") return undefined;
      const isMuted = state.phase === "firing" && state.quietReason !== undefined;
      return [[isMuted ? "muted" : state.phase, seconds(state.sinceMs)]];
    },
    "state",
  ),
  oracle_watchdog_alert_acknowledged: alertGauge(
    "1 if somebody has acknowledged the firing alert, 0 if not. Absent while the alert is not firing.",
    (state) => (state?.phase === "firing" ? state.acknowledged !== undefined : undefined),
  ),
  oracle_watchdog_alert_escalation_steps: alertGauge(
    "Number of escalation steps taken because nobody acknowledged the firing alert. Absent while the alert is not firing.",
    (state) => (state?.phase === "firing" ? (state.escalation?.steps ?? 0) : undefined),
  ),
  oracle_watchdog_last_poll_timestamp_seconds: validatorGauge(
    "Time of the last poll of the validator's sources. Absent before the first poll.",
    ({ polledAtMs }) => seconds(polledAtMs),
  ),
  oracle_watchdog_poll_late_seconds: validatorGauge(
    "Delay between the planned and the actual start of the validator's last poll. The delay grows when the watchdog is overloaded.",
    ({ lateMs }) => seconds(lateMs),
  ),
  oracle_watchdog_state_stored: watchdogGauge(
    "1 while the state is stored, 0 while it is only in memory because the state file could not be written.",
    ({ storeProblem }) => storeProblem === undefined,
  ),
  oracle_watchdog_clock_believed: watchdogGauge(
    "1 while the watchdog trusts its machine's clock, 0 while the chain, the sources or the last poll contradict it.",
    ({ clockProblem }) => clockProblem === undefined,
  ),
  oracle_watchdog_active_silences: watchdogGauge(
    "Number of active silences.",
    ({ activeSilences }) => activeSilences,
  ),
  oracle_watchdog_pending_notifications: watchdogGauge(
    "Notifications that the channel has not accepted yet.",
    ({ pending }) => [...pending],
    "channel",
  ),
  oracle_watchdog_dead_letters: watchdogGauge(
    "Notifications that the channel failed to deliver and no longer retries.",
    ({ deadLetters }) => [...deadLetters],
    "channel",
  ),
  ...CHAIN_GAUGES,
};

export interface WatchdogMetrics {
  readonly recordPoll: (observation: Observation, restarts: number) => void;
  readonly recordDelivery: (channel: string, outcome: DeliveryOutcome) => void;
  readonly recordPing: (atMs: number) => void;
  /** Sets all of one validator's gauges from its status. With few validators, the values are computed only when the metrics are read. */
  readonly showStatus: (status: WatchdogStatus) => void;
  /**
   * Returns all metrics as text for `GET /metrics`. With many validators, `showStatus` formats each validator's gauges in advance, because
   * formatting the 25,000 series of 200 validators takes longer than a scrape's time limit.
   */
  readonly page: () => Promise<string>;
}

/**
 * Registers all metrics. Counters start at zero for all label values. Gauges with labels are absent until the first `showStatus`.
 */
export function createWatchdogMetrics(
  registry: Registry,
  channels: readonly string[],
  lasting?: LastingMetrics,
): WatchdogMetrics {
  const factory = createMetricFactory(registry, lasting);
  /** Each validator's last status, in the order of their polls. Gauges without a validator label show the validator polled last. */
  const statuses = new Map<string, WatchdogStatus>();
  const latest = (gauge: StatusMetric<WatchdogStatus>): readonly WatchdogStatus[] =>
    [...statuses.values()].slice(gauge.by?.includes("validator") === true ? 0 : -1);
  const linesByStatus = new WeakMap<WatchdogStatus, GaugeLines>();
  const linesOf = (status: WatchdogStatus): GaugeLines => {
    const lines = linesByStatus.get(status) ?? gaugeLines(status);
    linesByStatus.set(status, lines);
    return lines;
  };
  for (const [name, gauge] of Object.entries(STATUS_GAUGES))
    registry.registerMetric(
      new Gauge({
        name,
        help: gauge.help,
        labelNames: [...(gauge.by ?? [])],
        registers: [],
        collect() {
          this.reset();
          for (const status of latest(gauge))
            for (const { labels, value } of seriesOf(gauge, status)) this.set(labels, value);
        },
      }),
    );
  const scrapes = factory.counter({
    name: "oracle_watchdog_scrapes_total",
    help: "Scrapes by source and outcome.",
    labelNames: ["source", "outcome"],
    zeros: { source: SOURCE_NAMES, outcome: ["success", "failure"] },
  });
  const duration = factory.histogram({
    name: "oracle_watchdog_scrape_duration_seconds",
    help: "Duration of scrapes by source.",
    labelNames: ["source"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  });
  const skipped = factory.counter({
    name: "oracle_watchdog_skipped_lines_total",
    help: "Lines on metrics pages that could not be parsed. These lines contain no metric that the watchdog needs.",
    labelNames: ["source"],
    zeros: { source: ["node", "sidecar-metrics"] },
  });
  const restarts = factory.counter({
    name: "oracle_watchdog_node_restarts_total",
    help: "Node restarts that the watchdog detected from the nodes' counters.",
  });
  const ping = factory.gauge({
    name: "oracle_watchdog_dead_man_ping_timestamp_seconds",
    help: "Time of the last request that the dead-man monitor accepted, or 0 if the monitor has accepted no request.",
  });
  const attempts = factory.counter({
    name: "oracle_watchdog_notification_attempts_total",
    help: "Attempts to deliver notifications, by channel and outcome.",
    labelNames: ["channel", "outcome"],
    zeros: { channel: channels, outcome: DELIVERY_OUTCOMES },
  });
  return {
    recordPoll: (observation, restartedNodes) => {
      for (const { source, seen } of seenSources(observation)) {
        if (seen.state === "error" && seen.isRepeated) continue;
        scrapes.inc({ source, outcome: seen.state === "error" ? "failure" : "success" });
        duration.observe({ source }, seen.durationMs / 1000);
      }
      for (const { metrics, sidecar } of observation.nodes) {
        skipped.inc({ source: "node" }, skippedOf(metrics));
        skipped.inc({ source: "sidecar-metrics" }, skippedOf(sidecar));
      }
      restarts.inc(restartedNodes);
    },
    recordDelivery: (channel, outcome) => attempts.inc({ channel, outcome }),
    recordPing: (atMs) => ping.set(atMs / 1000),
    showStatus: (status) => {
      statuses.delete(status.validator);
      statuses.set(status.validator, status);
      if (statuses.size > MAX_LAZY) linesOf(status);
    },
    page: async () => {
      const texts = registry.getMetricsAsArray().map(async ({ name, help }) => {
        const gauge = STATUS_GAUGES[name];
        if (gauge === undefined) return registry.getSingleMetricAsString(name);
        const lines = latest(gauge).map((status) => linesOf(status).get(name));
        return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join("")}`.trimEnd();
      });
      return `${(await Promise.all(texts)).join("\n\n")}\n`;
    },
  };
}

function skippedOf(page: Seen<NodeReading | SidecarReading>): number {
  return page.state === "up" ? (page.value.skippedLines ?? 0) : 0;
}

type GaugeLines = ReadonlyMap<string, string>;

function gaugeLines(status: WatchdogStatus): GaugeLines {
  return new Map(
    Object.entries(STATUS_GAUGES).map(([name, gauge]) => [
      name,
      seriesOf(gauge, status)
        .map((one) => line(name, one))
        .join(""),
    ]),
  );
}

/** Formats one line of the metrics page, as prom-client does. */
function line(name: string, { labels, value }: Series): string {
  let texts = "";
  for (const [label, text] of Object.entries(labels)) texts += `${texts && ","}${label}="${escaped(text)}"`;
  return `${name}${texts && `{${texts}}`} ${numberText(value)}\n`;
}

function escaped(text: string): string {
  // Test first, because hardly any label needs escaping and one search is faster than three replacements.
  return /[\\\n"]/.test(text)
    ? text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"')
    : text;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "Nan";
  if (Number.isFinite(value)) return `${value}`;
  return value > 0 ? "+Inf" : "-Inf";
}
