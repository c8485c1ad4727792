import type { BlockCounts } from "../ledger/block-counts.ts";
import { type LeastRates, successRate, tierOf } from "../policy/reward-tier.ts";
import { isSymptom, NO_CAUSE } from "../alerts/miss-causes.ts";

/**
 * Causes of incidents in words for the public, without naming machines, programs or alerts. The keys are the names of conditions
 * and the kinds of ledger events.
 */
const WORDS: Readonly<Record<string, string>> = {
  "sidecar-down": "The price service did not respond",
  "oracle-calls-failing": "Requests for prices failed",
  "all-prices-missing": "No prices were available",
  "major-pairs-missing": "Important prices were missing",
  "empty-prices-counted": "The price service had no prices",
  "stale-price-timestamp": "Prices were out of date",
  "sidecar-too-slow": "The price service was too slow",
  "sidecar-slow": "The price service was too slow",
  "websocket-providers-failing": "Price providers failed",
  "grpc-closed": "The price service lost its connection",
  "egress-closed": "The network to the price providers failed",
  "chain-halted": "The chain made no blocks",
  "node-halted": "The node stopped",
  "node-behind": "The node was behind the chain",
  "not-in-validator-set": "The validator was not in the active set",
  "not-signing": "The validator did not sign blocks",
  "node-not-voting": "The validator did not take part in voting",
  "validator-jailed": "The chain suspended the validator",
  "validator-tombstoned": "The chain excluded the validator",
  "network-votes-missing": "Prices from many validators were missing",
  "sidecar-restart": "The price service restarted",
  "node-restart": "The node restarted",
  halt: "The chain made no blocks",
  gap: "Monitoring had no data",
  "two-nodes": "Monitoring had contradictory data",
  [NO_CAUSE]: "The cause is not known",
};

/** Describes a cause in words for the public, as a sentence without its trailing period. */
export function publicCause(cause: string): string {
  return Object.hasOwn(WORDS, cause) ? (WORDS[cause] ?? OTHER) : OTHER;
}

const OTHER = "A technical problem";

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
  const tier = tierOf(rate, least);
  if (tier === "none") return { state: "outage", text: "Most recent blocks were missed" };
  if (tier === "proportional") return { state: "degraded", text: "Some recent blocks were missed" };
  if (critical.length > 0) return { state: "degraded", text: "A problem may be starting" };
  return { state: "operational", text: "Operational" };
}
