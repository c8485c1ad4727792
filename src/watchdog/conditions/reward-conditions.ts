import { HOUR_MS } from "../../platform/base/time.ts";
import { ENOUGH_BLOCKS } from "../policy/reward-tier.ts";
import { type Condition, condition } from "./condition.ts";
import { type Severity } from "../../platform/monitoring/severity.ts";
import {
  type Boundary,
  evaluateBurn,
  evaluateLost,
  evaluateRate,
  evaluateRisk,
  evaluateRotation,
  evaluateSlowBurn,
} from "./evaluate-reward.ts";
import {
  ALLOWED,
  type BadShareWindow,
  SUCCESSES,
  badShare,
  call,
  failing,
  succeeding,
} from "./raw-metrics.ts";
import { see } from "../../platform/monitoring/alerts/runbook-spec.ts";
import type { AlertCase } from "../../platform/monitoring/alerts/alert-spec.ts";

/** One boundary in texts. */
interface BoundaryTexts {
  readonly boundary: Boundary;
  /** Beginning of the condition names. */
  readonly prefix: "full-reward" | "any-reward";
  /** "the full reward". */
  readonly reward: string;
  readonly severity: Severity;
  readonly impact: string;
  /** "full pay". */
  readonly pay: string;
  /** What the other part of the scale pays. */
  readonly other: string;
  /** Least success rate, for the rules on raw metrics. */
  readonly least: number;
  /** Misses of a month at one call per second that put the boundary at risk. */
  readonly misses: number;
  /** Names of conditions that mean less than this boundary's. */
  readonly lesser: readonly string[];
}

const FULL: BoundaryTexts = {
  boundary: "full",
  prefix: "full-reward",
  reward: "the full reward",
  severity: "warning",
  impact: "Below the upper boundary the month's pay falls with every missed block.",
  pay: "full pay",
  other: "Between 95 % and 98 % the month is paid in proportion.",
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
    "Below the lower boundary the month pays nothing, and it counts towards rotation out of the validator set.",
  pay: "any pay",
  other: "Below 95 % the month pays nothing, and counts towards rotation.",
  least: 0.95,
  misses: 128_000,
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

const STATUS =
  "Oracle status, 2026-11\n======================\n\nLast poll: 2026-11-22 05:53:38 UTC.\n\nValidator      Month  Tier          Pay      Full pay is lost after an outage of  All pay is lost after an outage of\n---------  ---------  ------------  -------  -----------------------------------  ----------------------------------\ndefault    97.1200 %  proportional  2120.00  lost                                 21 h 40 min";

const FORECAST =
  "Forecast of 2026-11\n===================\n\nValidator        Now        Low   Expected       High  Tier          Pay\n---------  ---------  ---------  ---------  ---------  ------------  -------\ndefault    97.1200 %  97.0100 %  97.6000 %  97.9000 %  proportional  2600.00\n\nRotation: no risk; 0 months in a row without pay before this one, 0 of the last five.";

const WHAT_IF =
  "What if: an outage of 1 h, now\n==============================\n\nValidator  Missed  Month without  Month with  Tier without  Tier with  Cost\n---------  ------  -------------  ----------  ------------  ---------  ------\ndefault     1,800      98.0412 %   97.9020 %  full          proportional  98.00";

const HANDOVER =
  "Handover, 2026-11-21 17:53 to 2026-11-22 05:53 UTC\n==================================================\n\nThe shift\n---------\n\nTimeline (UTC)\n--------------";

const CAUSE = "Fix what costs the blocks first: the other firing alert has its own runbook.";

/** The end of a month whose calls ended: what it lost remains. */
const lost: AlertCase = {
  fires: [call("Success", 0), { ...call("Failure", 0), jump: 1_000_000 }],
  clears: [{ series: SUCCESSES, from: 1_000_000_000 }],
  trueAfter: "7h",
};

/** A month at one call per second, `misses` of which were bad on the first day. */
const atRisk = (misses: number): AlertCase => ({
  fires: [call("Success", 60), { ...call("Failure", 0), jump: misses }],
  clears: [{ series: SUCCESSES, from: 1_000_000_000 }],
  trueAfter: "7h",
  onlyPromtool: "what remains depends on the day of the month",
});

const burnt = (resolves: string): AlertCase => ({ fires: failing, clears: succeeding, resolves });
const low: AlertCase = { fires: failing, clears: [{ series: SUCCESSES, from: 1_000_000_000 }] };

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
    runbook: {
      reason: "it was below the lower boundary in 2026-10, and this month will be too",
      checks: [
        see(
          "How the month will end, and which months count already:",
          "forecast",
          FORECAST.replace("no risk; 0 months", "next; 1 month"),
        ),
        see("Whether a single outage would decide it:", "whatIf", WHAT_IF),
      ],
      fix: [
        "Cancel every planned restart of this month, of node and sidecar.",
        "Write to the DAO before the month ends: what failed, what changed, and the report of each bad month as evidence.",
        "The chain's own count decides. When it differs from the watchdog's, collect the difference now.",
      ],
      after: ["Keep the sealed reports of the bad months: their hash shows that nobody changed them."],
    },
    evaluate: ({ assessment }) => evaluateRotation(assessment),
  }),
];

