import type { BlockCounts } from "../ledger/block-counts.ts";
import { active, cannotSee, clear, type Condition, condition, type Verdict } from "./condition.ts";
import type { ConditionInput } from "./condition-input.ts";
import { judgeNodes, latestCalls, type NodeInput } from "./judge.ts";
import type { LatencyTrail } from "./latency-trail.ts";
import { UNSEEN, type WebSocketTrail } from "./trail.ts";

/** What the node loses when its calls fail. */
const FAILING_CALLS_IMPACT =
  "Every failed call is a missed oracle vote: one block each. Failed calls also slow the chain down, since the node waits for its timeout.";

const SIDECAR_NOT_KEPT = { notKept: "readings of the sidecar" };

/** Conditions of the sidecar and of the node's calls to it. */
export const SIDECAR_CONDITIONS: readonly Condition[] = [
  condition({
    name: "sidecar-down",
    severity: "critical",
    title: "Sidecar down",
    when: "the sidecar's prices cannot be read, and the node's calls fail too",
    description:
      "Neither the watchdog nor the node reaches the price sidecar. A planned restart is shorter than this alert's time.",
    impact: FAILING_CALLS_IMPACT,
    action:
      "Start the sidecar's service and read its journal. After it answers, the node reconnects within seconds, and after a long outage within two minutes.",
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
      "full-reward-fast-burn",
      "full-reward-slow-burn",
      "any-reward-fast-burn",
      "any-reward-slow-burn",
    ],
    past: SIDECAR_NOT_KEPT,
    judge: (input) => judgeNodes(input, judgeSidecarDown),
  }),
  condition({
    name: "oracle-calls-failing",
    severity: "critical",
    title: "Oracle calls fail",
    when: "at least `min_failed` of the node's calls of the last 5 minutes failed, of at least `min_blocks` blocks, and the latest ones did not all succeed",
    description: "The node calls its sidecar for every vote, and these calls fail.",
    impact: FAILING_CALLS_IMPACT,
    action:
      "After a long outage of the sidecar the node needs up to two minutes to reconnect. Otherwise check oracle_address in the node's app.toml, and time the sidecar's price response on the node's machine.",
    for: "0s",
    // As long as that of sidecar-down, which mutes it: the end of an outage must not notify as a second one.
    resolveFor: "30s",
    thresholds: {
      min_failed: { unit: "percent", initial: 90, description: "share of failed calls" },
      min_blocks: { unit: "number", initial: 30, description: "fewer blocks than this prove nothing" },
    },
    inhibits: [
      "full-reward-fast-burn",
      "full-reward-slow-burn",
      "any-reward-fast-burn",
      "any-reward-slow-burn",
    ],
    past: "counts",
    judge: (input, limit) =>
      judgeCalls(input.recent["5m"], {
        haveEnded: isAnyNodeWell(input),
        minFailed: limit("min_failed"),
        minBlocks: limit("min_blocks"),
      }),
  }),
  condition({
    name: "sidecar-slow",
    severity: "warning",
    title: "Sidecar responds slowly",
    when: "the sidecar needs longer than `slow_after` for its prices, or, while the watchdog cannot time that, for at least half of the node's calls",
    description:
      "The node waits a limited time for prices: client_timeout in its app.toml, 2 s by default. neutrond 9 ends the call after 1 s whatever the setting is.",
    impact: "A response after the node's limit is a failed call: one block each.",
    action:
      "Run the sidecar on the node's machine, with enough CPU. client_timeout may be raised from 2s to 5s, which needs a restart of the node; neutrond 9 ignores what exceeds 1 s, and while the sidecar is down a longer timeout slows every block.",
    for: "5m",
    resolveFor: "5m",
    thresholds: {
      slow_after: { unit: "duration", initial: 500, description: "duration of one price response" },
    },
    inhibits: [],
    past: SIDECAR_NOT_KEPT,
    judge: (input, limit) => judgeNodes(input, (node) => judgeDuration(node, limit("slow_after"))),
  }),
  condition({
    name: "websocket-providers-failing",
    severity: "critical",
    title: "All WebSocket providers fail",
    when: "no WebSocket provider has sent a message for a minute, and the success rate of the last 30 minutes is below `max_rate`, or there is no price",
    description:
      "All WebSocket price providers fail together, and votes are lost: the node's calls fail, or there is no price, which the node counts as success and the chain as a missed vote. Single disconnections are normal: providers reconnect within ten seconds.",
    impact: "Without WebSocket providers nearly all prices go within two minutes, and every vote is missed.",
    action: "Check the network: DNS, firewall, outbound ports 443 and 8443. Then restart the sidecar.",
    for: "30m",
    resolveFor: "2m",
    thresholds: {
      max_rate: { unit: "percent", initial: 95, description: "a success rate below it is low" },
    },
    inhibits: ["all-prices-missing", "major-pairs-missing", "empty-prices-counted"],
    past: SIDECAR_NOT_KEPT,
    judge: (input, limit) => judgeNodes(input, (node) => judgeWebSockets(node, input, limit("max_rate"))),
  }),
];

