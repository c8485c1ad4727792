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
  impact: "Below the upper boundary each missed block lowers the month's pay.",
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
    "Below the lower boundary the month pays nothing, and is one of the bad months that lead to rotation out of the validator set.",
  pay: "any pay",
  other: "Below 95 % the month pays nothing, and is one of the bad months that lead to rotation.",
  least: 0.95,
  misses: 128_000,
  lesser: ["full-reward-at-risk", "full-reward-fast-burn", "full-reward-slow-burn", "full-reward-rate-low"],
};

const ACTION =
  "Find the cause of the missed blocks: sidecar, node or network. Postpone planned work until the headroom is larger.";

/** Burn rates of the usual alerts: 2 % of a month's allowance in an hour, 5 % in six hours, 10 % in three days. */
const FAST_1H = 14.4;
const FAST_6H = 6;

const MIN_BLOCKS = {
  unit: "number",
  initial: Number(ENOUGH_BLOCKS),
  description: "with fewer blocks in the month the alert does not fire",
} as const;

const STATUS =
  "Oracle status, 2026-11\n======================\n\nLast poll: 2026-11-22 05:53:38 UTC.\n\nValidator      Month  Tier          Pay      Full pay is lost after an outage of  All pay is lost after an outage of\n---------  ---------  ------------  -------  -----------------------------------  ----------------------------------\ndefault    97.1200 %  proportional  2120.00  lost                                 21 h 40 min";

const FORECAST =
  "Forecast of 2026-11\n===================\n\nValidator        Now        Low   Expected       High  Tier          Pay\n---------  ---------  ---------  ---------  ---------  ------------  -------\ndefault    97.1200 %  97.0100 %  97.6000 %  97.9000 %  proportional  2600.00\n\nRotation: no risk; 0 months in a row without pay before this one, 0 of the last five.";

const WHAT_IF =
  "What if: an outage of 1 h, now\n==============================\n\nValidator  Missed  Month without  Month with  Tier without  Tier with  Cost\n---------  ------  -------------  ----------  ------------  ---------  ------\ndefault     1,800      98.0412 %   97.9020 %  full          proportional  98.00";

const HANDOVER =
  "Handover, 2026-11-21 17:53 to 2026-11-22 05:53 UTC\n==================================================\n\nThe shift\n---------\n\nTimeline (UTC)\n--------------";

