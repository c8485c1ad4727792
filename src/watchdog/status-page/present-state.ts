import type { BlockCounts } from "../ledger/block-counts.ts";
import { type LeastRates, successRate } from "../policy/reward-tier.ts";
import { isSymptom } from "../alerts/miss-causes.ts";
import { stateOf } from "./public-days.ts";
import { publicCause } from "./public-words.ts";

/** States of a validator, most serious first. */
export const PUBLIC_STATES = ["outage", "unknown", "degraded", "operational"] as const;

export type PublicState = (typeof PUBLIC_STATES)[number];

export interface Present {
  readonly state: PublicState;
  /** A sentence without its trailing period. */
  readonly text: string;
  /** Start and cause of an outage reported by an alert. */
  readonly outage?: { readonly sinceMs: number; readonly cause: string };
}

export interface OpenAlert {
  readonly alert: string;
  readonly severity: string;
  readonly phase: "pending" | "firing";
  readonly sinceMs: number;
}

export interface PresentInput {
  /** True if the last poll is old or could not read any node. */
  readonly isBlind: boolean;
  readonly alerts: readonly OpenAlert[];
  /** Counts of the blocks from the last five minutes. */
  readonly recent: BlockCounts;
  readonly least: LeastRates;
}

/**
 * Determines the current state. It is never operational if nothing can be seen, if there were no blocks, or while a critical
 * alert is firing or pending. Alerts about the month's pay say nothing about the current state.
 */
export function presentOf({ isBlind, alerts, recent, least }: PresentInput): Present {
  if (isBlind) return { state: "unknown", text: "No current data" };
  const critical = alerts
    .filter(({ alert, severity }) => severity === "critical" && !isSymptom(alert))
    .toSorted((a, b) => a.sinceMs - b.sinceMs);
  const firing = critical.find(({ phase }) => phase === "firing");
  if (firing !== undefined) {
    const { alert: cause, sinceMs } = firing;
    return { state: "outage", text: publicCause(cause), outage: { sinceMs, cause } };
  }
  const rate = successRate(recent);
  if (rate === undefined) return { state: "unknown", text: "No block was seen in the last five minutes" };
  const state = stateOf(rate, least);
  if (state === "bad") return { state: "outage", text: "Most recent blocks were missed" };
  if (state === "weak") return { state: "degraded", text: "Some recent blocks were missed" };
  if (critical.length > 0) return { state: "degraded", text: "A problem may be starting" };
  return { state: "operational", text: "Operational" };
}
