import type { BlockCounts } from "../ledger/block-counts.ts";
import {
  active,
  cannotSee,
  clear,
  type Condition,
  condition,
  type ConditionResult,
  type ConditionInput,
} from "./condition.ts";
import { evaluateNodes, latestCalls, type NodeInput } from "./evaluate-nodes.ts";
import { LOSS_ALERTS } from "./consequences.ts";
import { type LatencyHistory, UNSEEN, type WebSocketHistory } from "./poll-history.ts";
import {
  NO_PRICE,
  READS,
  TICKS,
  VALIDATOR,
  badShare,
  call,
  failing,
  continued,
  sidecarMetric,
  succeeding,
} from "./raw-metrics.ts";
import { check, see } from "../../platform/monitoring/alerts/runbook-spec.ts";

/** What the node loses when its calls fail. */
const FAILING_CALLS_IMPACT =
  "Every failed call is a missed oracle vote: one block each. Failed calls can also slow the chain down: the node waits until its call times out.";

const WEB_SOCKETS = "web_socket_connection_status";
const SIDECAR_NOT_STORED = { notStored: "readings of the sidecar" };

/** Output of a command in runbooks. */
export const HEALTHY_PRICES =
  '{"prices":{"BTC/USD":"9345012345","ETH/USD":"1780123456"},"timestamp":"2026-11-22T05:53:59.751Z","version":"v1.2.2"}';

/** Output of a command in runbooks. */
export const CALLS =
  'app_oracle_responses{chain_id="neutron-1",status="Failure"} 61\napp_oracle_responses{chain_id="neutron-1",status="Success"} 1.841042e+06';

