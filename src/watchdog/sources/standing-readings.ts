import type { Dec18 } from "../../platform/base/decimal.ts";

export interface SlashingParams {
  readonly windowBlocks: bigint;
  /** Minimum share of the window's blocks that a validator must sign. */
  readonly minSigned: Dec18;
  /** How long a validator is jailed for downtime. */
  readonly jailMs: number;
}

/** The chain's record of one validator's signatures. */
export interface SigningInfo {
  /** Height at which the validator last entered the set. */
  readonly startHeight: bigint;
  /** Number of blocks since the window began. */
  readonly indexOffset: bigint;
  readonly missedBlocks: bigint;
  /** End of the last jail; 0 if never jailed for downtime or a double sign. */
  readonly jailedUntilMs: number;
  readonly isTombstoned: boolean;
}

/** How the number of missed blocks in the window changed over a number of blocks. */
export interface MissGrowth {
  /** Negative if more old misses left the window than new ones entered it. */
  readonly missed: bigint;
  /** Greater than zero. */
  readonly blocks: bigint;
  /** True if no more blocks are missed than leave the window: the last ten or more blocks show no growth. Absent if unknown. */
  readonly isOver?: boolean;
}

/** What the slashing module shows about the validator. */
export interface SlashingReading {
  readonly params: SlashingParams;
  /** Absent if the chain has no record of the address because it was never in the set. */
  readonly info?: SigningInfo;
  /** State according to the staking module. Absent if no operator address is configured, or if the chain does not know it. */
  readonly isJailed?: boolean;
  /** Consensus address of the operator's current key if it differs from the configured one. Absent if equal or unknown. */
  readonly rotatedTo?: string;
  /** The faster growth over the last minute and the last five minutes. Absent if there are too few readings. */
  readonly growth?: MissGrowth;
  /** Present only while the validator is jailed. */
  readonly unjail?: UnjailTerms;
}

/** Input to the command that ends a jail. */
export interface UnjailTerms {
  /** The chain's program: "neutrond". */
  readonly program: string;
  /** Bech32 account of the operator. Absent if unknown. */
  readonly from?: string;
  /** "0.0053untrn". Absent if the chain has no fee market, or if the price could not be read. */
  readonly gasPrice?: string;
}

/** How many of the other validators missed what this validator missed. */
export interface SharedMisses {
  /** Number of commits or votes compared. */
  readonly seen: number;
  /** How many of these the validator missed. If 0, the other validators are compared over all of them. */
  readonly missed: number;
  /** Number of other validators in the set. */
  readonly others: number;
  /** Number of other validators that missed at least half of the compared blocks or votes. */
  readonly missing: number;
  /** Voting power of the other validators, and of the ones that missed. Absent if unknown. */
  readonly power?: { readonly others: bigint; readonly missing: bigint };
}

/** "signing": the signing window. "blocks", "votes": the basis of the chain's payments, or the node's vote counters. */
export const MEASURES = ["signing", "blocks", "votes"] as const;

export type Measure = (typeof MEASURES)[number];

/** A validator compared with the others in its set. */
export interface PeerComparison {
  readonly measure: Measure;
  /** Start of the period: "signing window", "payment period", "start of the node". */
  readonly since: string;
  readonly own: Share;
  /** Rank; 1 if no other validator is better. Equal shares have equal ranks. */
  readonly rank: number;
  /** Number of validators compared, including this one; at least two. */
  readonly compared: number;
  /** Number of other validators that are not better. */
  readonly notBetter: number;
  /** Of the other validators' shares. */
  readonly median: Share;
}

/** An exact share of blocks or votes. */
export interface Share {
  readonly good: bigint;
  /** Greater than zero. */
  readonly total: bigint;
}

/** The validator compared with the others in its set, as last read. */
export interface PeersReading {
  readonly atMs: number;
  readonly comparisons: readonly PeerComparison[];
  /** Why measures are missing, as full sentences without a trailing period. */
  readonly notes: readonly string[];
}
