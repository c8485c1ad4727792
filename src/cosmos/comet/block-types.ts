/*
 * Types for block data. Times are bigints, in nanoseconds since the Unix epoch, because times are hashed and signed with
 * nanosecond precision. A number would be exact only up to 2^53 ns, which is 104 days.
 */

/** Number and Merkle root of a block's parts. */
export interface PartSetHeader {
  readonly total: number;
  readonly hash: Uint8Array;
}

/** A block's id: the header's hash and the part set's header. In a vote for nil, both are empty. */
export interface BlockId {
  readonly hash: Uint8Array;
  readonly parts: PartSetHeader;
}

/** A block header. Hashes are 32 bytes long or empty, except for `appHash`, which may have any length. */
export interface Header {
  readonly version: { readonly block: bigint; readonly app: bigint };
  readonly chainId: string;
  readonly height: bigint;
  readonly timeNs: bigint;
  readonly lastBlockId: BlockId;
  readonly lastCommitHash: Uint8Array;
  readonly dataHash: Uint8Array;
  readonly validatorsHash: Uint8Array;
  readonly nextValidatorsHash: Uint8Array;
  readonly consensusHash: Uint8Array;
  readonly appHash: Uint8Array;
  readonly lastResultsHash: Uint8Array;
  readonly evidenceHash: Uint8Array;
  readonly proposerAddress: Uint8Array;
}

export const BLOCK_ID_FLAG = { absent: 1, commit: 2, nil: 3 } as const;

/** One validator's precommit in a commit. If the validator did not vote, the fields are empty and the time is Go's zero time (year 1). */
export interface CommitSig {
  readonly flag: number;
  readonly validatorAddress: Uint8Array;
  readonly timestampNs: bigint;
  readonly signature: Uint8Array;
}

/** The precommits for a block: one entry per validator, in validator-set order. */
export interface Commit {
  readonly height: bigint;
  readonly round: number;
  readonly blockId: BlockId;
  readonly signatures: readonly CommitSig[];
}

/**
 * A validator. The public key is ed25519 (32 bytes) or compressed secp256k1 (33 bytes), and the address is 20 bytes long.
 * `priority` determines which validator proposes next.
 */
export interface Validator {
  readonly address: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly power: bigint;
  readonly priority: bigint;
}

/** Validators ordered by descending power, then ascending address. `proposer` is undefined only if the set is empty. */
export interface ValidatorSet {
  readonly validators: readonly Validator[];
  readonly proposer: Validator | undefined;
}

export interface SignedHeader {
  readonly header: Header;
  readonly commit: Commit;
}

const EMPTY = new Uint8Array(0);

export const NO_BLOCK_ID: BlockId = { hash: EMPTY, parts: { total: 0, hash: EMPTY } };
