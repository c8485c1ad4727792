/** Root and number of the parts that a block was cut into. */
export interface PartSetHeader {
  readonly total: number;
  readonly hash: Uint8Array;
}

/** What a vote is for: the header's hash and the part set of the block. Both empty: no block. */
export interface BlockId {
  readonly hash: Uint8Array;
  readonly parts: PartSetHeader;
}

/** A block header. Hashes are 32 bytes or empty; `appHash` has any length; times are nanoseconds since the Unix epoch. */
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

/** Values of {@link CommitSig.flag}. */
export const BLOCK_ID_FLAG = { absent: 1, commit: 2, nil: 3 } as const;

/** One validator's precommit in a commit. Absent: everything empty and the time Go's zero time. */
export interface CommitSig {
  readonly flag: number;
  readonly validatorAddress: Uint8Array;
  readonly timestampNs: bigint;
  readonly signature: Uint8Array;
}

/** The precommits that made a block final, one entry per validator in the order of the validator set. */
export interface Commit {
  readonly height: bigint;
  readonly round: number;
  readonly blockId: BlockId;
  readonly signatures: readonly CommitSig[];
}

/** A validator: ed25519 public key (32 bytes), its address (20 bytes), voting power and proposer priority. */
export interface Validator {
  readonly address: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly power: bigint;
  readonly priority: bigint;
}

/** Validators by falling power, then address. `proposer` is one of them, undefined only in an empty set. */
export interface ValidatorSet {
  readonly validators: readonly Validator[];
  readonly proposer: Validator | undefined;
}

/** A header and the commit for it. */
export interface SignedHeader {
  readonly header: Header;
  readonly commit: Commit;
}

/** A signed header and the validators that signed it. */
export interface LightBlock extends SignedHeader {
  readonly validatorSet: ValidatorSet;
}

const EMPTY = new Uint8Array(0);

/** The block id of no block. */
export const NO_BLOCK_ID: BlockId = { hash: EMPTY, parts: { total: 0, hash: EMPTY } };
