import type { ChainObservation, NodeObservation, Observation, Seen } from "../sources/observation.ts";
import { check, type RunbookBody, see } from "../../platform/monitoring/alerts/runbook-spec.ts";
import { active, cannotSee, clear, type Condition, condition, type ConditionResult } from "./condition.ts";
import { evaluateNodes, secondsText, resultOf } from "./evaluate-nodes.ts";
import type { PollHistory } from "./poll-history.ts";
import { withUpgrade } from "./upgrade-conditions.ts";
import { NOT_CONFIGURED } from "../sources/page-reader.ts";

const CANNOT_SEE =
  "The watchdog cannot read this source, and does not know what it would show. It counts the blocks of this time when the source is back.";

const PROBES_NOT_STORED = { notStored: "results of probes" };

const SOURCES =
  'oracle_watchdog_source_up{validator="default",node="node",source="node"} 1\noracle_watchdog_source_up{validator="default",node="node",source="prices"} 0';

/** Conditions of connections, clocks and the watchdog's own view. */
export const NETWORK_CONDITIONS: readonly Condition[] = [
  condition({
    name: "grpc-closed",
    severity: "warning",
    title: "Node's gRPC port closed",
    when: "the node responds, but its gRPC port accepts no connection",
    description: "The node's gRPC port accepts no connection, so the sidecar cannot refresh its market map.",
    impact:
      "None until the sidecar restarts. After that it has no market and no price, and the validator misses every vote.",
    action:
      "Set [grpc] enable = true in the node's app.toml, check the address and the firewall, and restart the node.",
    for: "2m",
    resolveFor: "30s",
    thresholds: {},
    inhibits: [],
    past: PROBES_NOT_STORED,
    runbook: {
      reason: "connection refused (connect ECONNREFUSED 127.0.0.1:9090)",
      checks: [
        check(
          "On the node's machine, run `ss -ltn | grep 9090`. If nothing listens, gRPC is off. If it listens on another address, compare it with `sources.grpc`.",
        ),
        check(
          "Search the sidecar's log for `failed to query market map module on node`: it repeats every ten seconds.",
        ),
      ],
      fix: [
        'Set `[grpc] enable = true` and `address = "0.0.0.0:9090"` in app.toml, and restart the node when a few missed blocks cost least: nothing is lost until the sidecar restarts.',
        "Do not restart the sidecar before that: it would start without a market map and miss every vote.",
      ],
      after: ["Restart the sidecar at the next maintenance to load the current market map."],
    },
    evaluate: (input) => evaluateNodes(input, ({ node }) => evaluateGrpc(node)),
  }),
  condition({
    name: "egress-closed",
    severity: "warning",
    title: "Outbound HTTPS closed",
    when: "no configured target accepts a connection",
    description:
      "The watchdog cannot connect from its machine to any configured target. The sidecar needs outbound connections to its price providers.",
    impact:
      "If the sidecar's machine has the same problem, all prices disappear within two minutes, and the validator misses every vote.",
    action: "Check DNS, firewall and routing for outbound ports 443 and 8443.",
    for: "2m",
    resolveFor: "1m",
    thresholds: {},
    // Not the graver alerts about prices: a ticket must not keep a page from going out.
    inhibits: ["empty-prices-counted"],
    past: PROBES_NOT_STORED,
    runbook: {
      reason: "no connection to api.binance.com:443, ws.okx.com:8443",
      checks: [
        check(
          "From the watchdog's machine: `curl -sI https://api.binance.com`. Then run it on the sidecar's machine: does it fail there too?",
        ),
        see(
          "Read the headroom that an outage of the sidecar would use:",
          "status",
          "Oracle status, 2026-11\n======================\n\nLast poll: 2026-11-22 05:53:38 UTC.\n\nValidator      Month  Tier   Pay  Full pay is lost after an outage of  All pay is lost after an outage of",
        ),
      ],
      fix: [
        "If only the watchdog's machine fails, correct its firewall. The votes are safe.",
        "If the sidecar's machine fails too, check DNS first, then the firewall for outbound ports 443 and 8443. Then call the network provider.",
      ],
      after: ["Configure only targets that the sidecar needs, so that no other host pages you."],
    },
    evaluate: (input) => evaluateNodes(input, ({ node }) => evaluateEgress(node)),
  }),
  condition({
    name: "clock-skew",
    severity: "warning",
    title: "Clocks differ",
    when: "the clocks of the node's and the watchdog's machines differ by more than `max_skew`",
    description:
      "The clocks of the node's and the watchdog's machines differ. The watchdog assigns blocks to months by time, and the sidecar drops old prices. Both need correct clocks.",
    impact:
      "The watchdog can count blocks near a month's end in the wrong month. With a large difference the sidecar drops current prices.",
    action: "Check the time service of both machines.",
    for: "2m",
    resolveFor: "2m",
    thresholds: {
      max_skew: { unit: "duration", initial: 2000, description: "difference of the clocks" },
    },
    inhibits: [],
    past: { notStored: "clocks" },
    runbook: {
      reason: "the node's clock is 7 s behind",
      checks: [
        check(
          "On both machines, run `timedatectl` and `chronyc tracking`. The clock that is not synchronised is wrong, even if the alert names the other machine.",
        ),
      ],
      fix: [
        "Start the time service (`systemctl enable --now chrony`), and let it step the clock: `chronyc makestep`.",
        "If the virtual machine was suspended, step its clock once by hand.",
      ],
      after: [
        "If the month ended during the skew, check its last hour and the first hour of the next month: the watchdog may have counted these blocks in the wrong month.",
      ],
    },
    evaluate: (input, limit) =>
      evaluateNodes(input, ({ node }) => evaluateClock(node.metrics, limit("max_skew"))),
  }),
  condition({
    name: "cannot-see-votes",
    severity: "critical",
    title: "Cannot see whether the validator votes",
    when: "neither the page of any node nor the validator's place on the chain can be read",
    description: `The watchdog cannot read any source that shows votes, and does not know whether the validator votes. It counts the blocks of this time when a node's page is back.`,
    impact: "Unknown: none, or every block if the node's machine is down.",
    action: "Log in to the node's machine. If the node runs, check the network between it and the watchdog.",
    for: "5m",
    resolveFor: "1m",
    thresholds: {},
    inhibits: [
      "cannot-see-node",
      "cannot-see-prices",
      "cannot-see-sidecar-metrics",
      "cannot-see-chain",
      "grpc-closed",
    ],
    past: { notStored: "state of the chain queries" },
    runbook: {
      reason: "neither a node nor the chain can be read",
      checks: [
        see("Which sources are down?", "watchdogMetrics", SOURCES.replaceAll("} 1", "} 0")),
        check(
          "Log in to the node's machine. If the node runs, check the network between it and the watchdog. If you cannot log in, assume that the machine is down and that every block is missed.",
        ),
      ],
      fix: [
        "If the machine is down, start it from its provider's console. Check its disk before you start the node.",
        "If the network is down, restore the path to the node's metrics port 26660: check firewall rules and the VPN.",
        "Give the watchdog a second source of votes: `chain.rest` of another node, and `consensus_address`.",
      ],
      after: [
        "When the node's page is back, the watchdog counts the blocks of this time. If the node restarted, some of them stay unknown.",
      ],
    },
    evaluate: ({ observation }) => evaluateBlind(observation),
  }),
  cannotSeeSource({
    source: "node",
    page: "node metrics",
    action: "Check sources.node, the node's [instrumentation] prometheus setting, and the network.",
    runbook: {
      reason: "connection refused (connect ECONNREFUSED 127.0.0.1:26660)",
      checks: [
        see(
          "The source `node` is 0 and the others are 1:",
          "watchdogMetrics",
          SOURCES.replace('source="node"} 1', 'source="node"} 0'),
        ),
        see(
          "Read the page yourself, on the node's machine and, with the node's address, on the watchdog's:",
          "calls",
          'app_oracle_responses{chain_id="neutron-1",status="Success"} 1.841042e+06',
        ),
      ],
      fix: [
        "If the node is down, start it.",
        "If it runs without metrics, set `[instrumentation] prometheus = true` in config.toml, and restart it.",
        "If the error is `Limit of concurrent requests reached (3)`, there are too many scrapers. Raise `max_open_connections`.",
        "If the page belongs to another chain, correct `sources.node`: it names the wrong machine.",
      ],
      after: [
        "The watchdog counts the blocks since the last poll from the node's counters, unless the node has restarted since then.",
      ],
    },
    evaluate: ({ nodes }, history) =>
      withUpgrade(
        evaluateSources(nodes, ({ metrics }) => metrics),
        nodes,
        history,
      ),
  }),
  cannotSeeSource({
    source: "prices",
    page: "sidecar prices",
    action: "Check sources.prices and the network between the watchdog and the sidecar.",
    runbook: {
      reason: "connection refused (connect ECONNREFUSED 127.0.0.1:8080)",
      checks: [
        see(
          "Run this twice. If Success grows, the sidecar is up, and only the watchdog cannot reach it:",
          "calls",
          'app_oracle_responses{chain_id="neutron-1",status="Success"} 1.841042e+06',
        ),
        see(
          "On the sidecar's machine:",
          "prices",
          '{"prices":{"BTC/USD":"9345012345"},"timestamp":"2026-11-22T05:53:59.751Z","version":"v1.2.2"}',
        ),
      ],
      fix: [
        "If the node's calls fail too, follow [sidecar-down](sidecar-down.md).",
        "If only the watchdog fails, the sidecar listens on loopback, or a firewall blocks port 8080. Run the watchdog on the same machine, or open the port for it.",
        "On HTTP 404, `sources.prices` has the path of another version. Remove the path: the watchdog then tries both.",
      ],
      after: [
        "The watchdog could not see missing prices during this time. Check the chain's own count of these hours.",
      ],
    },
    evaluate: ({ nodes }) => evaluateSources(nodes, ({ prices }) => prices),
  }),
  cannotSeeSource({
    source: "sidecar-metrics",
    page: "sidecar metrics",
    action: "Check sources.sidecar_metrics and the sidecar's metrics address, or set the source to null.",
    runbook: {
      reason: "connection refused (connect ECONNREFUSED 127.0.0.1:8002)",
      checks: [
        see("On the sidecar's machine:", "sidecar", "side_car_health_check_system_updates_total 1.2e+06"),
        check(
          "Check the sidecar's configuration: `metrics.enabled` must be true, and `metrics.prometheusServerAddress` needs a host. The sidecar refuses `:8002` alone.",
        ),
      ],
      fix: [
        "Set the address to `0.0.0.0:8002` or the loopback address, and restart the sidecar at the next maintenance.",
        "If you do not serve these metrics, set `sources.sidecar_metrics: null`. The watchdog then cannot see failing providers.",
      ],
      after: ["No loss: votes do not depend on this page."],
    },
    evaluate: ({ nodes }) => evaluateSources(nodes, ({ sidecar }) => sidecar),
  }),
  cannotSeeSource({
    source: "oracle-metrics",
    page: "oracle metrics",
    action: "Check sources.oracle_metrics, or set it to null: current programs serve no such page.",
    runbook: {
      reason: "HTTP 404",
      checks: [
        check(
          "Find the process that listens on port 8001: `ss -ltnp | grep 8001` on that machine. Current programs serve no such page: a refused connection is normal and does not raise this alert.",
        ),
      ],
      fix: [
        "Set `sources.oracle_metrics: null`, unless you run a version that serves it.",
        "If the sidecar's own metrics were moved to this port, set `sources.sidecar_metrics` to it.",
      ],
      after: ["No loss: the node's page has the same counters."],
    },
    evaluate: ({ nodes }) =>
      evaluateSources(nodes, ({ oracleMetrics: seen }) =>
        // Refused is normal: nothing listens there on most machines.
        seen.state === "error" && seen.failure.code === "refused"
          ? { state: "up", value: undefined, durationMs: seen.durationMs }
          : seen,
      ),
  }),
  cannotSeeSource({
    source: "chain",
    page: "chain queries",
    action: "Check the chain's REST address, and that the API server of that node is on.",
    runbook: {
      reason: "latest block: HTTP 503",
      checks: [
        check(
          "`curl -s URL/cosmos/base/tendermint/v1beta1/blocks/latest` with the URL of `chain.rest`. Connection refused: the API server is off. HTTP 501: the chain does not have this module.",
        ),
        see(
          "Check that the node itself is healthy:",
          "nodeStatus",
          '      "latest_block_height": "35120881",\n      "catching_up": false',
        ),
      ],
      fix: [
        "Set `[api] enable = true` in that node's app.toml, and restart it.",
        "If a public endpoint limits your requests, use your own node.",
        "If a chain upgrade removed the revenue module, do nothing: the watchdog reports it once, and then uses the configured policy.",
      ],
      after: ["Check that `relaywatch status` shows the chain's data again."],
    },
    evaluate: ({ chain }) => evaluateChainSources(chain),
  }),
];

