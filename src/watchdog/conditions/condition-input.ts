import type { BlockCounts } from "../ledger/block-counts.ts";
import type { Observation } from "../sources/observation.ts";
import type { Assessment } from "../policy/assessment.ts";
import type { Trail } from "./trail.ts";

/** Input of all conditions: one poll of one validator, and what the ledger and the policy say after it. */
export interface ConditionInput {
  readonly observation: Observation;
  /** What earlier polls showed, and this one. */
  readonly trail: Trail;
  /** Blocks of the last minutes by result of their oracle call. */
  readonly recent: Readonly<Record<"5m" | "30m", BlockCounts>>;
  /** Undefined before the first counted block. */
  readonly assessment: Assessment | undefined;
  /** Pairs that the chain needs most: "BTC/USD". */
  readonly majorPairs: readonly string[];
}