const CAUSE = "Fix the cause of the missed blocks first: follow the runbook of the other firing alert.";

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
    when: "so many months of the validator ended below the lower boundary that it may be rotated out, or that it may be if this month ends below it too",
    description:
      "A validator below the lower boundary in 2 months in a row, or in 3 of 6, may be rotated out of the validator set.",
    impact: "Rotation ends all pay.",
    action:
      "Avoid further missed blocks this month, and explain the earlier months to the DAO before it decides.",
    for: "10m",
    resolveFor: "1h",
    thresholds: {},
    inhibits: [],
    past: "counts",
    runbook: {
      reason: "it was below the lower boundary in 2026-10, and this month will be too",
      checks: [
        see(
          "The forecast of this month, and the earlier bad months:",
          "forecast",
          FORECAST.replace("no risk; 0 months", "next; 1 month"),
        ),
        see("The cost of one more outage:", "whatIf", WHAT_IF),
      ],
      fix: [
        "Cancel every planned restart of this month, of node and sidecar.",
        "Before the month ends, explain to the DAO what failed and what you changed. Add the report of each bad month as evidence.",
        "Compare the watchdog's count with the chain's own count, which decides. If they differ, save both now.",
      ],
      after: ["Save the sealed reports of the bad months: their hashes prove that nobody changed them."],
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
  const common = {
    impact,
    action: ACTION,
    description: `The validator gets ${reward} only if the month's success rate ends at or above the boundary.`,
  };
  const own = (suffix: string): string => `${prefix}-${suffix}`;
  return [
    condition({
      ...common,
      name: own("lost"),
      severity,
      title: `This month loses ${reward}`,
      when: "the month will end below the boundary even without a further missed block",
      action: "Nothing can restore this month's pay. Prepare the next month, and check the rotation risk.",
      for: "10m",
      resolveFor: "1h",
      thresholds: {},
      inhibits: [own("rate-low"), own("at-risk"), own("fast-burn"), own("slow-burn"), ...lesser],
      past: "counts",
      runbook: {
        reason: "the month is 1204 blocks below the boundary",
        checks: [
          see(
            "The state of both boundaries: this one is lost, the other may still be safe.",
            "status",
            STATUS,
          ),
          see("The causes, in order of time:", "handover", HANDOVER),
        ],
        fix: [
          `Accept this month's loss: nothing can restore ${pay}. ${other}`,
          prefix === "full-reward"
            ? "Do maintenance that costs blocks now rather than next month, but stay within the headroom to any pay."
            : "Do postponed maintenance now: further misses this month cost nothing more.",
          "Fix the cause before the next month begins at 00:00 UTC on its first day.",
        ],
        after: [
          "Write down the month's loss from its report, and the change that would have prevented it.",
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
          see("Rate, tier and headroom:", "status", STATUS),
          see("Is the rate still falling, or is the loss over?", "forecast", FORECAST),
        ],
        fix: [
          CAUSE,
          "If no other alert fires, do not change anything: the loss is over, and the rate recovers with every good block.",
          `Early in the month, check on the dashboard the rate that the rest of the month needs: ${pay} may still be possible.`,
        ],
        after: ["Postpone planned restarts until the headroom is larger than their cost."],
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
      when: "at the rate of recent days the month will end below the boundary, or a total outage of `min_headroom` would cross it",
      for: "10m",
      resolveFor: "1h",
      thresholds: {
        min_headroom: {
          unit: "duration",
          initial: 4 * HOUR_MS,
          description: "total outage that would cross the boundary",
        },
        min_blocks: MIN_BLOCKS,
      },
      inhibits: [own("rate-low"), ...lesser],
      past: "counts",
      runbook: {
        reason: `the month will end at ${prefix === "any-reward" ? "94.9" : "97.6"}000 %; 4120 more missed blocks are allowed, 2.3 h of a total outage`,
        checks: [
          see("The forecast of the month's end, with its range:", "forecast", FORECAST),
          see("The cost of an outage of one hour:", "whatIf", WHAT_IF),
        ],
        fix: [
          CAUSE,
          "Stop planned work: the headroom is the longest outage that you can still afford.",
          prefix === "any-reward"
            ? "Prepare the reserve: a second node that is in sync, and a person who can reach it at any hour."
            : "Decide which restarts of this month can wait for the next one.",
        ],
        after: ["If your repairs take longer than `min_headroom`, raise it."],
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
      inhibits: [own("slow-burn"), own("at-risk"), own("rate-low"), ...lesser],
      past: "counts",
      runbook: {
        reason: "the last 1h burned the month's allowance 18.2 times too fast",
        checks: [
          see(
            "The validator is losing blocks now. Run this twice: does Failure grow?",
            "calls",
            'app_oracle_responses{chain_id="neutron-1",status="Failure"} 611',
          ),
          see("The headroom to the boundary:", "status", STATUS),
        ],
        fix: [
          CAUSE,
          "If no other alert fires, calls fail from time to time. Check the calls' latency, and follow [sidecar-slow](sidecar-slow.md).",
          `Act within hours: a total outage of ${prefix === "any-reward" ? "36 h" : "14 h"} uses the whole month's allowance for ${pay}.`,
        ],
        after: [
          "The alert is resolved soon after the loss ends, although the last hour's burn rate is still high.",
        ],
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
          see("Do misses occur all the time, or at certain hours?", "handover", HANDOVER),
          see("The forecast of the month's end at this rate:", "forecast", FORECAST),
        ],
        fix: [
          "If misses occur at fixed hours, search for backups, snapshots, pruning or cron jobs on the node's or the sidecar's machine. Move them or lower their priority.",
          "If misses occur all the time, check the latency between node and sidecar, and search for a provider that slows the price loop down.",
          `Decide within the day, before ${pay} is at risk.`,
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