function boundaryConditions(texts: BoundaryTexts): readonly Condition[] {
  const { boundary, prefix, reward, severity, impact, pay, other, least, misses, lesser } = texts;
  const left = `validator:oracle_month:misses_left{boundary="${boundary}"}`;
  const enough = `on (chain_id, validator) validator:oracle_month:calls >= ${ENOUGH_BLOCKS}`;
  const burns = (window: BadShareWindow, factor: number): string =>
    `${badShare(window)} > ${factor} * ${ALLOWED[boundary]}`;
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
      runbook: {
        reason: "the month is 1204 blocks below the boundary",
        checks: [
          see("The boundary is lost, and the other one is what is left to defend:", "status", STATUS),
          see("What cost it, in the order of time:", "handover", HANDOVER),
        ],
        fix: [
          `Nothing brings ${pay} back this month. ${other}`,
          prefix === "full-reward"
            ? "Do maintenance that costs blocks now rather than next month, within the headroom that is left to any pay."
            : "Do the maintenance that you put off now: further misses of this month cost nothing more.",
          "Fix the cause before the next month begins at 00:00 UTC on its first day.",
        ],
        after: [
          "Write down what the month lost, from the month's report, and what would have prevented it.",
          prefix === "any-reward"
            ? "Read the rotation risk: see [rotation-risk](rotation-risk.md)."
            : "Check that the alerts of the lower boundary still notify.",
        ],
      },
      raw: {
        expr: () => `${left} < 0 and ${enough}`,
        value: "The month ends {{ $value | humanize }} calls below the boundary.",
        example: lost,
      },
      evaluate: ({ assessment }) => evaluateLost(assessment, boundary),
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
      runbook: {
        reason: prefix === "any-reward" ? "the rate is 94.8100 %" : "the rate is 97.1200 %",
        checks: [
          see("Rate, tier and what is left:", "status", STATUS),
          see("Is it still falling, or is this the past of the month?", "forecast", FORECAST),
        ],
        fix: [
          CAUSE,
          "Nothing else fires: the loss is over, and the rate recovers with every good block. Do not touch the machines.",
          `Below the boundary early in the month, the rest can still bring ${pay} back: the needed rate is on the dashboard.`,
        ],
        after: ["Put off planned restarts until the headroom is larger than they cost."],
      },
      raw: {
        expr: () => `validator:oracle_month:success_ratio < ${least} and ${enough}`,
        value: "The month's rate is {{ $value | humanizePercentage }}.",
        example: low,
      },
      evaluate: ({ assessment }, limit) => evaluateRate(assessment, boundary, limit("min_blocks")),
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
          initial: 4 * HOUR_MS,
          description: "time of a total outage until the boundary",
        },
        min_blocks: MIN_BLOCKS,
      },
      inhibits: [],
      past: "counts",
      runbook: {
        reason: `the month will end at ${prefix === "any-reward" ? "94.9" : "97.6"}000 %; 4120 more missed blocks are allowed, 2.3 h of a total outage`,
        checks: [
          see("How the month will end, with its band:", "forecast", FORECAST),
          see("What an hour would cost now:", "whatIf", WHAT_IF),
        ],
        fix: [
          CAUSE,
          "Stop planned work: the headroom in hours is what an accident may take.",
          prefix === "any-reward"
            ? "Prepare the reserve: a second node that is in sync, and a person who can reach it at any hour."
            : "Decide which restarts of this month can wait for the next one.",
        ],
        after: ["Raise `min_headroom` when your repairs take longer than it."],
      },
      raw: {
        expr: () =>
          `${left} / on (chain_id, validator) group_left () (validator:oracle_calls:rate6h > 0) < 4 * 3600 and ${left} >= 0 and ${enough}`,
        value: "A total outage of {{ $value | humanizeDuration }} would cross the boundary.",
        example: atRisk(misses),
      },
      evaluate: ({ assessment }, limit) => evaluateRisk(assessment, boundary, limit),
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
      runbook: {
        reason: "the last 1h burned the month's allowance 18.2 times too fast",
        checks: [
          see(
            "Blocks are being lost now. Which part fails?",
            "calls",
            'app_oracle_responses{chain_id="neutron-1",status="Failure"} 611',
          ),
          see("What is left until the boundary:", "status", STATUS),
        ],
        fix: [
          CAUSE,
          "No other alert fires: calls fail now and then. See the latency of the calls, and [sidecar-slow](sidecar-slow.md).",
          `At this speed the allowance for ${pay} is gone in ${prefix === "any-reward" ? "about two days; a total outage takes 36 h" : "hours; a total outage takes 14 h"} of a whole month's.`,
        ],
        after: ["The alert ends five minutes after the loss, although the last hour still shows it."],
      },
      raw: {
        expr: () =>
          `(${burns("1h", 14.4)} and ${burns("5m", 14.4)}) or (${burns("6h", 6)} and ${burns("5m", 6)})`,
        value: "{{ $value | humanizePercentage }} of the calls fail.",
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
      title: `Missed blocks burn ${reward} slowly`,
      when: "the last three days used the month's allowance `three_days_factor` times too fast, and the last six hours still do",
      for: "1h",
      resolveFor: "1h",
      thresholds: {
        three_days_factor: { unit: "number", initial: 1, description: "burn rate of the last three days" },
      },
      inhibits: [],
      past: "counts",
      runbook: {
        reason: "the last 3 days burned the month's allowance 1.4 times too fast",
        checks: [
          see("When were the misses: always, or at certain hours?", "handover", HANDOVER),
          see("What the month will end at when it goes on like this:", "forecast", FORECAST),
        ],
        fix: [
          "Misses at fixed hours: backups, snapshots, pruning or cron jobs on the node's or the sidecar's machine. Move them or lower their priority.",
          "Misses all the time: latency between node and sidecar, or a provider that makes the loop slow.",
          `It is not urgent: decide within the day, before it is about ${pay}.`,
        ],
        after: ["Compare the misses of the days before and after the change in the month's report."],
      },
      raw: {
        expr: () => `${burns("3d", 1)} and ${burns("6h", 1)}`,
        value: "{{ $value | humanizePercentage }} of the calls of the last 3 days failed.",
        example: burnt("8h"),
      },
      evaluate: ({ assessment }, limit) => evaluateSlowBurn(assessment, boundary, limit("three_days_factor")),
    }),
  ];
}
