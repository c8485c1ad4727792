import type { BlockId, Commit, ValidatorSet } from "../../../cosmos/comet/block-types.ts";

/** The part of the chain's state that the next block depends on, like CometBFT's `state.State`. */
export interface ChainState {
  readonly chainId: string;
  /** Height of the last block. Before the first block: the initial height minus 1. */
  readonly height: bigint;
  readonly initialHeight: bigint;
  readonly lastBlockId: BlockId;
  /** Time of the last block. Before the first block: the genesis time. */
  readonly lastTimeNs: bigint;
  /** Commit for the last block. Empty before the first block. */
  readonly lastCommit: Commit;
  /** Signed the last block. */
  readonly lastValidators: ValidatorSet;
  /** Signs the next block. */
  readonly validators: ValidatorSet;
  /** Signs the block after the next one. */
  readonly nextValidators: ValidatorSet;
  readonly appHash: Uint8Array;
  readonly lastResultsHash: Uint8Array;
}
