import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import { type Boundary, ENOUGH_BLOCKS } from "../policy/reward-tier.ts";
import {
  ALLOWED,
  badShare,
  type BadShareWindow,
  call,
  failing,
  MONTH_SECONDS_LEFT,
  succeeding,
  SUCCESSES,
} from "./raw-metrics.ts";
import { active, cannotSee, clear, condition, type Condition, threshold } from "./condition.ts";
import {
  evaluateBurn,
  evaluateLittleLeft,
  evaluateLost,
  evaluateRate,
  evaluateRisk,
  evaluateSlowBurn,
} from "./evaluate-reward.ts";
import type { AlertCase } from "../../platform/monitoring/alerts/alert-spec.ts";
import type { Severity } from "../../platform/monitoring/severity.ts";

interface BoundaryTexts {
  readonly boundary: Boundary;
  /** Common prefix of the boundary's condition names. */
  readonly prefix: "full-reward" | "any-reward";
  /** The reward's name in texts, such as "the full reward". */
  readonly reward: string;
  readonly severity: Severity;
  readonly impact: string;
  /** The boundary's success rate as a fraction, which the rules on raw metrics use. */
  readonly least: number;
  /** Test data: the number of misses that endangers the boundary in a month with one call per second. */
  readonly misses: number;
  /** Names of less serious conditions, which this boundary's conditions mute. */
  readonly lesser: readonly string[];
}

const FULL: BoundaryTexts = {
  boundary: "full",
  prefix: "full-reward",
  reward: "the full reward",
  severity: "warning",
  impact: "Below the upper boundary, each missed block lowers the month's pay.",
  least: 0.98,
  misses: 45_500,
  lesser: [],
};

const ANY: BoundaryTexts = {
  boundary: "none",
  prefix: "any-reward",
  reward: "any reward",
  severity: "critical",
  impact:
    "Below the lower boundary, the month earns no reward and is one of the bad months that lead to rotation out of the validator set.",
  least: 0.95,
  misses: 128_000,
  lesser: [
    "full-reward-headroom-low",
    "full-reward-at-risk",
    "full-reward-fast-burn",
    "full-reward-slow-burn",
    "full-reward-rate-low",
  ],
};

const ACTION =
  "Run relaywatch why: it names the cause of the missed blocks. Postpone planned work until there is more headroom.";

const MIN_BLOCKS = threshold(
  "number",
  Number(ENOUGH_BLOCKS),
  "minimum number of blocks in the month before the alert can fire",
);

function commonTexts({ impact, reward }: BoundaryTexts) {
  return {
    impact,
    action: ACTION,
    echo: "month" as const,
    past: "counts" as const,
    description: `The validator earns ${reward} for a month only if its success rate at the end of the month is at or above the boundary.`,
  };
}

/** Test case: a billion good calls lift the rate above both boundaries despite the earlier losses. */
const recovered: AlertCase["clears"] = [{ series: SUCCESSES, from: 1_000_000_000 }];

const DEPENDS_ON_DAY = "what remains depends on the day of the month";

const WEEK_SECONDS = 7 * 86_400;
const HOURS_SECONDS = 4 * 3600;

/**
 * Returns PromQL that selects validators that would cross the boundary within `seconds` and before the month ends. The selection
 * requires a crossing at the bad share of both windows.
 */
function crossedWithin(
  left: string,
  windows: readonly [BadShareWindow, BadShareWindow],
  seconds: number,
): string {
  return windows
    .map((window) => {
      // Don't use the three-day call rate for short windows, because the rate is too low while only one day of calls is known.
      const calls = `validator:oracle_calls:rate${window === "3d" ? "3d" : "6h"}`;
      const lossRate = `(${calls} * ${badShare(window)} > 0)`;
      const time = `${left} / on (chain_id, validator) group_left () ${lossRate}`;
      return `${time} < ${seconds} and ${time} < ${MONTH_SECONDS_LEFT}`;
    })
    .join(" and ");
}

