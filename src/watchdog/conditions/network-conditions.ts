import { nodeSeen, readingOf, votesSeen } from "../sources/observation.ts";
import type { ChainObservation, NodeObservation, Observation, Seen } from "../sources/observation.ts";
import { active, cannotSee, clear, condition, resultOf, threshold } from "./condition.ts";
import type { Condition, ConditionResult } from "./condition.ts";
import { eachNode, secondsText } from "./evaluate-nodes.ts";
import type { PollHistory } from "./poll-history.ts";
import { withUpgrade } from "./chain-conditions.ts";
import { NOT_CONFIGURED } from "../sources/page-reader.ts";
import { counted } from "../../platform/base/text.ts";

const PROBES_NOT_STORED = { notStored: "probe results" };

/** Conditions about connections, clocks, and sources that the watchdog cannot read. */
export const NETWORK_CONDITIONS: readonly Condition[] = [
  condition({
    name: "grpc-closed",
    severity: "warning",
    title: "Node's gRPC port closed",
    end: "the gRPC port accepts connections",
    when: "the node responds, but its gRPC port accepts no connections",
    description: "The node's gRPC port accepts no connections, so the sidecar cannot refresh its market map.",
    impact:
      "None until the sidecar restarts. After a restart, the sidecar has no markets and no prices, and the validator misses every vote.",
    action:
      "Set [grpc] enable = true in the node's app.toml, check the address and the firewall, and restart the node.",
    for: "2m",
    past: PROBES_NOT_STORED,
    evaluate: eachNode(({ node: { grpc, metrics } }) => {
      if (grpc.state === "not-configured") return cannotSee("no gRPC address is configured");
      if (grpc.state !== "error") return clear("the gRPC port accepts connections");
      const { text } = grpc.failure;
      // If the node's page cannot be read either, the cause may be the node's machine or the network.
      return metrics.state === "up"
        ? active(`the node's gRPC port accepts no connections: ${text}`)
        : cannotSee(`${text}; the node's page cannot be read either`);
    }),
  }),
  condition({
    name: "egress-closed",
    severity: "warning",
    title: "Outbound HTTPS closed",
    end: "outbound connections work",
    when: "no host in `sources.egress` accepts a connection from the watchdog's machine",
    description:
      "The watchdog cannot connect from its machine to any configured target. The sidecar needs outbound connections to its price providers.",
    impact:
      "If the sidecar's machine has the same problem, all prices disappear within two minutes, and the validator misses every vote.",
    action: "Check DNS, firewall and routing for outbound ports 443 and 8443.",
    for: "2m",
    resolveFor: "1m",
    // Don't inhibit the more severe price alerts, because a ticket must not suppress a page.
    inhibits: ["empty-prices-counted"],
    past: PROBES_NOT_STORED,
    evaluate: eachNode(({ node: { egress } }) => {
      const probes = [...egress].filter(([, { state }]) => state !== "not-configured");
      if (probes.length === 0) return cannotSee("no target is configured");
      const closed = probes.filter(([, { state }]) => state === "error").map(([target]) => target);
      return closed.length === probes.length
        ? active(`this machine has no connection to ${closed.join(", ")}`)
        : clear("outbound connections work");
    }),
  }),
  condition({
    name: "clock-skew",
    severity: "warning",
    title: "Clocks differ",
    end: "the clocks agree",
    when: "the node's clock and the watchdog's clock differ by more than `max_skew`",
    description:
      "The node's clock and the watchdog's clock disagree. Both must be correct, because the watchdog assigns blocks to months by time, and the sidecar drops old prices.",
    impact:
      "Blocks near the end of a month can be counted in the wrong month. If the difference is large, the sidecar drops even current prices.",
    action: "Check the time service on both machines.",
    for: "2m",
    resolveFor: "2m",
    thresholds: { max_skew: threshold("duration", 2000, "clock difference") },
    past: { notStored: "clocks" },
    evaluate: eachNode(({ node }, limit) => evaluateClock(node.metrics, limit("max_skew"))),
  }),
  condition({
    name: "cannot-see-votes",
    severity: "critical",
    title: "Cannot see whether the validator votes",
    end: "a node's page can be read",
    when: "the watchdog can read neither a node's metrics page nor the validator's state on the chain, or the pages contain no oracle metrics",
    description: `The watchdog cannot read any source that shows votes, and does not know whether the validator votes. Once a node's page is back, the watchdog counts the blocks from the gap.`,
    impact: "Unknown: possibly no block is lost, or every block if the node's machine is down.",
    action:
      "Log in to the node's machine. If the node is running, check the network between it and the watchdog, or the setting that the alert names.",
    for: "90s",
    resolveFor: "1m",
    inhibits: [
      "cannot-see-node",
      "cannot-see-prices",
      "cannot-see-sidecar-metrics",
      "cannot-see-chain",
      "grpc-closed",
    ],
    past: { notStored: "state of the chain queries" },
    evaluate: ({ observation }) => evaluateBlind(observation),
  }),
  cannotSeeSource({
    source: "node",
    page: "node metrics",
    action: "Check sources.node, the node's [instrumentation] prometheus setting, and the network.",
    evaluate: ({ nodes }, history) => withUpgrade(evaluateSources(nodes, nodeSeen), nodes, history),
  }),
  cannotSeeSource({
    source: "prices",
    page: "sidecar prices",
    action: "Check sources.prices and the network between the watchdog and the sidecar.",
    evaluate: ({ nodes }) => evaluateSources(nodes, ({ prices }) => prices),
  }),
  cannotSeeSource({
    source: "sidecar-metrics",
    page: "sidecar metrics",
    action: "Check sources.sidecar_metrics and the sidecar's metrics address, or set the source to null.",
    evaluate: ({ nodes }) => evaluateSources(nodes, ({ sidecar }) => sidecar),
  }),
  cannotSeeSource({
    source: "oracle-metrics",
    page: "oracle metrics",
    action:
      "Check sources.oracle_metrics, or set the key to null, because current sidecars have no such page.",
    evaluate: ({ nodes }) =>
      evaluateSources(nodes, ({ oracleMetrics: seen }) =>
        // A refused connection is normal, because on most machines nothing listens on this port.
        seen.state === "error" && seen.failure.code === "refused"
          ? { state: "up", value: undefined, durationMs: seen.durationMs }
          : seen,
      ),
  }),
  cannotSeeSource({
    source: "chain",
    page: "chain queries",
    action: "Check the chain's REST address, and that the API server is enabled on its node.",
    evaluate: ({ chain }) => evaluateChainSources(chain),
  }),
];

