import type { Severity } from "../../platform/monitoring/severity.ts";
import { type Boundary, ENOUGH_BLOCKS } from "../policy/reward-tier.ts";

/** One boundary in texts. */
export interface BoundaryTexts {
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

export const FULL: BoundaryTexts = {
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

export const ANY: BoundaryTexts = {
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
  lesser: [
    "full-reward-headroom-low",
    "full-reward-at-risk",
    "full-reward-fast-burn",
    "full-reward-slow-burn",
    "full-reward-rate-low",
  ],
};

const ACTION =
  "Find the cause of the missed blocks: sidecar, node or network. Postpone planned work until the headroom is larger.";

export const MIN_BLOCKS = {
  unit: "number",
  initial: Number(ENOUGH_BLOCKS),
  description: "with fewer blocks in the month the alert does not fire",
} as const;

export const STATUS =
  "Oracle status, 2026-11\n======================\n\nLast poll: 2026-11-22 05:53:38 UTC.\n\nValidator      Month  Tier          Pay      Full pay is lost after an outage of  All pay is lost after an outage of\n---------  ---------  ------------  -------  -----------------------------------  ----------------------------------\ndefault    97.1200 %  proportional  2120.00  lost                                 21 h 40 min";

export const FORECAST =
  "Forecast of 2026-11\n===================\n\nValidator        Now        Low   Expected       High  Tier          Pay\n---------  ---------  ---------  ---------  ---------  ------------  -------\ndefault    97.1200 %  97.0100 %  97.6000 %  97.9000 %  proportional  2600.00\n\nRotation: no risk; 0 months in a row without pay before this one, 0 of the last five.";

export const WHAT_IF =
  "What if: an outage of 1 h, now\n==============================\n\nValidator  Missed  Month without  Month with  Tier without  Tier with  Cost\n---------  ------  -------------  ----------  ------------  ---------  ------\ndefault     1,800      98.0412 %   97.9020 %  full          proportional  98.00";

export const HANDOVER =
  "Handover, 2026-11-21 17:53 to 2026-11-22 05:53 UTC\n==================================================\n\nThe shift\n---------\n\nTimeline (UTC)\n--------------";

export const CAUSE =
  "Fix the cause of the missed blocks first: follow the runbook of the other firing alert.";

/** The parts that all conditions of a boundary share. */
export function commonTexts({ impact, reward }: BoundaryTexts) {
  return {
    impact,
    action: ACTION,
    description: `The validator gets ${reward} only if the month's success rate ends at or above the boundary.`,
  };
}
