import type { Dec18 } from "../../platform/base/decimal.ts";

/** Parameters of the slashing module. */
export interface SlashingParams {
  /** Blocks of the signing window. */
  readonly windowBlocks: bigint;
  /** Least share of them that a validator must sign. */
  readonly minSigned: Dec18;
  /** How long a validator is jailed for downtime. */
  readonly jailMs: number;
}

/** What the chain counts of one validator's signatures. */
export interface SigningInfo {
  /** Height at which it entered the set last. */
  readonly startHeight: bigint;
  /** Blocks since its window began. */
  readonly indexOffset: bigint;
  /** Missed blocks of the last window. */
  readonly missedBlocks: bigint;
  /** 0: it was never jailed for downtime, or for a double sign. */
  readonly jailedUntilMs: number;
  readonly isTombstoned: boolean;
}

/** How the missed blocks of the window changed over some blocks. */
export interface MissGrowth {
  /** Negative when more old misses left the window than new ones came. */
  readonly missed: bigint;
  /** Greater than zero. */
  readonly blocks: bigint;
  /** No more blocks are missed than leave the window: the last ten or more show no growth. Absent: not known. */
  readonly isOver?: boolean;
}

/** The slashing module's view of the validator. */
export interface SlashingReading {
  readonly params: SlashingParams;
  /** Absent: the chain has no record of the address, since it was never in the set. */
  readonly info?: SigningInfo;
  /** By the staking module. Absent: the configuration has no operator address, or the chain does not know it. */
  readonly isJailed?: boolean;
  /** Consensus address of the operator's present key, when the configured one is another. Absent: it is the same, or not known. */
  readonly rotatedTo?: string;
  /** The quickest growth of the last minute and of the last five. Absent: too few readings. */
  readonly growth?: MissGrowth;
  /** Only while it is jailed. */
  readonly unjail?: UnjailTerms;
}

/** What the command that ends a jail needs. */
export interface UnjailTerms {
  /** Program of the chain: "neutrond". */
  readonly program: string;
  /** Account of the operator, bech32. Absent: not known. */
  readonly from?: string;
  /** "0.0053untrn". Absent: the chain has no fee market. */
  readonly gasPrice?: string;
}

/** How many of the other validators missed what the validator missed. */
export interface SharedMisses {
  /** Commits or votes that were compared. */
  readonly seen: number;
  /** Those of them that the validator missed. 0: the others are compared over all. */
  readonly missed: number;
  /** Other validators of the set. */
  readonly others: number;
  /** Other validators that missed at least half of them. */
  readonly missing: number;
  /** Voting power of the others, and of those that missed. Absent: not known. */
  readonly power?: { readonly others: bigint; readonly missing: bigint };
}

/** What validators are compared by. */
export const MEASURES = ["signing", "blocks", "votes"] as const;

/** One of {@link MEASURES}. "signing": the signing window; "blocks", "votes": what the chain pays by, or for votes the node's counters. */
export type Measure = (typeof MEASURES)[number];

/** A validator among the others of its set. */
export interface PeerComparison {
  readonly measure: Measure;
  /** "signing window", "payment period", "start of the node". */
  readonly since: string;
  readonly own: Share;
  /** 1: no other one is better. Equal shares have the same rank. */
  readonly rank: number;
  /** Validators that were compared, with the own one; at least two. */
  readonly compared: number;
  /** Other validators that are not better. */
  readonly notBetter: number;
  /** Median of the others. */
  readonly median: Share;
}

/** A share of blocks or votes, exact. */
export interface Share {
  readonly good: bigint;
  /** Greater than zero. */
  readonly total: bigint;
}

/** The validator among the others of its set, as last read. */
export interface PeersView {
  readonly atMs: number;
  readonly comparisons: readonly PeerComparison[];
  /** Why a measure is missing, as full sentences without a period. */
  readonly notes: readonly string[];
}