/** The part of a "cannot see" condition that differs by source. */
interface SourceTexts {
  readonly source: string;
  readonly page: string;
  readonly action: string;
  readonly runbook: RunbookBody;
  readonly evaluate: (observation: Observation, history: PollHistory) => ConditionResult;
}

function cannotSeeSource({ source, page, action, runbook, evaluate }: SourceTexts): Condition {
  return condition({
    name: `cannot-see-${source}`,
    severity: source === "oracle-metrics" ? "info" : "warning",
    title: `Cannot see: ${page}`,
    when: `the ${page} cannot be read`,
    description: CANNOT_SEE,
    impact: "Not known from this source: the other conditions and the count show whether blocks are lost.",
    action,
    for: "5m",
    resolveFor: "1m",
    thresholds: {},
    inhibits: [],
    past: source === "node" ? "gaps" : { notStored: "failures of single sources" },
    runbook,
    evaluate: ({ observation, history }) => evaluate(observation, history),
  });
}

function evaluateGrpc({ metrics, grpc }: NodeObservation): ConditionResult {
  if (grpc.state === "not-configured") return cannotSee("no gRPC address is configured");
  if (grpc.state === "up") return clear("the gRPC port accepts connections");
  // When the node's page cannot be read either, its machine or the network may be down.
  if (metrics.state !== "up") return cannotSee(`${grpc.failure.text}; the node's page cannot be read either`);
  return active(grpc.failure.text);
}

