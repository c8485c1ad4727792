import { type Standing, standingOf, type WindowStanding } from "../policy/standing.ts";
import { allMissedText, presentText, releaseText, windowText } from "../policy/standing-texts.ts";
import { type NodeObservation, readingOf } from "../sources/observation.ts";
import {
  active,
  cannotSee,
  clear,
  condition,
  LOSS_ALERTS,
  resultOf,
  threshold,
  VOTE_ALERTS,
} from "./condition.ts";
import type { Condition, ConditionInput, ConditionResult } from "./condition.ts";
import { countdownText, haltText } from "../policy/upgrade-countdown.ts";
import type { PollHistory } from "./poll-history.ts";
import { formatRoundedDuration } from "../../platform/base/text.ts";
import { monthOf, monthsBefore, monthStartMs } from "../../platform/base/month.ts";
import { paymentText } from "../policy/payment-texts.ts";
import type { Payment } from "../sources/payment-result.ts";

const TOMBSTONED = "the chain has tombstoned the validator's key, which can never sign again";

const WINDOWS_NOT_STORED = { notStored: "signing windows" };

/** The alerts that are caused by jailing, because a jailed validator takes no part in consensus. */
const OUT_ALERTS = ["not-in-validator-set", "node-not-voting", "not-signing", ...VOTE_ALERTS] as const;

/** Minimum number of other validators for a comparison. A single validator's outage could pass for a common problem. */
const MIN_OTHERS = 2;

/** The fields that both upgrade conditions share. */
const upgradeTexts = {
  end: "no upgrade is planned",
  when: "the chain is expected to reach a planned upgrade's height in less than `lead`",
  impact:
    "None before the upgrade height. A node without the new version stops at that height and misses every later block.",
  for: "0s",
  resolveFor: "1m",
  past: { notStored: "planned upgrades" },
  evaluate: evaluatePlan,
} as const;

