import { type NodeObservation, readingOf } from "../sources/observation.ts";
import {
  badShare,
  call,
  continued,
  failing,
  NO_PRICE,
  READS,
  sidecarMetric,
  succeeding,
  TICKS,
  VALIDATOR,
} from "./raw-metrics.ts";
import { active, cannotSee, clear, condition, LOSS_ALERTS, resultOf, threshold } from "./condition.ts";
import type { Condition, ConditionInput, ConditionResult } from "./condition.ts";
import { CALLS_MS, eachNode, latestCalls, nodeInputs, secondsText } from "./evaluate-nodes.ts";
import type { NodeInput } from "./evaluate-nodes.ts";
import type { WebSocketHistory } from "./poll-history.ts";

const FAILING_CALLS_IMPACT =
  "Every failed call is a missed oracle vote and costs one block. Failed calls can also slow the chain down, because the node waits until its call times out.";

const WEB_SOCKETS = "web_socket_connection_status";
const SIDECAR_NOT_STORED = { notStored: "sidecar readings" };

/** Conditions about the sidecar and the node's calls to it. */
export const SIDECAR_CONDITIONS: readonly Condition[] = [
  condition({
    name: "sidecar-down",
    severity: "critical",
    title: "Sidecar down",
    end: "the sidecar responds",
    when: "the sidecar's prices cannot be read, and the node's calls fail too",
    description:
      "Neither the watchdog nor the node can reach the price sidecar. A planned restart is over before this alert fires.",
    impact: FAILING_CALLS_IMPACT,
    action:
      "Start the sidecar's service and read its journal. Once it responds, the node reconnects within seconds, or within two minutes after a long outage.",
    for: "1m",
    inhibits: [
      "oracle-calls-failing",
      "sidecar-too-slow",
      "sidecar-slow",
      "all-prices-missing",
      "major-pairs-missing",
      "empty-prices-counted",
      "stale-price-timestamp",
      "websocket-providers-failing",
      "cannot-see-prices",
      "cannot-see-sidecar-metrics",
      ...LOSS_ALERTS,
    ],
    past: SIDECAR_NOT_STORED,
    others: "votes",
    raw: {
      expr: (times) =>
        `${badShare("5m")} > 0.5 unless validator:sidecar_ticks:rate1m and last_over_time(validator:sidecar_ticks:rate1m[${times("1d")}])`,
      value:
        "{{ $value | humanizePercentage }} of calls in the last 5 minutes failed, and the sidecar's metrics are gone.",
      example: {
        fires: [call("Success", 0, 100), call("Failure", 3000), { series: TICKS, step: 240, ends: 3 }],
        clears: succeeding,
      },
    },
    evaluate: eachNode(evaluateSidecarDown),
  }),
  condition({
    name: "sidecar-too-slow",
    severity: "critical",
    title: "Sidecar too slow for the node",
    end: "the price sidecar responds in 4 ms",
    when: "the sidecar's price response takes longer than the node's timeout (`client_timeout`), and the node's calls fail",
    description:
      "The sidecar responds, but only after the node has stopped waiting (client_timeout in its app.toml, 2 s by default). neutrond 9 always ends the call after 1 s.",
    impact: FAILING_CALLS_IMPACT,
    action:
      "On the sidecar's machine, find out what is slow: the processor, the disk, or the network to the node. Then restart the sidecar.",
    for: "1m",
    thresholds: {
      client_timeout: threshold("duration", 2000, "the node's timeout for a response; 1s for neutrond 9"),
    },
    inhibits: ["oracle-calls-failing", "sidecar-slow", "websocket-providers-failing", ...LOSS_ALERTS],
    past: SIDECAR_NOT_STORED,
    others: "votes",
    evaluate: eachNode((input, limit) => {
      const { prices } = input.node;
      if (prices.state !== "up" || prices.value.isDerived)
        return cannotSee("the sidecar's prices cannot be timed");
      const { durationMs } = prices;
      const timeoutMs = limit("client_timeout");
      const calls = latestCalls(input);
      if (durationMs <= timeoutMs || calls === "good") return clear(durationReason(durationMs));
      const reason = `${durationReason(durationMs)}, and the node waits ${timeoutMs / 1000} s`;
      return calls === "bad"
        ? active(reason, durationMs)
        : cannotSee(`${reason}, but has made no call recently`);
    }),
  }),
  condition({
    name: "oracle-calls-failing",
    severity: "critical",
    echo: "minutes",
    title: "Oracle calls fail",
    end: "the node's latest calls succeed",
    when: "none of the node's calls has succeeded for `none_for`, or at least `min_failed` of at least `min_blocks` calls in the last 5 minutes failed, and the latest calls still fail",
    description: "The node calls its sidecar for every vote, and these calls fail.",
    impact: FAILING_CALLS_IMPACT,
    action:
      "After a long outage of the sidecar, wait two minutes: the node reconnects by itself. Otherwise check oracle_address in the node's app.toml, and time the sidecar's price response on the node's machine.",
    for: "0s",
    // Resolve as late as sidecar-down, which mutes this alert. Otherwise, the end of an outage would send another notification.
    resolveFor: "30s",
    thresholds: {
      none_for: threshold("duration", 90_000, "time without a successful call"),
      min_failed: threshold("percent", 90, "share of failed calls in 5 minutes"),
      min_blocks: threshold("number", 30, "minimum number of blocks for the share to be meaningful"),
    },
    inhibits: ["sidecar-slow", "websocket-providers-failing", ...LOSS_ALERTS],
    past: "counts",
    others: "votes",
    raw: {
      expr: () => `${badShare("5m")} >= 0.9 and validator:oracle_calls:increase5m >= 30`,
      value: "{{ $value | humanizePercentage }} of calls in the last 5 minutes failed.",
      example: { fires: failing, clears: succeeding },
    },
    evaluate: evaluateCalls,
  }),
  condition({
    name: "sidecar-slow",
    severity: "warning",
    title: "Sidecar responds slowly",
    end: "the price sidecar responds in 4 ms",
    when: "the sidecar's price response takes longer than `slow_after`; or, while the watchdog cannot read the prices, at least half of the node's calls take longer than `slow_after`",
    description:
      "The sidecar's price responses are slow. The node waits for prices up to client_timeout in its app.toml, 2 s by default. neutrond 9 always ends the call after 1 s.",
    impact:
      "A response that arrives after the node's timeout is a failed call, so the validator misses its oracle vote for that block.",
    action:
      "Run the sidecar on the node's machine, with enough CPU. You can raise client_timeout from 2s to 5s and restart the node. neutrond 9 ignores values above 1 s, and a longer timeout slows every block while the sidecar is down.",
    for: "5m",
    resolveFor: "5m",
    thresholds: { slow_after: threshold("duration", 500, "duration of one price response") },
    past: SIDECAR_NOT_STORED,
    raw: {
      expr: (times) =>
        `histogram_quantile(0.5, sum by (chain_id, validator, le) (rate(app_oracle_response_latency_bucket[${times("5m")}]))) > 500`,
      value: "Half of the calls take longer than {{ $value }} ms.",
      example: {
        fires: [
          { series: 'app_oracle_response_latency_bucket{$,le="512"}', step: 10 },
          { series: 'app_oracle_response_latency_bucket{$,le="+Inf"}', step: 60 },
        ],
        clears: [
          // Test case: a fifth of the calls are slow, as on a busy machine.
          continued('app_oracle_response_latency_bucket{$,le="512"}', 48),
          continued('app_oracle_response_latency_bucket{$,le="+Inf"}', 60),
        ],
      },
    },
    evaluate: eachNode((input, limit) => {
      const { prices } = input.node;
      const slowAfterMs = limit("slow_after");
      // If prices are derived from metrics, `durationMs` measures the query and not the sidecar's response.
      return prices.state !== "up" || prices.value.isDerived
        ? evaluateLatency(input, slowAfterMs)
        : resultOf(prices.durationMs > slowAfterMs, durationReason(prices.durationMs), prices.durationMs);
    }),
  }),
  condition({
    name: "websocket-providers-failing",
    severity: "critical",
    echo: "minutes",
    title: "All WebSocket providers fail",
    end: "0 of 12 WebSocket providers fail",
    when: "no WebSocket provider has sent a message for a minute, and either the success rate of the last 30 minutes is below `max_rate` or no pair has a price",
    description:
      "All WebSocket price providers are failing together, and the validator is losing votes: the node's calls fail, or no pair has a price. The node counts a vote without a price as a success; the chain counts it as missed. Individual disconnections are normal: providers reconnect within ten seconds.",
    impact:
      "Without WebSocket providers, nearly all prices disappear within two minutes, and the validator misses every vote.",
    action: "Check the network: DNS, firewall, outbound ports 443 and 8443. Then restart the sidecar.",
    for: "30m",
    resolveFor: "2m",
    thresholds: { max_rate: threshold("percent", 95, "success rate below which the alert fires") },
    inhibits: LOSS_ALERTS,
    past: SIDECAR_NOT_STORED,
    raw: {
      expr: (times) =>
        [
          `count ${VALIDATOR} (${sidecarMetric(WEB_SOCKETS)})`,
          `unless count ${VALIDATOR} (increase(${sidecarMetric(WEB_SOCKETS, 'status="read_success"')}[${times("1m")}]) > 0)`,
          `and (${badShare("30m")} > 0.05 or ${NO_PRICE})`,
        ].join("\n"),
      value: "No WebSocket provider has sent a message for a minute.",
      example: {
        fires: [{ series: READS, from: 50 }, ...failing],
        clears: [continued(READS, 60)],
      },
    },
    evaluate: eachNode((input, limit) => evaluateWebSockets(input, limit("max_rate"))),
  }),
];

