import type { BlockCounts } from "../ledger/block-counts.ts";
import type { Assessment, BurnWindow, Headroom } from "../policy/assessment.ts";
import { formatPercent } from "../policy/reward-tier.ts";
import {
  active,
  cannotSee,
  clear,
  type Condition,
  condition,
  type Severity,
  type Verdict,
} from "./condition.ts";
import type { ConditionInput } from "./condition-input.ts";

type Boundary = Headroom["boundary"];

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

/** An hour of blocks: before that, one missed block is a large share of the month. */
const MIN_BLOCKS = {
  unit: "number",
  initial: 1800,
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
      judge: ({ assessment }) =>
        judgeHeadroom(assessment, boundary, (headroom) =>
          headroom.state === "lost"
            ? active(`the month is ${-headroom.misses} blocks below the boundary`)
            : undefined,
        ),
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
      judge: ({ assessment }, limit) => judgeSlowBurn(assessment, boundary, limit("three_days_factor")),
    }),
  ];
}

const ONE = 10n ** 18n;

function judgeHeadroom(
  assessment: Assessment | undefined,
  boundary: Boundary,
  judge: (headroom: Headroom) => Verdict | undefined,
): Verdict {
  const headroom = assessment?.headroom.find((one) => one.boundary === boundary);
  if (headroom === undefined) return cannotSee("no block of this month is counted yet");
  return judge(headroom) ?? clear(headroomText(headroom));
}

function headroomText({ state, misses, outageMs }: Headroom): string {
  if (state === "lost") return `the month is ${-misses} blocks below the boundary`;
  if (state === "clinched") return "the month stays above the boundary whatever happens";
  const time = outageMs === undefined ? "" : `, ${(outageMs / 3_600_000).toFixed(1)} h of a total outage`;
  return `${misses} more missed blocks are allowed${time}`;
}

function judgeRate(assessment: Assessment | undefined, boundary: Boundary, minBlocks: number): Verdict {
  const { rate, tier } = assessment ?? {};
  if (rate === undefined || tier === undefined) return cannotSee("no block of this month is counted yet");
  const reason = `the rate is ${formatPercent(rate)} %`;
  const isLow = boundary === "full" ? tier !== "full" : tier === "none";
  if (isLow && rate.total < BigInt(minBlocks)) return cannotSee(`${reason}, of only ${rate.total} blocks`);
  return isLow ? active(reason, 100 - Number(formatPercent(rate))) : clear(reason);
}

function judgeRisk(
  assessment: Assessment | undefined,
  boundary: Boundary,
  limit: (key: "min_headroom" | "min_blocks") => number,
): Verdict {
  return judgeHeadroom(assessment, boundary, (headroom) => {
    const { forecast, rate } = assessment ?? {};
    const { state, outageMs } = headroom;
    if (rate === undefined || rate.total < BigInt(limit("min_blocks")))
      return cannotSee("the month has too few blocks");
    if (state === "lost") return active(headroomText(headroom));
    if (state === "clinched") return undefined;
    const tier = forecast?.tiers.middle;
    const isForecast = boundary === "full" ? tier !== undefined && tier !== "full" : tier === "none";
    if (forecast !== undefined && isForecast)
      return active(`the month will end at ${formatPercent(forecast.middle)} %; ${headroomText(headroom)}`);
    return outageMs !== undefined && outageMs < limit("min_headroom")
      ? active(headroomText(headroom))
      : undefined;
  });
}

function judgeBurn(
  { assessment, recent }: ConditionInput,
  boundary: Boundary,
  factors: readonly (readonly [BurnWindow, number])[],
): Verdict {
  return judgeHeadroom(assessment, boundary, ({ burnRates }) => {
    const burning = factors.flatMap(([window, factor]) => {
      const rate = burnRates[window];
      return rate !== undefined && rate >= factor ? [{ window, factor, rate }] : [];
    });
    const [first] = burning;
    if (first === undefined) return undefined;
    const least = assessment?.policy.least[boundary] ?? 0n;
    const now = badShare(recent["5m"]) / (Number(ONE - least) / Number(ONE));
    const reason = `the last ${first.window} burned the month's allowance ${first.rate.toFixed(1)} times too fast`;
    // Over the last minutes the loss has ended: the window still shows it, but nobody can do anything.
    return now >= Math.min(...burning.map(({ factor }) => factor))
      ? active(reason, first.rate)
      : clear(`${reason}, but not the last 5 minutes`);
  });
}

function judgeSlowBurn(assessment: Assessment | undefined, boundary: Boundary, factor: number): Verdict {
  return judgeHeadroom(assessment, boundary, ({ burnRates }) => {
    const days = burnRates["3d"];
    const hours = burnRates["6h"];
    if (days === undefined || hours === undefined || days < factor) return undefined;
    const reason = `the last 3 days burned the month's allowance ${days.toFixed(1)} times too fast`;
    return hours >= factor ? active(reason, days) : clear(`${reason}, but not the last 6 hours`);
  });
}

/** Share of bad blocks; 0 without a block. */
function badShare({ good, bad }: BlockCounts): number {
  const total = Number(good + bad);
  return total === 0 ? 0 : Number(bad) / total;
}

function judgeRotation(assessment: Assessment | undefined): Verdict {
  if (assessment === undefined) return cannotSee("no month is counted yet");
  const { rotation, tier, forecast } = assessment;
  const months = rotation.months.join(", ");
  if (rotation.state === "due") return active(`it was below the lower boundary in ${months}`);
  if (rotation.state === "none") return clear("one bad month would not lead to rotation");
  const endsBelow = (forecast?.tiers.middle ?? tier) === "none";
  return endsBelow
    ? active(`it was below the lower boundary in ${months}, and this month will be too`)
    : clear(`it was below the lower boundary in ${months}, but this month will not be`);
}