/** Conditions about the chain: upgrades, jail, the signing window, payments, and votes that other validators also miss. */
export const CHAIN_CONDITIONS: readonly Condition[] = [
  condition({
    ...upgradeTexts,
    name: "upgrade-planned",
    severity: "info",
    title: "Chain upgrade planned",
    description: "The chain has planned an upgrade: every node needs the new version at the upgrade height.",
    action: "Prepare the new version on every node, and plan who will be on duty when the height is reached.",
    thresholds: { lead: threshold("duration", 86_400_000, "expected time until the upgrade") },
  }),
  condition({
    ...upgradeTexts,
    name: "upgrade-imminent",
    severity: "warning",
    title: "Chain upgrade is near",
    description:
      "The height of a planned upgrade will be reached soon, and every node will then need the new version.",
    action:
      "Check that the new version is in place on every node, and stay on duty until the validator signs again.",
    thresholds: { lead: threshold("duration", 3_600_000, "expected time until the upgrade") },
    inhibits: ["upgrade-planned"],
  }),
  condition({
    name: "validator-tombstoned",
    severity: "critical",
    title: "Validator tombstoned",
    end: "the validator is not tombstoned",
    when: "the chain's slashing module has tombstoned the validator",
    description:
      "The chain has evidence that two blocks at the same height were signed with the validator's key. The key can never sign again, and the chain slashed the validator's stake if its slash fraction is above 0.",
    impact: "The validator can never earn anything with this key again.",
    action:
      "Before anything else, stop every process that holds the key. Then find the second signer, and ask the DAO about a validator with a new key.",
    for: "0s",
    resolveFor: "1m",
    inhibits: ["validator-jailed", ...OUT_ALERTS],
    past: WINDOWS_NOT_STORED,
    evaluate: (input) => {
      const { jail, windowNote = "" } = standing(input);
      if (jail.state === "tombstoned") return active(TOMBSTONED);
      return jail.state === "unknown" && windowNote !== ""
        ? cannotSee(windowNote)
        : clear("the validator is not tombstoned");
    },
  }),
  condition({
    name: "validator-jailed",
    severity: "critical",
    title: "Validator jailed",
    end: "the validator is not jailed",
    when: "the chain has jailed the validator; without `operator_address`, the watchdog knows this only until the validator can be released",
    description:
      "The chain removed the validator from the set because it missed too many blocks in its signing window or because its own stake was too small.",
    impact: "The validator earns nothing until it is released, so the month's pay falls proportionally.",
    action:
      "Repair the node and the signer, and only then send the unjail transaction that the alert names: a validator that still does not sign is jailed again.",
    for: "0s",
    resolveFor: "1m",
    inhibits: OUT_ALERTS,
    past: WINDOWS_NOT_STORED,
    evaluate: (input) => {
      const { jail, windowNote } = standing(input);
      switch (jail.state) {
        case "active":
          return clear("the validator is not jailed");
        case "tombstoned":
          return active(TOMBSTONED);
        case "jailed": {
          const { chain, atMs } = input.observation;
          const nowMs = readingOf(chain.head)?.blockTimeMs ?? atMs;
          return active(`the validator is jailed; ${releaseText(jail, nowMs)}`);
        }
        case "unknown":
          return cannotSee(
            windowNote ?? "it is not in the set; without operator_address, nobody knows whether it is jailed",
          );
      }
    },
  }),
  condition({
    name: "jail-near",
    echo: "month",
    severity: "critical",
    title: "Jail is near",
    end: "5,012 of the 9,500 misses that a window of 10,000 blocks allows are used, 4,488 left",
    when: "the validator is missing blocks, and either would be jailed within `jailed_within` at the current rate or has used `min_used` of the misses that the signing window allows",
    description:
      "The validator's signing window is filling with misses. If the validator misses more blocks than the chain allows, the chain jails it.",
    impact:
      "A jailed validator earns nothing until somebody unjails it. If the chain's slash fraction is above 0, the validator and its delegators also lose part of their stake.",
    action:
      "Get the validator signing before you fix anything else: every signed block makes jail less likely.",
    for: "30s",
    resolveFor: "1m",
    thresholds: {
      jailed_within: threshold("duration", 3_600_000, "time until jail at the current rate"),
      min_used: threshold(
        "percent",
        90,
        "share of the allowed misses already used, while the validator is missing blocks",
      ),
    },
    inhibits: ["jail-risk"],
    past: WINDOWS_NOT_STORED,
    evaluate: (input, limit) => evaluateWindow(input, limit, true),
  }),
  condition({
    name: "jail-risk",
    echo: "month",
    severity: "warning",
    title: "Signing window fills",
    end: "1,012 of the 9,500 misses that a window of 10,000 blocks allows are used, 8,488 left",
    when: "the validator has used `min_used` of the misses that the signing window allows, or would be jailed within `jailed_within` at the current rate",
    description:
      "The validator has missed so many recent blocks that a further outage would lead to jail sooner than usual.",
    impact: "None yet. A jailed validator earns nothing until somebody unjails it.",
    action:
      "Find out which blocks were missed, and postpone maintenance until they have left the window. The status shows how long a total outage can last before the validator is jailed.",
    for: "5m",
    resolveFor: "10m",
    thresholds: {
      jailed_within: threshold("duration", 86_400_000, "time until jail at the current rate"),
      min_used: threshold("percent", 50, "share of the allowed misses already used"),
    },
    past: WINDOWS_NOT_STORED,
    evaluate: (input, limit) => evaluateWindow(input, limit, false),
  }),
  condition({
    name: "network-votes-missing",
    severity: "critical",
    title: "Oracle votes of many validators are missing",
    end: "the validator missed 0 of its last 30 votes",
    when: "the validator and at least `min_others` of the other validators missed at least half of their oracle votes in the last half minute",
    description:
      "The oracle is failing for many validators together. The cause is something that these validators share: the market map, a release, the network, or a price provider that all of them need.",
    impact:
      "Every missed vote lowers the rate, even one that all validators miss. The DAO decides whether the program compensates for it.",
    action:
      "Ask in the validators' channel before you change anything. Restart your own sidecar only if others say that it helps.",
    for: "20s",
    thresholds: {
      min_others: threshold("percent", 50, "share of the other validators that also miss votes"),
    },
    inhibits: [
      "sidecar-down",
      "sidecar-too-slow",
      "oracle-calls-failing",
      "sidecar-slow",
      "all-prices-missing",
      "major-pairs-missing",
      "empty-prices-counted",
      "stale-price-timestamp",
      "websocket-providers-failing",
      ...LOSS_ALERTS,
    ],
    past: { notStored: "votes of other validators" },
    evaluate: ({ observation, assessment }, limit) => {
      const { votes } = standingOf(observation, assessment?.blockTimeMs);
      if (votes === undefined) return cannotSee("the other validators' votes cannot be seen");
      const { seen, missed, others, missing } = votes;
      const own = `the validator missed ${missed} of its last ${seen} votes`;
      if (missed * 2 < seen) return clear(own);
      if (others < MIN_OTHERS) return clear("the set has fewer than two other validators");
      const reason = `${missing} of the ${others} other validators miss votes too; ${own}`;
      return resultOf(missing * 100 >= others * limit("min_others"), reason, missing);
    },
  }),
];

