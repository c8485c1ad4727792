import type { Severity } from "../../platform/monitoring/severity.ts";
import { type Boundary, ENOUGH_BLOCKS } from "../policy/reward-tier.ts";
import { threshold } from "./condition.ts";

/** Texts that describe one boundary. */
export interface BoundaryTexts {
  readonly boundary: Boundary;
  /** Prefix of the condition names. */
  readonly prefix: "full-reward" | "any-reward";
  /** "the full reward". */
  readonly reward: string;
  readonly severity: Severity;
  readonly impact: string;
  /** Minimum success rate, used by the rules on raw metrics. */
  readonly least: number;
  /** Number of misses per month that puts the boundary at risk, at one call per second. */
  readonly misses: number;
  /** Names of conditions that are less serious than those of this boundary. */
  readonly lesser: readonly string[];
}

export const FULL: BoundaryTexts = {
  boundary: "full",
  prefix: "full-reward",
  reward: "the full reward",
  severity: "warning",
  impact: "Below the upper boundary, each missed block lowers the month's pay.",
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

export const MIN_BLOCKS = threshold(
  "number",
  Number(ENOUGH_BLOCKS),
  "blocks that the month must have before the alert can fire",
);

/** Returns the parts shared by all conditions of a boundary. */
export function commonTexts({ impact, reward }: BoundaryTexts) {
  return {
    impact,
    action: ACTION,
    echo: "month" as const,
    past: "counts" as const,
    description: `The validator earns ${reward} only if its success rate ends the month at or above the boundary.`,
  };
}
