import type { BlockCounts } from "../ledger/block-counts.ts";
import type { Observation } from "../observation.ts";
import type { Assessment } from "../policy/assessment.ts";
import type { Trail } from "./trail.ts";

/** Windows of the recent counts, ms. */
export const RECENT_WINDOWS = { "5m": 300_000, "30m": 1_800_000 } as const;

/** One of {@link RECENT_WINDOWS}. */
export type RecentWindow = keyof typeof RECENT_WINDOWS;

/** Input of all conditions: one poll of one validator, and what the ledger and the policy say after it. */
export interface ConditionInput {
  readonly observation: Observation;
  /** What earlier polls of this process showed, and this one. */
  readonly trail: Trail;
  /** Blocks by result of their oracle call. */
  readonly recent: Readonly<Record<RecentWindow, BlockCounts>>;
  /** Undefined before the first counted block. */
  readonly assessment: Assessment | undefined;
  /** Pairs that the chain needs most: "BTC/USD". */
  readonly majorPairs: readonly string[];
}
