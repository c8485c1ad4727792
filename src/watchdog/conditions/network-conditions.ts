import type { ChainObservation, NodeObservation, Observation, Seen } from "../sources/observation.ts";
import { active, cannotSee, clear, type Condition, condition, type Verdict } from "./condition.ts";
import { judgeNodes, secondsText, verdictOf } from "./judge.ts";

const CANNOT_SEE =
  "This says nothing about the validator: the watchdog cannot see it. Blocks are counted when the source is back.";

const PROBES_NOT_KEPT = { notKept: "results of probes" };

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
    past: PROBES_NOT_KEPT,
    judge: (input) => judgeNodes(input, ({ node }) => judgeGrpc(node)),
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
    past: PROBES_NOT_KEPT,
    judge: (input) => judgeNodes(input, ({ node }) => judgeEgress(node)),
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
    past: { notKept: "clocks" },
    judge: (input, limit) => judgeNodes(input, ({ node }) => judgeClock(node.metrics, limit("max_skew"))),
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
    past: { notKept: "state of the chain queries" },
    judge: ({ observation }) => judgeBlind(observation),
  }),
  cannotSeeSource({
    source: "node",
    page: "node metrics",
    action: "Check sources.node, the node's [instrumentation] prometheus setting, and the network.",
    judge: ({ nodes }) => judgeSources(nodes, ({ metrics }) => metrics),
  }),
  cannotSeeSource({
    source: "prices",
    page: "sidecar prices",
    action: "Check sources.prices and the network between the watchdog and the sidecar.",
    judge: ({ nodes }) => judgeSources(nodes, ({ prices }) => prices),
  }),
  cannotSeeSource({
    source: "sidecar-metrics",
    page: "sidecar metrics",
    action: "Check sources.sidecar_metrics and the sidecar's metrics address, or set the source to null.",
    judge: ({ nodes }) => judgeSources(nodes, ({ sidecar }) => sidecar),
  }),
  cannotSeeSource({
    source: "oracle-metrics",
    page: "oracle metrics",
    action: "Check sources.oracle_metrics, or set it to null: current programs serve no such page.",
    judge: ({ nodes }) =>
      judgeSources(nodes, ({ oracleMetrics: seen }) =>
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
    judge: ({ chain }) => judgeChainSources(chain),
  }),
];

/** The part of a "cannot see" condition that differs by source. */
interface SourceTexts {
  readonly source: string;
  readonly page: string;
  readonly action: string;
  readonly judge: (observation: Observation) => Verdict;
}

function cannotSeeSource({ source, page, action, judge }: SourceTexts): Condition {
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
    past: source === "node" ? "gaps" : { notKept: "failures of single sources" },
    judge: ({ observation }) => judge(observation),
  });
}

function judgeGrpc({ metrics, grpc }: NodeObservation): Verdict {
  if (grpc.state === "not-configured") return cannotSee("no gRPC address is configured");
  if (grpc.state === "up") return clear("the gRPC port accepts connections");
  // When the node's page cannot be read either, its machine or the network may be down.
  if (metrics.state !== "up") return cannotSee(`${grpc.failure.text}; the node's page cannot be read either`);
  return active(grpc.failure.text);
}

function judgeEgress({ egress }: NodeObservation): Verdict {
  const probes = [...egress].filter(([, { state }]) => state !== "not-configured");
  if (probes.length === 0) return cannotSee("no target is configured");
  const closed = probes.filter(([, { state }]) => state === "error").map(([target]) => target);
  return verdictOf(
    closed.length === probes.length,
    closed.length === probes.length ? `no connection to ${closed.join(", ")}` : "outbound connections work",
  );
}

/** The header has whole seconds, rounded down, and the response took time. */
function judgeClock(metrics: NodeObservation["metrics"], maxSkewMs: number): Verdict {
  const { clockMs, clockReadAtMs: atMs } = metrics.state === "up" ? metrics.value : {};
  if (metrics.state !== "up" || clockMs === undefined || atMs === undefined)
    return cannotSee("the node's clock cannot be read");
  const aheadMs = Math.max(0, clockMs - atMs);
  const behindMs = Math.max(0, atMs - clockMs - 1000 - metrics.durationMs);
  if (aheadMs > maxSkewMs) return active(`the node's clock is ${secondsText(aheadMs)} ahead`, aheadMs);
  if (behindMs > maxSkewMs) return active(`the node's clock is ${secondsText(behindMs)} behind`, behindMs);
  return clear("the clocks agree");
}

function judgeBlind({ nodes, chain }: Observation): Verdict {
  if (nodes.some(({ metrics }) => metrics.state === "up")) return clear("a node's page can be read");
  if (chain.validator.state === "up") return clear("the validator's place on the chain can be read");
  return active("neither a node nor the chain can be read");
}

/** Judges one source of all nodes: active when it fails at any node, since the node's votes depend on its own sidecar. */
function judgeSources(
  nodes: readonly NodeObservation[],
  sourceOf: (node: NodeObservation) => Seen<unknown>,
): Verdict {
  return judgeSeen(nodes.map((node) => [nodes.length === 1 ? "" : `${node.name}: `, sourceOf(node)]));
}

function judgeChainSources({ head, validator, prices, revenue }: ChainObservation): Verdict {
  return judgeSeen([
    ["latest block: ", head],
    ["validator set: ", validator],
    ["prices: ", prices],
    ["revenue: ", revenue],
  ]);
}

function judgeSeen(sources: readonly (readonly [string, Seen<unknown>])[]): Verdict {
  if (sources.every(([, { state }]) => state === "not-configured")) return cannotSee("not configured");
  const failures = sources.flatMap(([name, seen]) =>
    seen.state === "error" ? [`${name}${seen.failure.text}`] : [],
  );
  return failures.length === 0 ? clear("it can be read") : active(failures.join("; "));
}