/** Conditions of the sidecar and of the node's calls to it. */
export const SIDECAR_CONDITIONS: readonly Condition[] = [
  condition({
    name: "sidecar-down",
    severity: "critical",
    title: "Sidecar down",
    when: "the sidecar's prices cannot be read, and the node's calls fail too",
    description:
      "Neither the watchdog nor the node can reach the price sidecar. A planned restart ends before this alert fires.",
    impact: FAILING_CALLS_IMPACT,
    action:
      "Start the sidecar's service and read its journal. Once it responds, the node reconnects within seconds, or within two minutes after a long outage.",
    for: "1m",
    resolveFor: "30s",
    thresholds: {},
    inhibits: [
      "oracle-calls-failing",
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
    runbook: {
      reason: "connection refused (connect ECONNREFUSED 127.0.0.1:8080), and the node's calls fail",
      fault: "sidecar-killed",
      checks: [
        see(
          "Run this on the node's machine. No output and exit code 7: nothing listens on the port. Exit code 28: the sidecar does not respond.",
          "prices",
          HEALTHY_PRICES,
        ),
        check(
          "Read the last lines of its log: `journalctl -u connect -n 100`. `failed to initialize oracle` is a configuration error. `signal: killed` in the kernel's log means that the machine ran out of memory.",
        ),
      ],
      fix: [
        "Start the sidecar: `systemctl restart connect`. It serves prices within seconds, and the node reconnects about ten seconds later. Do not restart the node.",
        "If it exits again immediately, undo the last change to its flags, its version or its market map endpoint (host and port, without http://).",
        "If the machine lacks memory or disk space, free some first. Otherwise the kernel kills the sidecar again.",
      ],
      after: [
        "Before the next planned restart, check its cost: `relaywatch what-if --sidecar-restart 25s`.",
        "If the process exited by itself, set `Restart=always` in its service.",
      ],
    },
    raw: {
      expr: (times) =>
        `${badShare("5m")} > 0.5 unless validator:sidecar_ticks:rate1m and last_over_time(validator:sidecar_ticks:rate1m[${times("1d")}])`,
      value:
        "{{ $value | humanizePercentage }} of the calls of the last 5 minutes failed, and the sidecar's metrics are gone.",
      example: {
        fires: [call("Success", 0, 100), call("Failure", 3000), { series: TICKS, step: 240, ends: 3 }],
        clears: succeeding,
      },
    },
    evaluate: (input) => evaluateNodes(input, evaluateSidecarDown),
  }),
  condition({
    name: "oracle-calls-failing",
    severity: "critical",
    title: "Oracle calls fail",
    when: "at least `min_failed` of the node's calls in the last 5 minutes failed, with at least `min_blocks` calls, and the latest calls still fail",
    description: "The node calls its sidecar for every vote, and these calls fail.",
    impact: FAILING_CALLS_IMPACT,
    action:
      "After a long outage of the sidecar, wait two minutes: the node reconnects by itself. Otherwise check oracle_address in the node's app.toml, and time the sidecar's price response on the node's machine.",
    for: "0s",
    // As long as that of sidecar-down, which mutes it: the end of an outage must not notify as a second one.
    resolveFor: "30s",
    thresholds: {
      min_failed: { unit: "percent", initial: 90, description: "share of failed calls" },
      min_blocks: { unit: "number", initial: 30, description: "with fewer blocks the alert does not fire" },
    },
    inhibits: ["sidecar-slow", "websocket-providers-failing", ...LOSS_ALERTS],
    past: "counts",
    others: "votes",
    runbook: {
      reason: "61 of 61 calls failed in the last 5 minutes",
      fault: "http-500",
      checks: [
        see("Failure grows with every block and Success does not:", "calls", CALLS),
        see(
          "Read the status of the failing calls. `OracleClientError`: the sidecar, or the network path to it. `TransformPricesError`: a malformed price.",
          "abci",
          'app_abci_requests{abci_method="extend_vote",chain_id="neutron-1",status="OracleClientError"} 61',
        ),
        see("Does the sidecar respond to curl in less than a second?", "prices", HEALTHY_PRICES),
      ],
      fix: [
        "If the sidecar responds to curl but not to the node, compare `oracle_address` in the node's app.toml with the sidecar's host and port. Restart the node after a change.",
        "If it responds with an error, or only after seconds, restart the sidecar.",
        "If node and sidecar use different versions of the price service (`v1` and `v2`), install the sidecar version that the chain's release requires.",
      ],
      after: [
        "Watch Failure for ten blocks: it must no longer grow.",
        "Write down the number of lost blocks. The resolved message has it.",
      ],
    },
    raw: {
      expr: () => `${badShare("5m")} >= 0.9 and validator:oracle_calls:increase5m >= 30`,
      value: "{{ $value | humanizePercentage }} of the calls of the last 5 minutes failed.",
      example: { fires: failing, clears: succeeding },
    },
    evaluate: (input, limit) =>
      evaluateCalls(input.recent["5m"], {
        haveEnded: isAnyNodeWell(input),
        minFailed: limit("min_failed"),
        minBlocks: limit("min_blocks"),
      }),
  }),
  condition({
    name: "sidecar-slow",
    severity: "warning",
    title: "Sidecar responds slowly",
    when: "the sidecar's price response takes longer than `slow_after`, or, while the watchdog cannot read the prices, at least half of the node's calls do",
    description:
      "The sidecar's price responses are slow. The node waits for prices for client_timeout in its app.toml, 2 s by default. neutrond 9 always ends the call after 1 s.",
    impact: "A response after the node's timeout is a failed call and a missed oracle vote: one block each.",
    action:
      "Run the sidecar on the node's machine, with enough CPU. You can raise client_timeout from 2s to 5s and restart the node. neutrond 9 ignores values above 1 s, and a longer timeout slows every block while the sidecar is down.",
    for: "5m",
    resolveFor: "5m",
    thresholds: {
      slow_after: { unit: "duration", initial: 500, description: "duration of one price response" },
    },
    inhibits: [],
    past: SIDECAR_NOT_STORED,
    runbook: {
      reason: "the price response took 1204 ms",
      fault: "slow",
      checks: [
        see(
          "On the node's machine, run this a few times with `time` in front. A healthy response takes a few milliseconds.",
          "prices",
          HEALTHY_PRICES,
        ),
        check(
          "Run `top` and `iostat` on the sidecar's machine: check CPU, swap and other processes. A remote sidecar adds network latency to each call.",
        ),
      ],
      fix: [
        "Give the sidecar more CPU: move it to the node's machine, or raise its service's limits.",
        "Set its log level to info: debug logs slow it down.",
        "Raise `client_timeout` from 2s to 5s only on chains that use this setting. neutrond 9 always ends the call after 1 s.",
      ],
      after: ["On the dashboard, compare the oracle call's latency before and after the change."],
    },
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
          // A busy machine: a fifth of the calls is slow.
          continued('app_oracle_response_latency_bucket{$,le="512"}', 48),
          continued('app_oracle_response_latency_bucket{$,le="+Inf"}', 60),
        ],
      },
    },
    evaluate: (input, limit) => evaluateNodes(input, (node) => evaluateDuration(node, limit("slow_after"))),
  }),
  condition({
    name: "websocket-providers-failing",
    severity: "critical",
    title: "All WebSocket providers fail",
    when: "no WebSocket provider has sent a message for a minute, and the success rate of the last 30 minutes is below `max_rate`, or no pair has a price",
    description:
      "All WebSocket price providers fail together, and the validator loses votes: the node's calls fail, or no pair has a price. A vote without a price is a success for the node and a missed vote for the chain. Single disconnections are normal: providers reconnect within ten seconds.",
    impact:
      "Without WebSocket providers nearly all prices disappear within two minutes, and the validator misses every vote.",
    action: "Check the network: DNS, firewall, outbound ports 443 and 8443. Then restart the sidecar.",
    for: "30m",
    resolveFor: "2m",
    thresholds: {
      max_rate: { unit: "percent", initial: 95, description: "a lower success rate lets the alert fire" },
    },
    inhibits: LOSS_ALERTS,
    past: SIDECAR_NOT_STORED,
    runbook: {
      reason: "12 of 12 WebSocket providers fail, and 40.12 % of calls succeeded in the last 30 minutes",
      fault: "websocket-providers-down",
      checks: [
        see(
          "`read_success` does not grow for any provider:",
          "sidecar",
          'side_car_health_check_system_updates_total 1.2e+06\nside_car_web_socket_connection_status{provider="okx_ws",status="read_success"} 81234',
        ),
        check(
          "From the sidecar's machine, connect to two providers: `curl -sI https://stream.binance.com:443` and `curl -sI https://ws.okx.com:8443`. If a name does not resolve, check DNS. On a timeout, check the firewall.",
        ),
      ],
      fix: [
        "Restore the network: DNS, outbound ports 443 and 8443, the proxy, a provider's ban on your address.",
        "Once the network works, the sidecar reconnects within ten seconds. If it does not, restart it.",
        "If providers are blocked in your country, update the sidecar: newer releases may use other endpoints.",
      ],
      after: [
        "Add the missing port to the firewall's stored configuration, so that it survives a reboot.",
        "Add two targets to `sources.egress`: next time an alert names this cause immediately.",
      ],
    },
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
    evaluate: (input, limit) =>
      evaluateNodes(input, (node) => evaluateWebSockets(node, input, limit("max_rate"))),
  }),
];