function evaluateSidecarDown(input: NodeInput): ConditionResult {
  const { prices, sidecar } = input.node;
  if (prices.state === "not-configured") return cannotSee("sources.prices is not configured");
  const isFailing = latestCalls(input) === "bad";
  // The outage lasts until the node has reconnected, which can take up to two minutes after the sidecar is back. The outage's cost
  // is unknown until then. If the sidecar is too slow for every node, another condition applies.
  if (prices.state !== "error")
    return isFailing && prices.durationMs <= QUICK_MS
      ? cannotSee("the sidecar responds, but the node's calls still fail")
      : clear("the sidecar responds");
  // If the prices cannot be read, the sidecar may still be running. Only the node's calls show whether the sidecar is down.
  if (!isFailing) return cannotSee("the watchdog cannot reach the sidecar, but the node's calls do not fail");
  const process = sidecar.state === "up" ? "; its metrics page responds" : "";
  return active(
    `the price sidecar does not respond, and the node's calls fail: ${prices.failure.text}${process}`,
  );
}

/** Every node's call timeout is at least this long, so a response within this time is never too slow. */
const QUICK_MS = 1_000;

/** With fewer failed calls than this, a long time since the last good call proves nothing, e.g. after a chain halt. */
const LEAST_FAILED = 10n;

