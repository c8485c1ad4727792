import { type RunbookBody, see } from "../../../platform/monitoring/alerts/runbook-spec.ts";

const STATUS =
  "Oracle status, 2026-11\n======================\n\nLast poll: 2026-11-22 05:53:38 UTC.\n\nValidator      Month  Tier          Pay      Full pay is lost after an outage of  All pay is lost after an outage of\n---------  ---------  ------------  -------  -----------------------------------  ----------------------------------\ndefault    97.1200 %  proportional  2120.00  lost                                 21 h 40 min";
const FORECAST =
  "Forecast of 2026-11\n===================\n\nValidator        Now        Low   Expected       High  Tier          Pay\n---------  ---------  ---------  ---------  ---------  ------------  -------\ndefault    97.1200 %  97.0100 %  97.6000 %  97.9000 %  proportional  2600.00\n\nRotation: no risk; 0 months in a row without pay before this one, 0 of the last five.";
const WHAT_IF =
  "What if: an outage of 1 h, now\n==============================\n\nValidator  Missed  Month without  Month with  Tier without  Tier with  Cost\n---------  ------  -------------  ----------  ------------  ---------  ------\ndefault     1,800      98.0412 %   97.9020 %  full          proportional  98.00";
const HANDOVER =
  "Handover, 2026-11-21 17:53 to 2026-11-22 05:53 UTC\n==================================================\n\nThe shift\n---------\n\nTimeline (UTC)\n--------------";
const CAUSE = "Fix what costs the blocks first: the other firing alert has its own runbook.";

/** The two boundaries in the texts of their runbooks. */
const BOUNDARIES = [
  {
    prefix: "any-reward",
    reward: "any pay",
    other: "Below 95 % the month pays nothing, and counts towards rotation.",
  },
  {
    prefix: "full-reward",
    reward: "full pay",
    other: "Between 95 % and 98 % the month is paid in proportion.",
  },
] as const;

/** Runbooks of rate and pay: the same five for each boundary, and rotation. */
export const REWARD_RUNBOOKS: Readonly<Record<string, RunbookBody>> = {
  ...Object.fromEntries(BOUNDARIES.flatMap(boundaryRunbooks)),
  "rotation-risk": {
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
};

function boundaryRunbooks({
  prefix,
  reward,
  other,
}: (typeof BOUNDARIES)[number]): readonly (readonly [string, RunbookBody])[] {
  return [
    [
      `${prefix}-lost`,
      {
        reason: "the month is 1204 blocks below the boundary",
        checks: [
          see("The boundary is lost, and the other one is what is left to defend:", "status", STATUS),
          see("What cost it, in the order of time:", "handover", HANDOVER),
        ],
        fix: [
          `Nothing brings ${reward} back this month. ${other}`,
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
    ],
    [
      `${prefix}-rate-low`,
      {
        reason: prefix === "any-reward" ? "the rate is 94.8100 %" : "the rate is 97.1200 %",
        checks: [
          see("Rate, tier and what is left:", "status", STATUS),
          see("Is it still falling, or is this the past of the month?", "forecast", FORECAST),
        ],
        fix: [
          CAUSE,
          "Nothing else fires: the loss is over, and the rate recovers with every good block. Do not touch the machines.",
          `Below the boundary early in the month, the rest can still bring ${reward} back: the needed rate is on the dashboard.`,
        ],
        after: ["Put off planned restarts until the headroom is larger than they cost."],
      },
    ],
    [
      `${prefix}-at-risk`,
      {
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
    ],
    [
      `${prefix}-fast-burn`,
      {
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
          `At this speed the allowance for ${reward} is gone in ${prefix === "any-reward" ? "about two days; a total outage takes 36 h" : "hours; a total outage takes 14 h"} of a whole month's.`,
        ],
        after: ["The alert ends five minutes after the loss, although the last hour still shows it."],
      },
    ],
    [
      `${prefix}-slow-burn`,
      {
        reason: "the last 3 days burned the month's allowance 1.4 times too fast",
        checks: [
          see("When were the misses: always, or at certain hours?", "handover", HANDOVER),
          see("What the month will end at when it goes on like this:", "forecast", FORECAST),
        ],
        fix: [
          "Misses at fixed hours: backups, snapshots, pruning or cron jobs on the node's or the sidecar's machine. Move them or lower their priority.",
          "Misses all the time: latency between node and sidecar, or a provider that makes the loop slow.",
          `It is not urgent: decide within the day, before it is about ${reward}.`,
        ],
        after: ["Compare the misses of the days before and after the change in the month's report."],
      },
    ],
  ];
}