function evaluateEgress({ egress }: NodeObservation): ConditionResult {
  const probes = [...egress].filter(([, { state }]) => state !== "not-configured");
  if (probes.length === 0) return cannotSee("no target is configured");
  const closed = probes.filter(([, { state }]) => state === "error").map(([target]) => target);
  return resultOf(
    closed.length === probes.length,
    closed.length === probes.length ? `no connection to ${closed.join(", ")}` : "outbound connections work",
  );
}

/** The header has whole seconds, rounded down, and the response took time. */
function evaluateClock(metrics: NodeObservation["metrics"], maxSkewMs: number): ConditionResult {
  const { clockMs, clockReadAtMs: atMs } = metrics.state === "up" ? metrics.value : {};
  if (metrics.state !== "up" || clockMs === undefined || atMs === undefined)
    return cannotSee("the node's clock cannot be read");
  const aheadMs = Math.max(0, clockMs - atMs);
  const behindMs = Math.max(0, atMs - clockMs - 1000 - metrics.durationMs);
  if (aheadMs > maxSkewMs) return active(`the node's clock is ${secondsText(aheadMs)} ahead`, aheadMs);
  if (behindMs > maxSkewMs) return active(`the node's clock is ${secondsText(behindMs)} behind`, behindMs);
  return clear("the clocks agree");
}

