import type { Dec18 } from "../../platform/base/decimal.ts";

export interface SlashingParams {
  readonly windowBlocks: bigint;
  /** The share of a window's blocks that a validator must sign. */
  readonly minSigned: Dec18;
  /** How long a validator is jailed for downtime. */
  readonly jailMs: number;
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

/** Change in the number of missed blocks in the window over a number of blocks. */
export interface MissGrowth {
  /** Change in the number of missed blocks; negative if more old misses left the window than new misses entered it. */
  readonly missed: bigint;
  /** The number of blocks, which is greater than zero. */
  readonly blocks: bigint;
  /**
   * True if the last ten or more blocks show no growth, i.e. at least as many misses leave the window as enter it. Absent if this
   * is unknown.
   */
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
  /** The faster of the growths over the last minute and the last five minutes; absent if there are too few readings. */
  readonly growth?: MissGrowth;
  /** The input for the command that releases the validator. Present only while the validator is jailed. */
  readonly unjail?: UnjailTerms;
}

/** The input for the command that releases a jailed validator. */
export interface UnjailTerms {
  /** The chain's program, e.g. "neutrond". */
  readonly program: string;
  /** The operator's bech32 account; absent if unknown. */
  readonly from?: string;
  /** The gas price, e.g. "0.0053untrn". Absent if the chain has no fee market or the price could not be read. */
  readonly gasPrice?: string;
}

/** How many other validators missed the commits or votes that this validator missed. */
export interface SharedMisses {
  /** Number of commits or votes compared. */
  readonly seen: number;
  /**
   * Number of compared commits or votes that the validator missed. If 0, the other validators are compared over all `seen` commits
   * or votes.
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
 * Measures by which validators are compared. "signing": the signing window. "blocks" and "votes": the counts on which the chain
 * bases its payments, or the node's vote counters.
 */
export const MEASURES = ["signing", "blocks", "votes"] as const;

export type Measure = (typeof MEASURES)[number];

/** A comparison of a validator with the other validators in its set. */
export interface PeerComparison {
  readonly measure: Measure;
  /** Start of the compared period: "signing window", "payment period" or "start of the node". */
  readonly since: string;
  readonly own: Share;
  /** The validator's rank, which is 1 if no other validator performs better. Equal shares have equal ranks. */
  readonly rank: number;
  /** Number of validators compared, including this one; at least two. */
  readonly compared: number;
  /** Number of other validators that perform no better. */
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

/** The last comparisons of the validator with the other validators in its set. */
export interface PeersReading {
  readonly atMs: number;
  readonly comparisons: readonly PeerComparison[];
  /** Explains why measures are missing, in full sentences without a trailing period. */
  readonly notes: readonly string[];
}