/** Conditions about the month's success rate and pay. There are four conditions for each boundary, and one for rotation. */
export const REWARD_CONDITIONS: readonly Condition[] = [
  ...[ANY, FULL].flatMap(boundaryConditions),
  condition({
    name: "rotation-risk",
    severity: "warning",
    title: "Rotation risk",
    end: "one bad month would not lead to rotation",
    when: "so many of the validator's months ended below the lower boundary that the validator may be rotated out, now or if this month also ends below the boundary",
    description:
      "A validator that is below the lower boundary in 2 months in a row, or in 3 of 6 months, may be rotated out of the validator set.",
    impact: "Rotation ends all pay.",
    action:
      "Avoid further missed blocks this month, and explain the earlier months to the DAO before it decides.",
    for: "10m",
    resolveFor: "1h",
    past: "counts",
    evaluate: ({ assessment }) => {
      if (assessment === undefined) return cannotSee("no month has been counted yet");
      const { rotation, tier, forecast } = assessment;
      const below = `the validator was below the lower boundary in ${rotation.months.join(", ")}`;
      if (rotation.state === "due") return active(below);
      if (rotation.state === "none") return clear("one bad month would not lead to rotation");
      return (forecast?.tiers.middle ?? tier) === "none"
        ? active(`${below}, and this month will be too`)
        : clear(`${below}, but this month will not be`);
    },
  }),
];

function boundaryConditions(texts: BoundaryTexts): readonly Condition[] {
  const { boundary, prefix, reward, severity, least, misses, lesser } = texts;
  const left = `validator:oracle_month:misses_left{boundary="${boundary}"}`;
  const enough = `on (chain_id, validator) validator:oracle_month:calls >= ${ENOUGH_BLOCKS}`;
  const common = commonTexts(texts);
  const own = (suffix: string): string => `${prefix}-${suffix}`;
  return [
    condition({
      ...common,
      name: own("lost"),
      // Nobody can change the outcome, so the alert is a ticket and not a page.
      severity: "warning",
      isSettled: true,
      title: `Month without ${reward}`,
      end: "388 more missed blocks are allowed, 0.2 h of a total outage",
      when: "the month will end below the boundary even if no further block is missed",
      action: "Prepare for next month, and check the rotation risk. Nothing can restore this month's pay.",
      for: "10m",
      resolveFor: "1h",
      inhibits: [
        own("rate-low"),
        own("headroom-low"),
        own("slow-burn"),
        ...(severity === "warning" ? [own("at-risk"), own("fast-burn")] : lesser),
      ],
      raw: {
        expr: () => `${left} < 0 and ${enough}`,
        value: "The month ends {{ $value | humanize }} calls below the boundary.",
        // Test case: calls stop before the month ends, so the loss remains.
        example: {
          fires: [call("Success", 0), { ...call("Failure", 0), jump: 1_000_000 }],
          clears: recovered,
          trueAfter: "7h",
        },
      },
      evaluate: ({ assessment }) => evaluateLost(assessment, boundary),
    }),
    condition({
      ...common,
      name: own("rate-low"),
      // Only future good blocks can raise the rate, so the alert is a ticket and not a page.
      severity: "warning",
      isSettled: true,
      title: `Success rate too low for ${reward}`,
      end: `the month's rate is ${100 * least}.0112 %`,
      when: "the month's rate is below the boundary, after at least `min_blocks` blocks",
      for: "5m",
      resolveFor: "30m",
      thresholds: { min_blocks: MIN_BLOCKS },
      inhibits: lesser,
      raw: {
        expr: () => `validator:oracle_month:success_ratio < ${least} and ${enough}`,
        value: "The month's rate is {{ $value | humanizePercentage }}.",
        example: { fires: failing, clears: recovered },
      },
      evaluate: ({ assessment }, limit) => evaluateRate(assessment, boundary, limit("min_blocks")),
    }),
    condition({
      ...common,
      name: own("at-risk"),
      severity,
      title: `At risk: ${reward}`,
      end: "the loss of the last few hours has ended",
      when: "the boundary would be crossed within `lost_within` at the loss rates of both the last six hours and the last three days, or within `min_headroom` at the loss rates of both the last hour and the last five minutes",
      for: "10m",
      resolveFor: "1h",
      thresholds: {
        lost_within: threshold(
          "duration",
          7 * DAY_MS,
          "time until the boundary is crossed if the loss continues",
        ),
        min_headroom: threshold(
          "duration",
          4 * HOUR_MS,
          "time until the boundary is crossed at the last hour's loss rate",
        ),
        min_blocks: MIN_BLOCKS,
      },
      inhibits: [own("rate-low"), own("headroom-low"), own("slow-burn"), ...lesser],
      raw: {
        expr: () => {
          const isOpen = `${left} >= 0 and ${enough}`;
          return `((${crossedWithin(left, ["6h", "3d"], WEEK_SECONDS)}) or (${crossedWithin(left, ["1h", "5m"], HOURS_SECONDS)})) and ${isOpen}`;
        },
        value: "At the current loss, the boundary is crossed in {{ $value | humanizeDuration }}.",
        // Test case: calls fail until the condition is active, and then succeed again.
        example: {
          fires: failing,
          clears: succeeding,
          trueAfter: prefix === "any-reward" ? "20h" : "9h",
          resolves: "8h",
          onlyPromtool: DEPENDS_ON_DAY,
        },
      },
      evaluate: (input, limit) => evaluateRisk(input, boundary, limit),
    }),
    condition({
      ...common,
      name: own("headroom-low"),
      severity: "warning",
      isSettled: true,
      title: `Low headroom for ${reward}`,
      end: "14,212 more missed blocks are allowed, 7.9 h of a total outage",
      when: "a total outage of `min_headroom` would cross the boundary",
      for: "10m",
      resolveFor: "1h",
      thresholds: {
        min_headroom: threshold("duration", 4 * HOUR_MS, "total outage that would cross the boundary"),
        min_blocks: MIN_BLOCKS,
      },
      inhibits: lesser,
      raw: {
        expr: () =>
          `${left} / on (chain_id, validator) group_left () (validator:oracle_calls:rate6h > 0) < ${HOURS_SECONDS} and ${left} >= 0 and ${enough}`,
        value: "A total outage of {{ $value | humanizeDuration }} would cross the boundary.",
        // Test case: a month with one call per second and `misses` bad calls on its first day.
        example: {
          fires: [call("Success", 60), { ...call("Failure", 0), jump: misses }],
          clears: recovered,
          trueAfter: "7h",
          onlyPromtool: DEPENDS_ON_DAY,
        },
      },
      evaluate: ({ assessment }, limit) => evaluateLittleLeft(assessment, boundary, limit),
    }),
  ];
}