function evaluateSidecarDown(input: NodeInput): ConditionResult {
  const { prices, sidecar } = input.node;
  if (prices.state === "not-configured") return cannotSee("sources.prices is not configured");
  if (prices.state === "up") return clear("the sidecar responds");
  // An unreadable source alone shows nothing about the sidecar. The node's own calls show that the sidecar is down.
  if (latestCalls(input) !== "bad")
    return cannotSee("the watchdog cannot reach the sidecar, and the node's calls do not fail");
  const process = sidecar.state === "up" ? "; its metrics page responds" : "";
  return active(`${prices.failure.text}, and the node's calls fail${process}`);
}

/** One node's vote is enough, so one whose latest calls succeed ends the failures. */
function isAnyNodeWell({ observation: { nodes, atMs }, history }: ConditionInput): boolean {
  return nodes.some(
    (node) => latestCalls({ node, history: history.nodes.get(node.name) ?? UNSEEN, atMs }) === "good",
  );
}

interface CallLimits {
  /** The last minutes still show the failures, but nobody can do anything any more. */
  readonly haveEnded: boolean;
  readonly minFailed: number;
  readonly minBlocks: number;
}

function evaluateCalls(
  { good, bad }: BlockCounts,
  { haveEnded, minFailed, minBlocks }: CallLimits,
): ConditionResult {
  const total = Number(good + bad);
  if (total < minBlocks) return cannotSee(`only ${total} blocks in the last 5 minutes`);
  const percent = (Number(bad) * 100) / total;
  const reason = `${bad} of ${total} calls failed in the last 5 minutes`;
  if (percent < minFailed) return clear(reason);
  return haveEnded ? clear(`${reason}, but the latest calls succeed`) : active(reason, percent);
}