function evaluateCalls(
  input: ConditionInput,
  limit: (key: "none_for" | "min_failed" | "min_blocks") => number,
): ConditionResult {
  const { nodes, atMs } = input.observation;
  const { good, bad } = input.recent["5m"];
  const all = nodeInputs(input);
  const latest = all.map(latestCalls);
  // If any node's latest calls succeed, the operator cannot act on the last minutes' failures any more.
  if (latest.includes("good")) return clear("the node's latest calls succeed");
  const noneMs = Math.min(
    ...all.map(({ history }) => atMs - Math.max(history.lastGoodMs ?? 0, history.seenSinceMs ?? atMs)),
  );
  const total = Number(good + bad);
  const percent = (Number(bad) * 100) / Math.max(1, total);
  if (latest.every((one) => one === "bad") && noneMs >= limit("none_for") && bad >= LEAST_FAILED)
    return active(
      `none of the node's calls has succeeded for ${secondsText(noneMs)}${slowText(nodes)}`,
      percent,
    );
  if (total < limit("min_blocks")) return cannotSee(`only ${total} blocks in the last 5 minutes`);
  return percent < limit("min_failed")
    ? clear(`fewer than ${limit("min_failed")} % of the node's calls fail`)
    : active(`${bad} of the node's ${total} calls in 5 minutes failed${slowText(nodes)}`, percent);
}