/** The fields that differ between the `cannot-see-…` conditions. */
interface SourceTexts {
  readonly source: string;
  readonly page: string;
  readonly action: string;
  readonly evaluate: (observation: Observation, history: PollHistory) => ConditionResult;
}

function cannotSeeSource({ source, page, action, evaluate }: SourceTexts): Condition {
  return condition({
    name: `cannot-see-${source}`,
    severity: source === "oracle-metrics" ? "info" : "warning",
    title: `Cannot see: ${page}`,
    end: `the ${page} can be read`,
    when: `the ${page} cannot be read`,
    description:
      "The watchdog cannot read this source, so it cannot evaluate the conditions that need it. Once the source is back, the watchdog counts the blocks from the gap.",
    impact: "Unknown from this source alone: other alerts and the block counts show whether blocks are lost.",
    action,
    for: "5m",
    resolveFor: "1m",
    past: source === "node" ? "gaps" : { notStored: "failures of individual sources" },
    evaluate: ({ observation, history }) => {
      const result = evaluate(observation, history);
      if (result.kind === "unknown") return result;
      return result.kind === "clear"
        ? clear(`the ${page} can be read`)
        : { ...result, reason: `the ${page} cannot be read: ${result.reason}` };
    },
  });
}

/** Compares the node's clock with this machine's clock. Tolerates the response time and the one-second resolution of the `Date` header. */
function evaluateClock(metrics: NodeObservation["metrics"], maxSkewMs: number): ConditionResult {
  const { clockMs, clockReadAtMs: atMs } = readingOf(metrics) ?? {};
  if (metrics.state !== "up" || clockMs === undefined || atMs === undefined)
    return cannotSee("the node's clock cannot be read");
  const aheadMs = Math.max(0, clockMs - atMs);
  const behindMs = Math.max(0, atMs - clockMs - 1000 - metrics.durationMs);
  if (aheadMs > maxSkewMs) return active(`the node's clock is ${secondsText(aheadMs)} ahead`, aheadMs);
  if (behindMs > maxSkewMs) return active(`the node's clock is ${secondsText(behindMs)} behind`, behindMs);
  return clear("the clocks agree");
}

function evaluateBlind({ nodes, chain }: Observation): ConditionResult {
  if (nodes.some((node) => votesSeen(node).state === "up")) return clear("a node's page can be read");
  const [unseen] = nodes.flatMap(({ metrics }) => readingOf(metrics)?.votesUnseen ?? []);
  if (unseen !== undefined) return active(unseen);
  if (chain.validator.state === "up") return clear("the validator's standing on the chain can be read");
  const texts = nodes.map(votesSeen).flatMap((seen) => (seen.state === "error" ? [seen.failure.text] : []));
  const reason = "nothing shows whether the validator votes: the node's page cannot be read";
  return active(texts.length === 0 ? reason : `${reason}, ${texts.join("; ")}`);
}