function evaluateDuration(
  { node: { prices }, history, atMs }: NodeInput,
  slowAfterMs: number,
): ConditionResult {
  // Prices that were derived from metrics took the time of a query, not of the sidecar.
  if (prices.state !== "up" || prices.value.isDerived)
    return evaluateLatency(history.latency, atMs, slowAfterMs);
  const reason = `the price response took ${Math.round(prices.durationMs)} ms`;
  return prices.durationMs > slowAfterMs ? active(reason, prices.durationMs) : clear(reason);
}

/** Age up to which the node's calls show how the sidecar responds. */
const RECENT_MS = 30_000;

/**
 * Evaluates the node's own times of its calls: active when at least half of the latest ones took longer than `slowAfterMs`. A
 * histogram counts calls up to its bounds, so the least bound that is not shorter decides.
 */
function evaluateLatency(
  history: LatencyHistory | undefined,
  atMs: number,
  slowAfterMs: number,
): ConditionResult {
  const recent = history?.recent;
  if (recent === undefined || atMs - recent.atMs > RECENT_MS)
    return cannotSee("the sidecar's prices cannot be read, and the node has no recent call times");
  const bounds = [...recent.within.keys()].filter((bound) => bound >= slowAfterMs);
  if (bounds.length === 0)
    return cannotSee("the sidecar's prices cannot be read, and the node's histogram has no bound this long");
  const bound = Math.min(...bounds);
  const slow = recent.calls - (recent.within.get(bound) ?? 0n);
  const reason = `${slow} of ${recent.calls} recent calls of the node took longer than ${bound} ms`;
  return 2n * slow >= recent.calls ? active(reason) : clear(reason);
}

/** Time without a message after which a provider fails. */
const SILENT_MS = 60_000;

function evaluateWebSockets(
  { node: { sidecar, prices }, history, atMs }: NodeInput,
  { recent }: ConditionInput,
  maxRate: number,
): ConditionResult {
  if (sidecar.state !== "up") return cannotSee("the sidecar's metrics cannot be read");
  const providers = [...history.webSockets];
  if (providers.length === 0) return cannotSee("the sidecar has no WebSocket provider");
  const isWorking = ({ lastReadMs }: WebSocketHistory): boolean =>
    lastReadMs !== undefined && atMs - lastReadMs <= SILENT_MS;
  const working = providers.filter(([, one]) => isWorking(one));
  const state = `${providers.length - working.length} of ${providers.length} WebSocket providers fail`;
  if (working.length > 0) return clear(state);
  // A provider that was seen for a short time only may be about to send.
  if (providers.some(([, { sinceMs }]) => atMs - sinceMs <= SILENT_MS))
    return cannotSee("no message has been seen yet");
  const { good, bad } = recent["30m"];
  const total = Number(good + bad);
  const percent = total === 0 ? 100 : (Number(good) * 100) / total;
  const hasPrices = prices.state !== "up" || prices.value.pairs.length > 0;
  const rate = `${percent.toFixed(2)} % of calls succeeded in the last 30 minutes`;
  // Without any price the node counts successes, but the chain counts missed votes.
  if (!hasPrices) return active(`${state}, and no pair has a price`);
  return percent < maxRate ? active(`${state}, and ${rate}`) : clear(`${state}, but ${rate}`);
}
