import { standingOf } from "../policy/standing.ts";
import { cannotSee, clear, type Condition, condition, resultOf, threshold } from "./condition.ts";
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
