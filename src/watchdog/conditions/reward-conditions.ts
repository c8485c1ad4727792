import { ENOUGH_BLOCKS } from "../policy/reward-tier.ts";
import { type Condition, condition } from "./condition.ts";
import { type Severity } from "../../platform/monitoring/severity.ts";
import {
  type Boundary,
  judgeBurn,
  judgeLost,
  judgeRate,
  judgeRisk,
  judgeRotation,
  judgeSlowBurn,
} from "./judge-reward.ts";

/** One boundary in texts. */
interface BoundaryTexts {
  readonly boundary: Boundary;
  /** Beginning of the condition names. */
  readonly prefix: "full-reward" | "any-reward";
  /** "the full reward". */
  readonly reward: string;
  readonly severity: Severity;
  readonly impact: string;
  /** Names of conditions that mean less than this boundary's. */
  readonly lesser: readonly string[];
}

const FULL: BoundaryTexts = {
  boundary: "full",
  prefix: "full-reward",
  reward: "the full reward",
  severity: "warning",
  impact: "Below the upper boundary the month's pay falls with every missed block.",
  lesser: [],
};

const ANY: BoundaryTexts = {
  boundary: "none",
  prefix: "any-reward",
  reward: "any reward",
  severity: "critical",
  impact:
    "Below the lower boundary the month pays nothing, and it counts towards rotation out of the validator set.",
  lesser: ["full-reward-at-risk", "full-reward-fast-burn", "full-reward-slow-burn", "full-reward-rate-low"],
};

const ACTION =
  "Find out what costs the blocks: sidecar, node, network. Put off planned work until the headroom is larger.";

/** Burn rates of the usual alerts: 2 % of a month's allowance in an hour, 5 % in six hours, 10 % in three days. */
const FAST_1H = 14.4;
const FAST_6H = 6;

const MIN_BLOCKS = {
  unit: "number",
  initial: Number(ENOUGH_BLOCKS),
  description: "blocks of the month before which the rate proves nothing",
} as const;

/** Conditions of the month's rate and pay: four for each boundary, and rotation. */
export const REWARD_CONDITIONS: readonly Condition[] = [
  ...[ANY, FULL].flatMap(boundaryConditions),
  condition({
    name: "rotation-risk",
    severity: "warning",
    title: "Rotation risk",
    when: "the validator was below the lower boundary in so many months that it may be rotated out, or will be when this month ends below it too",
    description:
      "A validator below the lower boundary in 2 months in a row, or in 3 of 6, may be rotated out of the validator set.",
    impact: "Rotation ends all pay.",
    action:
      "Avoid any further missed block this month, and explain earlier months to the DAO before it decides.",
    for: "10m",
    resolveFor: "1h",
    thresholds: {},
    inhibits: [],
    past: "counts",
    judge: ({ assessment }) => judgeRotation(assessment),
  }),
];

function boundaryConditions(texts: BoundaryTexts): readonly Condition[] {
  const { boundary, prefix, reward, severity, impact, lesser } = texts;
  const common = { impact, action: ACTION, description: `The month's success rate decides on ${reward}.` };
  const own = (suffix: string): string => `${prefix}-${suffix}`;
  return [
    condition({
      ...common,
      name: own("lost"),
      severity,
      title: `This month loses ${reward}`,
      when: "even without a further missed block the month ends below the boundary",
      action: "Nothing brings this month back. Prepare the next one, and check the rotation risk.",
      for: "10m",
      resolveFor: "1h",
      thresholds: {},
      inhibits: [own("rate-low"), own("at-risk"), own("fast-burn"), own("slow-burn"), ...lesser],
      past: "counts",
      judge: ({ assessment }) => judgeLost(assessment, boundary),
    }),
    condition({
      ...common,
      name: own("rate-low"),
      severity,
      title: `Success rate too low for ${reward}`,
      when: "the month's rate is below the boundary, after at least `min_blocks` blocks",
      for: "5m",
      resolveFor: "30m",
      thresholds: { min_blocks: MIN_BLOCKS },
      inhibits: lesser,
      past: "counts",
      judge: ({ assessment }, limit) => judgeRate(assessment, boundary, limit("min_blocks")),
    }),
    condition({
      ...common,
      name: own("at-risk"),
      severity,
      title: `Forecast: this month loses ${reward}`,
      when: "the month will end below the boundary at the rate of recent days, or less than `min_headroom` of a total outage is left",
      for: "10m",
      resolveFor: "1h",
      thresholds: {
        min_headroom: {
          unit: "duration",
          initial: 4 * 3_600_000,
          description: "time of a total outage until the boundary",
        },
        min_blocks: MIN_BLOCKS,
      },
      inhibits: [],
      past: "counts",
      judge: ({ assessment }, limit) => judgeRisk(assessment, boundary, limit),
    }),
    condition({
      ...common,
      name: own("fast-burn"),
      severity,
      title: `Missed blocks burn ${reward} fast`,
      when: "the last hour used the month's allowance `hour_factor` times too fast, or the last six hours `six_hours_factor` times, and the last 5 minutes still do",
      for: "1m",
      resolveFor: "5m",
      thresholds: {
        hour_factor: { unit: "number", initial: FAST_1H, description: "burn rate of the last hour" },
        six_hours_factor: {
          unit: "number",
          initial: FAST_6H,
          description: "burn rate of the last six hours",
        },
      },
      inhibits: [own("slow-burn"), ...lesser.filter((name) => name.endsWith("-burn"))],
      past: "counts",
      judge: (input, limit) =>
        judgeBurn(input, boundary, [
          ["1h", limit("hour_factor")],
          ["6h", limit("six_hours_factor")],
        ]),
    }),
    condition({
      ...common,
      name: own("slow-burn"),
      severity: "warning",
      title: `Missed blocks burn ${reward} slowly`,
      when: "the last three days used the month's allowance `three_days_factor` times too fast, and the last six hours still do",
      for: "1h",
      resolveFor: "1h",
      thresholds: {
        three_days_factor: { unit: "number", initial: 1, description: "burn rate of the last three days" },
      },
      inhibits: [],
      past: "counts",
      judge: ({ assessment }, limit) => judgeSlowBurn(assessment, boundary, limit("three_days_factor")),
    }),
  ];
}