function judgeSidecarDown(input: NodeInput): Verdict {
  const { prices, sidecar } = input.node;
  if (prices.state === "not-configured") return cannotSee("sources.prices is not configured");
  if (prices.state === "up") return clear("the sidecar answers");
  // A source that cannot be read says nothing by itself. The node's own calls show that the sidecar is down.
  if (latestCalls(input) !== "bad")
    return cannotSee("the watchdog cannot reach the sidecar, and no call of the node fails");
  const process = sidecar.state === "up" ? "; its metrics page answers" : "";
  return active(`${prices.failure.text}, and the node's calls fail${process}`);
}

/** One node's vote is enough, so one whose latest calls succeed ends the failures. */
function isAnyNodeWell({ observation: { nodes, atMs }, trail }: ConditionInput): boolean {
  return nodes.some(
    (node) => latestCalls({ node, trail: trail.nodes.get(node.name) ?? UNSEEN, atMs }) === "good",
  );
}

interface CallLimits {
  /** The last minutes still show the failures, but nobody can do anything any more. */
  readonly haveEnded: boolean;
  readonly minFailed: number;
  readonly minBlocks: number;
}

function judgeCalls({ good, bad }: BlockCounts, { haveEnded, minFailed, minBlocks }: CallLimits): Verdict {
  const total = Number(good + bad);
  if (total < minBlocks) return cannotSee(`only ${total} blocks in the last 5 minutes`);
  const percent = (Number(bad) * 100) / total;
  const reason = `${bad} of ${total} calls failed in the last 5 minutes`;
  if (percent < minFailed) return clear(reason);
  return haveEnded ? clear(`${reason}, but the latest calls succeed`) : active(reason, percent);
}

function judgeDuration({ node: { prices }, trail, atMs }: NodeInput, slowAfterMs: number): Verdict {
  // Prices that were derived from metrics took the time of a query, not of the sidecar.
  if (prices.state !== "up" || prices.value.isDerived) return judgeLatency(trail.latency, atMs, slowAfterMs);
  const reason = `the price response took ${Math.round(prices.durationMs)} ms`;
  return prices.durationMs > slowAfterMs ? active(reason, prices.durationMs) : clear(reason);
}

/** Age up to which the node's calls show how the sidecar responds. */
const RECENT_MS = 30_000;

/**
 * Judges the node's own times of its calls: active when at least half of the latest ones took longer than `slowAfterMs`. A
 * histogram counts calls up to its bounds, so the least bound that is not shorter decides.
 */
function judgeLatency(trail: LatencyTrail | undefined, atMs: number, slowAfterMs: number): Verdict {
  const recent = trail?.recent;
  if (recent === undefined || atMs - recent.atMs > RECENT_MS)
    return cannotSee("the sidecar's prices cannot be read, and the node times no call");
  const bounds = [...recent.within.keys()].filter((bound) => bound >= slowAfterMs);
  if (bounds.length === 0)
    return cannotSee("the sidecar's prices cannot be read, and the node does not tell such long calls apart");
  const bound = Math.min(...bounds);
  const slow = recent.calls - (recent.within.get(bound) ?? 0n);
  const reason = `${slow} of ${recent.calls} recent calls of the node took longer than ${bound} ms`;
  return 2n * slow >= recent.calls ? active(reason) : clear(reason);
}

/** Time without a message after which a provider fails. */
const SILENT_MS = 60_000;

function judgeWebSockets(
  { node: { sidecar, prices }, trail, atMs }: NodeInput,
  { recent }: ConditionInput,
  maxRate: number,
): Verdict {
  if (sidecar.state !== "up") return cannotSee("the sidecar's metrics cannot be read");
  const providers = [...trail.webSockets];
  if (providers.length === 0) return cannotSee("the sidecar has no WebSocket provider");
  const isWorking = ({ lastReadMs }: WebSocketTrail): boolean =>
    lastReadMs !== undefined && atMs - lastReadMs <= SILENT_MS;
  const working = providers.filter(([, one]) => isWorking(one));
  const state = `${providers.length - working.length} of ${providers.length} WebSocket providers fail`;
  if (working.length > 0) return clear(state);
  // A provider that was seen for a short time only may be about to send.
  if (providers.some(([, { sinceMs }]) => atMs - sinceMs <= SILENT_MS))
    return cannotSee("no message was seen yet");
  const { good, bad } = recent["30m"];
  const total = Number(good + bad);
  const percent = total === 0 ? 100 : (Number(good) * 100) / total;
  const hasPrices = prices.state !== "up" || prices.value.pairs.length > 0;
  const rate = `${percent.toFixed(2)} % of calls succeeded in the last 30 minutes`;
  // Without any price the node counts successes, but the chain counts missed votes.
  if (!hasPrices) return active(`${state}, and no pair has a price`);
  return percent < maxRate ? active(`${state}, and ${rate}`) : clear(`${state}, but ${rate}`);
}
