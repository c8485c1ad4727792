import type { Dec18 } from "../../platform/base/decimal.ts";

export interface SlashingParams {
  readonly windowBlocks: bigint;
  /** Minimum share of the signing window's blocks that a validator must sign. */
  readonly minSigned: Dec18;
}

/** The slashing module's record of one validator's signatures. */
export interface SigningInfo {
  /** The height at which the validator last entered the set. */
  readonly startHeight: bigint;
  /** Number of blocks that the window has counted since it began. */
  readonly indexOffset: bigint;
  readonly missedBlocks: bigint;
  /** When the last jail time ended or will end; 0 if the validator was never jailed for downtime or a double sign. */
  readonly jailedUntilMs: number;
  readonly isTombstoned: boolean;
}

/** How the number of missed blocks in the signing window has changed over a number of blocks. */
export interface MissGrowth {
  /** Change in the number of missed blocks; negative if more old misses left the window than new misses entered it. */
  readonly missed: bigint;
  /** The number of blocks, which is greater than zero. */
  readonly blocks: bigint;
  /** True if the last ten or more blocks show no growth, i.e. if no more misses enter the window than leave it; absent if unknown. */
  readonly isOver?: boolean;
}

/** The validator's data from the slashing module. */
export interface SlashingReading {
  readonly params: SlashingParams;
  /** The signing info; absent if the chain has no signing info because the address was never in the set. */
  readonly info?: SigningInfo;
  /** True if jailed, according to the staking module; absent if no operator address is configured or known to the chain. */
  readonly isJailed?: boolean;
  /** Consensus address of the operator's current key if it differs from the configured one; absent if equal or unknown. */
  readonly rotatedTo?: string;
  /** Growth over the last minute or the last five minutes, whichever is faster; absent if there are too few readings. */
  readonly growth?: MissGrowth;
  /** Values for the command that releases the validator; absent unless the validator is jailed. */
  readonly unjail?: UnjailTerms;
}

/** Values for the command that releases a jailed validator. */
export interface UnjailTerms {
  /** Name of the chain's command-line program, such as "neutrond". */
  readonly program: string;
  /** The operator's bech32 account; absent if unknown. */
  readonly from?: string;
  /** The gas price, such as "0.0053untrn"; absent if the chain has no fee market or the price could not be read. */
  readonly gasPrice?: string;
}

/** How many other validators missed the commits or votes that this validator missed. */
export interface SharedMisses {
  /** Number of commits or votes in the comparison. */
  readonly seen: number;
  /**
   * Number of compared commits or votes that the validator missed. If this validator missed none, the others are compared over all `seen`
   * commits or votes.
   */
  readonly missed: number;
  /** Number of other validators in the set. */
  readonly others: number;
  /** Number of other validators that missed at least half of the compared commits or votes. */
  readonly missing: number;
  /** The voting power of all other validators, and of the validators counted in `missing`; absent if unknown. */
  readonly power?: { readonly others: bigint; readonly missing: bigint };
}

/**
 * The counts by which validators are compared. "signing": blocks signed in the signing window. "blocks" and "votes": the counts on which
 * the chain bases its payments. If the chain's counts are unknown, "votes" uses a node's vote counters.
 */
export const MEASURES = ["signing", "blocks", "votes"] as const;

export type Measure = (typeof MEASURES)[number];

/** A comparison of a validator with the other validators in its set. */
export interface PeerComparison {
  readonly measure: Measure;
  /** Where the compared period starts, namely "signing window", "payment period" or "start of the node". */
  readonly since: string;
  readonly own: Share;
  /** The validator's rank, which is 1 if no other validator performs better. Validators with equal shares have the same rank. */
  readonly rank: number;
  /** Number of validators compared, including this one; at least two. */
  readonly compared: number;
  /** Number of other validators with the same or a worse share. */
  readonly notBetter: number;
  /** The median of the other validators' shares. */
  readonly median: Share;
}

/** A share of blocks or votes, as an exact fraction. */
export interface Share {
  readonly good: bigint;
  /** Number of blocks or votes, which is greater than zero. */
  readonly total: bigint;
}

/** Comparisons of the validator with the other validators in its set, from the last successful reading. */
export interface PeersReading {
  readonly atMs: number;
  readonly comparisons: readonly PeerComparison[];
  /** Sentences without trailing periods that explain why comparisons by some measures are missing. */
  readonly notes: readonly string[];
}
