import { type Standing, standingOf, type WindowStanding } from "../policy/standing.ts";
import { allMissedText, presentText, releaseText, windowText } from "../policy/standing-texts.ts";
import { active, cannotSee, clear, condition, resultOf, threshold, valueOf } from "./condition.ts";
import type { Condition, ConditionInput, ConditionResult } from "./condition.ts";
import { LOSS_ALERTS, VOTE_ALERTS } from "./consequences.ts";

const TOMBSTONED = "the chain has tombstoned the validator's key, which can never sign again";

const WINDOWS_NOT_STORED = { notStored: "signing windows" };

/** Alerts about a validator that does not take part because it is jailed. */
const OUT_ALERTS = ["not-in-validator-set", "node-not-voting", "not-signing", ...VOTE_ALERTS] as const;

/** Conditions on jailing, and on the signing window that leads to it. */
export const SLASHING_CONDITIONS: readonly Condition[] = [
  condition({
    name: "validator-tombstoned",
    severity: "critical",
    title: "Validator tombstoned",
    end: "the validator is not tombstoned",
    when: "the chain's slashing module has tombstoned the validator",
    description:
      "The chain has evidence that two blocks at the same height were signed with the validator's key. Its stake was slashed, and the key can never sign again.",
    impact: "The validator can never earn anything again with this key.",
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
      "Repair the node and the signer, and only then send the unjail transaction that the alert names: a validator that still does not sign is jailed and slashed again.",
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
          const nowMs = valueOf(chain.head)?.blockTimeMs ?? atMs;
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
    when: "the validator is missing blocks and would be jailed within `jailed_within` at the current rate, or has used `min_used` of the misses that the window allows",
    description:
      "The validator's signing window is filling with misses. If it misses more blocks than the chain allows, it is slashed and jailed.",
    impact:
      "Being jailed costs part of the stake, the validator's own and its delegators', and all pay until somebody releases the validator.",
    action: "Get the validator signing, whatever else is wrong: every signed block puts jail further away.",
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
    impact:
      "None yet. Being jailed costs part of the stake and all pay until somebody releases the validator.",
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
];

function standing({ observation, assessment }: ConditionInput): Standing {
  return standingOf(observation, assessment?.blockTimeMs);
}

/** If `needsMisses` is true, a window used to `min_used` is a reason only while it keeps filling up. */
function evaluateWindow(
  input: ConditionInput,
  limit: (key: "jailed_within" | "min_used") => number,
  needsMisses: boolean,
): ConditionResult {
  const { window, windowNote } = standing(input);
  if (window === undefined) return cannotSee(windowNote ?? "the signing window cannot be read");
  if (valueOf(input.observation.chain.validator)?.isInSet === false)
    return cannotSee("the validator is not in the set");
  if (window.ifAllMissed === undefined) return clear("the chain jails nobody for downtime");
  const { atPresentRate: rate, presentMs } = window;
  const used = usedPercent(window);
  const isFull = used >= limit("min_used");
  const isNear = presentMs !== undefined && presentMs <= limit("jailed_within");
  if (isFull && !needsMisses) return active(windowReason(window), used);
  if (isNear || (isFull && rate.kind === "jail")) {
    // The rate still contains an outage that has just ended, but nobody can act on it any more. Single misses are in between.
    return rate.kind === "jail" && rate.growth.isOver === true
      ? cannotSee(`${windowReason(window)}, but no recent block was missed`)
      : active(windowReason(window), used);
  }
  // After a watchdog start, there are too few readings to tell how quickly the window fills.
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

/** With only one other validator, half of the other validators would be a single machine. */
const MIN_OTHERS = 2;

/** The condition for an oracle that fails for many validators together: the validator's own sidecar is then not the cause. */
export const NETWORK_VOTES_CONDITIONS: readonly Condition[] = [
  condition({
    name: "network-votes-missing",
    severity: "critical",
    title: "Oracle votes of many validators are missing",
    end: "the validator missed 0 of its last 30 votes",
    when: "the validator missed at least half of its oracle votes in the last half minute, and so did at least `min_others` of the other validators",
    description:
      "The oracle is failing for many validators together. The cause is something they share: the market map, a release, the network, or a price provider that all of them need.",
    impact:
      "Every missed vote counts, even one that everybody misses. The DAO decides whether the programme makes up for it.",
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