function evaluateBlind({ nodes, chain }: Observation): ConditionResult {
  if (nodes.some(({ metrics }) => metrics.state === "up")) return clear("a node's page can be read");
  if (chain.validator.state === "up") return clear("the validator's place on the chain can be read");
  return active("neither a node nor the chain can be read");
}

/** Evaluates one source of all nodes: active when it fails at any node, since the node's votes depend on its own sidecar. */
function evaluateSources(
  nodes: readonly NodeObservation[],
  sourceOf: (node: NodeObservation) => Seen<unknown>,
): ConditionResult {
  return evaluateSeen(nodes.map((node) => [nodes.length === 1 ? "" : `${node.name}: `, sourceOf(node)]));
}

function evaluateChainSources(chain: ChainObservation): ConditionResult {
  const { head, validator, prices, revenue, upgrade, slashing, peers } = chain;
  return evaluateSeen([
    ["latest block: ", head],
    ["validator set: ", validator],
    ["prices: ", prices],
    ["revenue: ", revenue],
    ["upgrade plan: ", upgrade ?? NOT_CONFIGURED],
    ["slashing: ", slashing ?? NOT_CONFIGURED],
    ["other validators: ", peers ?? NOT_CONFIGURED],
  ]);
}

function evaluateSeen(sources: readonly (readonly [string, Seen<unknown>])[]): ConditionResult {
  if (sources.every(([, { state }]) => state === "not-configured")) return cannotSee("not configured");
  const failures = sources.flatMap(([name, seen]) =>
    seen.state === "error" ? [`${name}${seen.failure.text}`] : [],
  );
  return failures.length === 0 ? clear("it can be read") : active(failures.join("; "));
}