/** A price response that takes this long can explain failures even if it is faster than `client_timeout`. */
const SLOW_MS = 500;

function slowText(nodes: readonly NodeObservation[]): string {
  const slow = nodes.flatMap(({ prices }) =>
    prices.state === "up" && prices.value.isDerived !== true && prices.durationMs > SLOW_MS
      ? [prices.durationMs]
      : [],
  );
  return slow.length === 0 ? "" : `; ${durationReason(Math.max(...slow))}`;
}

/** Describes a response time, as in "the price sidecar responds in 3.0 s". */
function durationReason(durationMs: number): string {
  const text = durationMs < 1000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`;
  return `the price sidecar responds in ${text}`;
}

/**
 * Evaluates the call times measured by the node itself. The result is active if at least half of the latest calls took longer than
 * `slowAfterMs`. A histogram only has counts for fixed bounds, so the smallest bound of at least `slowAfterMs` is used.
 */
function evaluateLatency({ history, atMs }: NodeInput, slowAfterMs: number): ConditionResult {
  const recent = history.latency?.recent;
  if (recent === undefined || atMs - recent.atMs > CALLS_MS)
    return cannotSee("the sidecar's prices cannot be read, and the node has no recent call times");
  const bounds = [...recent.within.keys()].filter((bound) => bound >= slowAfterMs);
  if (bounds.length === 0)
    return cannotSee("the sidecar's prices cannot be read, and the node's histogram has no bound this long");
  const bound = Math.min(...bounds);
  const slow = recent.calls - (recent.within.get(bound) ?? 0n);
  const reason = `${slow} of ${recent.calls} recent calls of the node took longer than ${bound} ms`;
  return resultOf(2n * slow >= recent.calls, reason);
}

/** A provider has failed if it has sent no message for this long. */
const SILENT_MS = 60_000;

function evaluateWebSockets({ node, history, atMs, whole }: NodeInput, maxRate: number): ConditionResult {
  const { sidecar, prices } = node;
  if (sidecar.state !== "up") return cannotSee("the sidecar's metrics cannot be read");
  const providers = [...history.webSockets];
  if (providers.length === 0) return cannotSee("the sidecar has no WebSocket provider");
  const isWorking = ({ lastReadMs }: WebSocketHistory): boolean =>
    lastReadMs !== undefined && atMs - lastReadMs <= SILENT_MS;
  const working = providers.filter(([, one]) => isWorking(one));
  const state = `${providers.length - working.length} of ${providers.length} WebSocket providers fail`;
  if (working.length > 0) return clear(state);
  // A provider that was first seen recently may not have sent its first message yet.
  if (providers.some(([, { sinceMs }]) => atMs - sinceMs <= SILENT_MS))
    return cannotSee("no message has been seen yet");
  const { good, bad } = whole.recent["30m"];
  const total = Number(good + bad);
  const percent = total === 0 ? 100 : (Number(good) * 100) / total;
  // If no pair has a price, the node counts its calls as successes, but the chain counts the votes as missed.
  if (readingOf(prices)?.pairs.length === 0) return active(`${state}, and no pair has a price`);
  return percent < maxRate
    ? active(`${state}, and ${percent.toFixed(2)} % of calls succeeded in the last 30 minutes`)
    : clear(`${state}, but the node's calls succeed`);
}
