import type { ChainObservation, NodeObservation, Observation, Seen } from "../sources/observation.ts";
import { check, type RunbookBody, see } from "../../platform/monitoring/alerts/runbook-spec.ts";
import { active, cannotSee, clear, type Condition, condition, type ConditionResult } from "./condition.ts";
import { evaluateNodes, secondsText, resultOf } from "./evaluate-nodes.ts";

const CANNOT_SEE =
  "This says nothing about the validator: the watchdog cannot see it. Blocks are counted when the source is back.";

const PROBES_NOT_STORED = { notStored: "results of probes" };

const SOURCES =
  'oracle_watchdog_source_up{validator="default",node="node",source="node"} 1\noracle_watchdog_source_up{validator="default",node="node",source="prices"} 0';

/** Conditions of connections, clocks and the watchdog's own view. */
export const NETWORK_CONDITIONS: readonly Condition[] = [
  condition({
    name: "grpc-closed",
    severity: "warning",
    title: "Node's gRPC port closed",
    when: "the node answers, and its gRPC port accepts no connection",
    description: "The sidecar reads its market map from the node's gRPC server, every ten seconds.",
    impact:
      "Nothing is lost at once. After its next restart the sidecar has no market and no price: every vote is missed.",
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
          "On the node's machine: `ss -ltn | grep 9090`. Nothing listens: gRPC is off. It listens on another address: compare with `sources.grpc`.",
        ),
        check("The sidecar's log has `failed to query market map module on node` every ten seconds."),
      ],
      fix: [
        'Set `[grpc] enable = true` and `address = "0.0.0.0:9090"` in app.toml, and restart the node at a quiet time: nothing is lost until the sidecar restarts.',
        "Do not restart the sidecar before that: it would start without a market map and miss every vote.",
      ],
      after: ["Restart the sidecar in the next maintenance, so that its market map is current."],
    },
    evaluate: (input) => evaluateNodes(input, ({ node }) => evaluateGrpc(node)),
  }),
  condition({
    name: "egress-closed",
    severity: "warning",
    title: "Outbound HTTPS closed",
    when: "no configured target accepts a connection",
    description:
      "The sidecar needs outbound connections to its price providers. The watchdog tries them from its own machine.",
    impact:
      "Prices go within two minutes when the sidecar's machine has the same problem: every vote is missed.",
    action: "Check DNS, firewall and routing for outbound ports 443 and 8443.",
    for: "2m",
    resolveFor: "1m",
    thresholds: {},
    inhibits: [
      "websocket-providers-failing",
      "all-prices-missing",
      "major-pairs-missing",
      "empty-prices-counted",
    ],
    past: PROBES_NOT_STORED,
    runbook: {
      reason: "no connection to api.binance.com:443, ws.okx.com:8443",
      checks: [
        check(
          "From the watchdog's machine: `curl -sI https://api.binance.com`. Does it fail there only, or on the sidecar's machine too?",
        ),
        see(
          "Prices go within two minutes when the sidecar's machine has the same problem:",
          "status",
          "Oracle status, 2026-11\n======================\n\nLast poll: 2026-11-22 05:53:38 UTC.\n\nValidator      Month  Tier   Pay  Full pay is lost after an outage of  All pay is lost after an outage of",
        ),
      ],
      fix: [
        "Only the watchdog's machine: its firewall. The votes are safe.",
        "The sidecar's machine too: DNS first, then the firewall for outbound 443 and 8443, then the provider of the network.",
      ],
      after: ["Use targets that the sidecar really needs: an alarm about another host costs sleep."],
    },
    evaluate: (input) => evaluateNodes(input, ({ node }) => evaluateEgress(node)),
  }),
  condition({
    name: "clock-skew",
    severity: "warning",
    title: "Clocks differ",
    when: "the clocks of the node's and the watchdog's machines differ by more than `max_skew`",
    description: "Months are counted by time, and the sidecar drops prices by age. Both need correct clocks.",
    impact:
      "Blocks near the end of a month can be counted in the wrong one. A large difference makes prices stale.",
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
          "On both machines: `timedatectl` and `chronyc tracking`. The one that is not synchronised is wrong, whichever the alert names.",
        ),
      ],
      fix: [
        "Start the time service (`systemctl enable --now chrony`), and let it step the clock: `chronyc makestep`.",
        "In a virtual machine that was suspended, step the clock once by hand.",
      ],
      after: [
        "Check the first and last hour of the month when the skew lasted over its end: blocks there may be in the wrong month.",
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
    description: `Nothing shows whether the validator takes part. ${CANNOT_SEE}`,
    impact: "Perhaps none, perhaps every block: the machine of the node may be down.",
    action: "Log in to the node's machine. When it is up, check the network between it and the watchdog.",
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
          "Log in to the node's machine. You get in and the node runs: the network between it and the watchdog. You do not: the machine is down, and every block is missed.",
        ),
      ],
      fix: [
        "Machine down: start it at its provider's console, and check the disk before the node.",
        "Network: the node's metrics listen on 26660; a firewall rule or a VPN that ended closes it.",
        "Give the watchdog a second way to see votes: `chain.rest` of another node, and `consensus_address`.",
      ],
      after: ["Blocks of this time are counted when the node's page is back. Unknown ones stay unknown."],
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
          "The node's source is 0 and others are 1:",
          "watchdogMetrics",
          SOURCES.replace('source="node"} 1', 'source="node"} 0'),
        ),
        see(
          "Read it by hand, on its machine and on the watchdog's:",
          "calls",
          'app_oracle_responses{chain_id="neutron-1",status="Success"} 1.841042e+06',
        ),
      ],
      fix: [
        "The node is down: start it.",
        "It runs without metrics: `[instrumentation] prometheus = true` in config.toml, and restart.",
        "`Limit of concurrent requests reached (3)`: too many scrapers. Raise `max_open_connections`.",
        "The page is of another chain: `sources.node` names the wrong machine.",
      ],
      after: [
        "The blocks since the last poll are counted from the counters, unless the node restarted meanwhile.",
      ],
    },
    evaluate: ({ nodes }) => evaluateSources(nodes, ({ metrics }) => metrics),
  }),
  cannotSeeSource({
    source: "prices",
    page: "sidecar prices",
    action: "Check sources.prices and the network between the watchdog and the sidecar.",
    runbook: {
      reason: "connection refused (connect ECONNREFUSED 127.0.0.1:8080)",
      checks: [
        see(
          "The node's calls succeed: then the sidecar lives, and only the watchdog cannot reach it.",
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
        "The node's calls fail too: see [sidecar-down](sidecar-down.md).",
        "Only the watchdog: the sidecar listens on loopback, or a firewall closes 8080. Run the watchdog on the same machine, or open the port for it.",
        "404: `sources.prices` has a path of the other version. Leave the path out, and the watchdog tries both.",
      ],
      after: ["While it lasted, missing prices could not be seen. Read the chain's count of these hours."],
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
          "The sidecar's configuration: `metrics.enabled`, and `metrics.prometheusServerAddress` with a host: `:8002` alone is refused.",
        ),
      ],
      fix: [
        "Set the address to `0.0.0.0:8002` or the loopback address, and restart the sidecar at a quiet time.",
        "You do not serve them: set `sources.sidecar_metrics: null`. Failing providers are then not seen.",
      ],
      after: ["No vote depends on this page."],
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
          "Something else listens on port 8001: `ss -ltnp | grep 8001` on that machine. Current programs serve no such page, and a refused connection is normal.",
        ),
      ],
      fix: [
        "Set `sources.oracle_metrics: null`, unless you run a version that serves it.",
        "Point it to the right port when the sidecar's own metrics were moved there.",
      ],
      after: ["Nothing was lost: the node's page has the same counters."],
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
          "`curl -s URL/cosmos/base/tendermint/v1beta1/blocks/latest` with the URL of `chain.rest`: connection refused is an API server that is off, 501 a module that the chain does not have.",
        ),
        see(
          "The node itself is well:",
          "nodeStatus",
          '      "latest_block_height": "35120881",\n      "catching_up": false',
        ),
      ],
      fix: [
        "Set `[api] enable = true` in that node's app.toml, and restart it.",
        "A public endpoint limits your requests: use your own node.",
        "The revenue module is gone since a chain upgrade: the watchdog reports it once, and uses the configured policy.",
      ],
      after: ["Check that the set and the prices on the chain are seen again in the status."],
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
  readonly evaluate: (observation: Observation) => ConditionResult;
}