function standing({ observation, assessment }: ConditionInput): Standing {
  return standingOf(observation, assessment?.blockTimeMs);
}

/**
 * Evaluates how many of the signing window's allowed misses are used, and the time until jail. If `needsMisses` is true, reaching
 * `min_used` only activates the condition while the current miss rate leads to jail.
 */
function evaluateWindow(
  input: ConditionInput,
  limit: (key: "jailed_within" | "min_used") => number,
  needsMisses: boolean,
): ConditionResult {
  const { window, windowNote } = standing(input);
  if (window === undefined) return cannotSee(windowNote ?? "the signing window cannot be read");
  if (readingOf(input.observation.chain.validator)?.isInSet === false)
    return cannotSee("the validator is not in the set");
  if (window.ifAllMissed === undefined) return clear("the chain jails nobody for downtime");
  const { atPresentRate: rate, presentMs } = window;
  const used = usedPercent(window);
  const isFull = used >= limit("min_used");
  const isNear = presentMs !== undefined && presentMs <= limit("jailed_within");
  if (isFull && !needsMisses) return active(windowReason(window), used);
  if (isNear || (isFull && rate.kind === "jail")) {
    // The rate still includes an outage that has just ended, although nobody can act on the outage any more.
    return rate.kind === "jail" && rate.growth.isOver === true
      ? cannotSee(`${windowReason(window)}, but no recent block was missed`)
      : active(windowReason(window), used);
  }
  // Just after the watchdog starts, there are too few readings to compute how quickly the window fills.
  if (rate.kind === "unknown" || (rate.kind === "jail" && presentMs === undefined))
    return cannotSee(`${windowText(window)}; the current rate of misses is not known yet`);
  return clear(windowText(window));
}

/** Returns the percentage of the allowed misses already used, at most 100. */
function usedPercent({ missed, allowed }: WindowStanding): number {
  if (missed >= allowed) return missed === 0n ? 0 : 100;
  return Number((missed * 10_000n) / allowed) / 100;
}

function windowReason(window: WindowStanding): string {
  if (window.atPresentRate.kind === "jail")
    return `at the current rate, jail ${presentText(window)}; ${windowText(window)}`;
  return `${windowText(window)}; if every block were missed from now on, jail ${allMissedText(window)}`;
}

function evaluatePlan(
  { observation, upgrade }: ConditionInput,
  limit: (key: "lead") => number,
): ConditionResult {
  const { upgrade: seen = { state: "not-configured" } } = observation.chain;
  if (seen.state === "not-configured") return cannotSee("no chain is configured");
  if (seen.state === "absent") return clear("the chain has no upgrade module");
  // Use the last known plan while the chain cannot be queried.
  if (upgrade === undefined)
    return seen.state === "up" ? clear("no upgrade is planned") : cannotSee("the plan cannot be read");
  const text = `upgrade ${countdownText(upgrade, observation.atMs)}`;
  if (upgrade.doneMs !== undefined || upgrade.remainingBlocks === 0n) return clear(text);
  if (upgrade.atMs === undefined) return cannotSee(text);
  return resultOf(upgrade.atMs.middle - observation.atMs <= limit("lead"), text);
}

/** Adds a note to an active result's reason if the nodes have stopped at a planned upgrade's height, as nodes with the old version do. */
export function withUpgrade(
  result: ConditionResult,
  nodes: readonly NodeObservation[],
  { upgrade, nodes: known }: PollHistory,
): ConditionResult {
  if (result.kind !== "active") return result;
  const texts = nodes.flatMap(({ name, metrics }) =>
    metrics.state === "error" ? [haltText(upgrade, known.get(name)?.progress.height, "node")] : [],
  );
  return { ...result, reason: `${result.reason}${texts.find((text) => text !== "") ?? ""}` };
}