/** The customary burn rates for alerts use 2 % of a month's allowance in one hour, 5 % in six hours, or 10 % in three days. */
const FAST_1H = 14.4;
const FAST_6H = 6;

const burnt = (resolves: string): AlertCase => ({ fires: failing, clears: succeeding, resolves });

/** Conditions about how fast the month's allowance is used. There are two conditions for each boundary. */
export const BURN_CONDITIONS: readonly Condition[] = [ANY, FULL].flatMap(burnConditions);

function burnConditions(texts: BoundaryTexts): readonly Condition[] {
  const { boundary, prefix, reward, severity, lesser } = texts;
  const burns = (window: BadShareWindow, factor: number): string =>
    `${badShare(window)} > ${factor} * ${ALLOWED[boundary]}`;
  const common = commonTexts(texts);
  const own = (suffix: string): string => `${prefix}-${suffix}`;
  return [
    condition({
      ...common,
      name: own("fast-burn"),
      severity,
      title: `Fast burn rate for ${reward}`,
      end: "the loss of the last few hours has ended",
      when: "missed blocks burned the month's allowance at least `hour_factor` times too fast over the last hour, or `six_hours_factor` times over the last six hours, and also over the last five minutes",
      for: "1m",
      resolveFor: "5m",
      thresholds: {
        hour_factor: threshold("number", FAST_1H, "burn rate over the last hour"),
        six_hours_factor: threshold("number", FAST_6H, "burn rate over the last six hours"),
      },
      inhibits: [own("slow-burn"), own("at-risk"), own("headroom-low"), own("rate-low"), ...lesser],
      raw: {
        expr: () =>
          `(${burns("1h", 14.4)} and ${burns("5m", 14.4)}) or (${burns("6h", 6)} and ${burns("5m", 6)})`,
        value: "{{ $value | humanizePercentage }} of calls fail.",
        example: burnt("20m"),
      },
      evaluate: (input, limit) =>
        evaluateBurn(input, boundary, [
          ["1h", limit("hour_factor")],
          ["6h", limit("six_hours_factor")],
        ]),
    }),
    condition({
      ...common,
      name: own("slow-burn"),
      severity: "warning",
      title: `Slow burn rate for ${reward}`,
      end: "the current loss is small enough for the month",
      when: "missed blocks burned the month's allowance at least `three_days_factor` times too fast over the last three days, and also over the last six hours",
      for: "1h",
      resolveFor: "1h",
      thresholds: { three_days_factor: threshold("number", 1, "burn rate over the last three days") },
      raw: {
        expr: () => `${burns("3d", 1)} and ${burns("6h", 1)}`,
        value: "{{ $value | humanizePercentage }} of calls in the last 3 days failed.",
        example: burnt("8h"),
      },
      evaluate: ({ assessment }, limit) => evaluateSlowBurn(assessment, boundary, limit("three_days_factor")),
    }),
  ];
}
