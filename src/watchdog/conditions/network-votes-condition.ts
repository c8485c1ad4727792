import { standingOf } from "../policy/standing.ts";
import type { SharedMisses } from "../sources/standing-views.ts";
import { active, cannotSee, clear, type Condition, condition, type ConditionResult } from "./condition.ts";
import { LOSS_ALERTS } from "./consequences.ts";

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
      min_others: {
        unit: "percent",
        initial: 50,
        description: "share of the other validators that also miss votes",
      },
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
    evaluate: ({ observation, assessment }, limit) =>
      evaluateNetworkVotes(standingOf(observation, assessment?.blockTimeMs).votes, limit("min_others")),
  }),
];

function evaluateNetworkVotes(shared: SharedMisses | undefined, minOthers: number): ConditionResult {
  if (shared === undefined) return cannotSee("the other validators' votes cannot be seen");
  const { seen, missed, others, missing } = shared;
  if (missed * 2 < seen) return clear(`the validator missed ${missed} of its last ${seen} votes`);
  if (others < MIN_OTHERS) return clear("the set has fewer than two other validators");
  const reason = `${missing} of the ${others} other validators miss votes too; the validator missed ${missed} of its last ${seen} votes`;
  return missing * 100 >= others * minOthers ? active(reason, missing) : clear(reason);
}
