import {
  type AlertRule,
  active,
  cannotSee,
  clear,
  type ConditionInput,
  type ConditionResult,
} from "../../../src/watchdog/conditions/condition.ts";
import { badShare, type BlockCounts } from "../../../src/watchdog/ledger/ledger-view.ts";
import { monthStartMs, nextMonthMs } from "../../../src/platform/base/month.ts";
import type { AssessmentInput } from "../../../src/watchdog/policy/assess.ts";
import type { Assessment, Headroom } from "../../../src/watchdog/policy/assessment.ts";
import { endRate } from "../../../src/watchdog/policy/month-forecast.ts";
import { tierOf } from "../../../src/watchdog/policy/reward-tier.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FAST = { "1h": 14.4, "6h": 6 } as const;

/**
 * The rules before forecasts had regimes: the bad share of 28 days was applied to the rest of the month, and what was lost, low or short
 * was a page. For the comparison in `docs/alert-backtest.md` only.
 */
export function earlierRules(rules: readonly AlertRule[]): readonly AlertRule[] {
  return rules
    .filter(({ condition }) => !condition.name.endsWith("-headroom-low"))
    .map((rule) => {
      const match = /^(any|full)-reward-(lost|rate-low|at-risk|fast-burn)$/.exec(rule.condition.name);
      const [, prefix, suffix] = match ?? [];
      if (suffix === undefined) return rule;
      const boundary = prefix === "full" ? "full" : "none";
      const { isSettled: _, ...condition } = rule.condition;
      const inhibits = [
        ...condition.inhibits,
        ...(suffix === "lost" ? [`${prefix}-reward-at-risk`, `${prefix}-reward-fast-burn`] : []),
      ];
      const evaluate = { "at-risk": earlierRisk, "fast-burn": earlierBurn }[suffix];
      return {
        ...rule,
        severity: prefix === "any" ? "critical" : "warning",
        condition: {
          ...condition,
          inhibits,
          ...(evaluate === undefined
            ? {}
            : { evaluate: (input: ConditionInput) => evaluate(input, boundary) }),
        },
      } satisfies AlertRule;
    });
}

/** An assessment with a forecast of the mean of 28 days, or of hours. */
export function earlierAssessment(assessment: Assessment, input: AssessmentInput): Assessment {
  const { forecast, remainingBlocks: remaining, counts, policy } = assessment;
  if (forecast === undefined || remaining === undefined) return assessment;
  const month = { good: counts.good, bad: counts.bad, remaining };
  const days = usable(input.ledger.days(input.nowMs - 28 * DAY, input.nowMs + 1).map((one) => one.counts));
  const hours = usable(input.ledger.hours(input.nowMs - 3 * DAY, input.nowMs + 1).map((one) => one.counts));
  const periods = days.length >= 3 ? days : hours.length >= 3 ? hours : [counts];
  const [bad, good] = [sum(periods.map((one) => one.bad)), sum(periods.map((one) => one.good))];
  const middle = endRate(month, bad + good === 0n ? 0n : (bad * remaining) / (bad + good));
  return {
    ...assessment,
    forecast: { ...forecast, middle, tiers: { ...forecast.tiers, middle: tierOf(middle, policy.least) } },
  };
}

function usable(counts: readonly BlockCounts[]): readonly BlockCounts[] {
  const most = counts.reduce((max, { good, bad }) => (good + bad > max ? good + bad : max), 0n);
  return counts.filter(({ good, bad }) => good + bad > 0n && (good + bad) * 4n >= most);
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

function headroomOf(input: ConditionInput, boundary: Headroom["boundary"]): Headroom | undefined {
  return input.assessment?.headroom.find((one) => one.boundary === boundary);
}

function earlierRisk(input: ConditionInput, boundary: Headroom["boundary"]): ConditionResult {
  const { rate, forecast } = input.assessment ?? {};
  const headroom = headroomOf(input, boundary);
  if (headroom === undefined || rate === undefined || rate.total < 1800n) return cannotSee("too few blocks");
  if (headroom.state === "lost") return active("lost");
  if (headroom.state === "clinched") return clear("clinched");
  const tier = forecast?.tiers.middle;
  if (boundary === "full" ? tier !== undefined && tier !== "full" : tier === "none")
    return active("the forecast");
  return headroom.outageMs !== undefined && headroom.outageMs < 4 * HOUR * knownShare(input.assessment)
    ? active("headroom")
    : clear("headroom");
}

function earlierBurn(input: ConditionInput, boundary: Headroom["boundary"]): ConditionResult {
  const headroom = headroomOf(input, boundary);
  if (headroom === undefined) return cannotSee("no block is counted");
  const burning = (["1h", "6h"] as const).filter(
    (window) => (headroom.burnRates[window] ?? 0) >= FAST[window],
  );
  if (burning.length === 0) return clear("no burn");
  const now = (badShare(input.recent["5m"]) ?? 0) / (boundary === "full" ? 0.02 : 0.05);
  return now >= Math.min(...burning.map((window) => FAST[window])) ? active("burn") : clear("over");
}

/** Share of the month whose blocks are counted or still to come. */
function knownShare(assessment: Assessment | undefined): number {
  const { month, rate, remainingBlocks = 0n, blockTimeMs = 0 } = assessment ?? {};
  if (month === undefined || rate === undefined) return 1;
  const startMs = monthStartMs(month);
  return Math.min(1, (Number(rate.total + remainingBlocks) * blockTimeMs) / (nextMonthMs(startMs) - startMs));
}