function cannotSeeSource({ source, page, action, runbook, evaluate }: SourceTexts): Condition {
  return condition({
    name: `cannot-see-${source}`,
    severity: source === "oracle-metrics" ? "info" : "warning",
    title: `Cannot see: ${page}`,
    when: `the ${page} cannot be read`,
    description: CANNOT_SEE,
    impact: "No loss is known.",
    action,
    for: "5m",
    resolveFor: "1m",
    thresholds: {},
    inhibits: [],
    past: source === "node" ? "gaps" : { notStored: "failures of single sources" },
    runbook,
    evaluate: ({ observation }) => evaluate(observation),
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

function evaluateChainSources({ head, validator, prices, revenue }: ChainObservation): ConditionResult {
  return evaluateSeen([
    ["latest block: ", head],
    ["validator set: ", validator],
    ["prices: ", prices],
    ["revenue: ", revenue],
  ]);
}

function evaluateSeen(sources: readonly (readonly [string, Seen<unknown>])[]): ConditionResult {
  if (sources.every(([, { state }]) => state === "not-configured")) return cannotSee("not configured");
  const failures = sources.flatMap(([name, seen]) =>
    seen.state === "error" ? [`${name}${seen.failure.text}`] : [],
  );
  return failures.length === 0 ? clear("it can be read") : active(failures.join("; "));
}