export const PAYMENT_CONDITIONS: readonly Condition[] = [
  condition({
    name: "payment-missing",
    severity: "warning",
    title: "Last month's payment missing",
    end: "2026-10 was paid at height 35128123",
    when: "last month's payment is still missing from the chain's blocks `after` the end of the month, or the chain could not pay",
    description:
      "The chain has not paid the validator for last month, although the watchdog counted blocks in that month.",
    impact:
      "The validator loses the whole month's pay. Any amount that the revenue module could not pay is lost: the module has already reset its counters, so it does not pay later.",
    action:
      "Check the month's report, the treasury's balance and the validator's status at the end of the month, then ask in the validators' channel.",
    for: "0s",
    resolveFor: "1m",
    thresholds: {
      after: threshold(
        "duration",
        21_600_000,
        "how long after month end to wait before reporting a missing payment",
      ),
    },
    past: { notStored: "payment searches" },
    evaluate: (input, limit) => evaluatePayment(input, limit("after")),
  }),
  condition({
    name: "payment-differs",
    severity: "warning",
    title: "Last month's payment differs",
    end: "2026-10 was paid as expected",
    when: "last month's payment differs by more than `max_difference` from the amount that the watchdog expected from its own count",
    description:
      "The chain's payment for last month differs from the amount that the program's formula gives for the watchdog's count.",
    impact: "If the chain's counts are wrong, the difference is lost: it is not paid later.",
    action:
      "Compare the chain's counts, which the alert names, with the month's report: the node can count votes that the chain never receives. Then ask in the validators' channel.",
    for: "0s",
    resolveFor: "1m",
    thresholds: {
      max_difference: threshold("percent", 1, "maximum difference, as a share of the expected amount"),
    },
    past: { notStored: "payment searches" },
    evaluate: (input, limit) => {
      const payment = lastPayment(input);
      if ("kind" in payment) return payment;
      const { amount, expected, month } = payment;
      if (amount === undefined || expected === undefined)
        return cannotSee(`the payment for ${month} is not compared with an expected amount`);
      const difference = amount.amount > expected ? amount.amount - expected : expected - amount.amount;
      // Compare in hundredths of a percent, as for other thresholds.
      return difference * 10_000n > expected * BigInt(Math.round(limit("max_difference") * 100))
        ? active(asReason(paymentText(payment)))
        : clear(`${month} was paid as expected`);
    },
  }),
];

/** Returns last month's payment, or a result that explains why the payment is not known. */
function lastPayment({ observation, payments }: ConditionInput): Payment | ConditionResult {
  const { atMs, chain } = observation;
  const [before = ""] = monthsBefore(monthOf(atMs), 1);
  return (
    payments?.find((one) => one.month === before) ??
    cannotSee(
      chain.payment?.state === "error"
        ? `the payment for ${before} cannot be searched for: ${chain.payment.failure.text}`
        : "no payment is searched for",
    )
  );
}

function evaluatePayment(input: ConditionInput, afterMs: number): ConditionResult {
  const payment = lastPayment(input);
  if ("kind" in payment) return payment;
  const { month, outcome, height } = payment;
  if (outcome === "failed") return active(asReason(paymentText(payment)));
  if (outcome === "none-due") return clear(`the chain paid nobody for ${month}`);
  if (outcome === "paid") return clear(`${month} was paid at height ${height}`);
  const { atMs } = input.observation;
  const sinceMs = atMs - monthStartMs(monthOf(atMs));
  if (sinceMs < afterMs) return cannotSee(`the payment for ${month} has not been found yet`);
  const note = payment.note === undefined ? "" : `; ${payment.note}`;
  return active(
    `no payment for ${month} in the blocks up to ${height}, ${formatRoundedDuration(sinceMs)} after the end of the month${note}`,
  );
}

/** Turns a sentence into a reason: lower-cases a leading "The" and removes the trailing period. */
function asReason(text: string): string {
  return text.replace(/^The/, "the").replace(/\.$/, "");
}