/**
 * Evaluates one data source, such as the sidecar, for all nodes. The result is active if any node's source fails, because each
 * node's votes depend on its own sidecar.
 */
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

/** The name of the alert about lost notifications. This alert ignores undelivered notifications about itself. */
export const NOTIFICATIONS_LOST = "notifications-lost";

/**
 * Conditions about the watchdog itself, such as slow polls. The results are the same for all validators, so only the first
 * validator's alert sends notifications.
 */
export const WATCHDOG_CONDITIONS: readonly Condition[] = [
  condition({
    name: "watchdog-slow",
    severity: "critical",
    title: "This watchdog is too slow",
    end: "the last poll began 0 s late",
    when: "polls begin more than `max_late` later than planned",
    description:
      "The watchdog has more work than its processor or disk can handle: its polls begin late, and sources can seem slow or down when they are not. Its counts stay correct, because the nodes keep counting.",
    impact:
      "None for the votes themselves. Alerts for all of this watchdog's validators are as late as the polls, and conditions that the watchdog cannot evaluate are unknown.",
    action:
      "Give the machine more processor time or a faster disk, or divide the validators among several watchdogs.",
    for: "1m",
    resolveFor: "2m",
    thresholds: { max_late: threshold("duration", 2000, "maximum lateness of a poll") },
    inhibits: [
      "cannot-see-votes",
      "cannot-see-node",
      "cannot-see-prices",
      "cannot-see-sidecar-metrics",
      "cannot-see-oracle-metrics",
      "cannot-see-chain",
      "sidecar-slow",
      "clock-skew",
      "grpc-closed",
      "egress-closed",
    ],
    past: { notStored: "poll lateness" },
    evaluate: ({ lateMs }, limit) => {
      if (lateMs === undefined) return cannotSee("poll lateness was not measured");
      return resultOf(lateMs > limit("max_late"), `the last poll began ${secondsText(lateMs)} late`, lateMs);
    },
  }),
  condition({
    name: "clock-not-believed",
    severity: "warning",
    title: "This watchdog's clock is not believed",
    end: "the watchdog's clock is believed",
    when: "the clock of the watchdog's machine contradicts the chain, the sources or the last poll",
    description:
      "The clock of the watchdog's machine was changed or is wrong: the chain's newest block, the sources' clocks or the last stored poll contradict it. The watchdog continues with the time that it considers correct.",
    impact:
      "No block is lost. New events can have wrong times, and a month is closed only if the chain's time can be read.",
    action:
      "Synchronise the clock of the watchdog's machine: start its time service, and let it step the clock.",
    for: "10m",
    resolveFor: "1m",
    past: { notStored: "clock comparisons" },
    evaluate: ({ observation: { clock } }) => {
      if (clock === undefined) return cannotSee("the clock was not compared");
      return clock.problem === ""
        ? clear("the watchdog's clock is believed")
        : active(`the clock of the watchdog's machine is not believed: ${clock.problem}`);
    },
  }),
  condition({
    name: NOTIFICATIONS_LOST,
    severity: "critical",
    title: "Notifications were not delivered",
    end: "all notifications from the last day were delivered",
    when: "a channel has permanently refused a notification, or has not accepted it for a day",
    description:
      "A receiver no longer exists, refuses the watchdog's account or a message, or was down for a day. This alert is sent through the channels that still work.",
    impact: "Alerts on that channel reach nobody until its receiver accepts them.",
    action:
      "Correct the channel's settings: the receiver's reply says what is wrong. Run relaywatch alerts test, then relaywatch alerts dead-letters --resend, or --discard for notifications that are no longer needed.",
    for: "0s",
    past: { notStored: "notifications" },
    evaluate: ({ lost = [] }) => {
      if (lost.length === 0) return clear("all notifications from the last day were delivered");
      const reasons = new Map(lost.map(({ channel, reason }) => [channel, reason]));
      const text = [...reasons].map(([channel, reason]) => `${channel}: ${reason}`).join("; ");
      return active(`${counted(lost.length, "notification")} not delivered; ${text}`, lost.length);
    },
  }),
];

/** Returns true for alerts about the watchdog itself, which are the same for all validators. */
export function isAboutWatchdog(alert: string): boolean {
  return WATCHDOG_CONDITIONS.some(({ name }) => name === alert);
}
