import type { BlockId, Commit, ValidatorSet } from "../../comet/block-types.ts";

/** What the next block is built on. */
export interface ChainState {
  readonly chainId: string;
  /** Height of the last block; before the first one, the initial height less one. */
  readonly height: bigint;
  readonly initialHeight: bigint;
  readonly lastBlockId: BlockId;
  /** Time of the last block; before the first one, the genesis time. */
  readonly lastTimeNs: bigint;
  /** Commit for the last block; empty before the first. */
  readonly lastCommit: Commit;
  readonly lastValidators: ValidatorSet;
  /** Signs the next height. */
  readonly validators: ValidatorSet;
  /** Signs the height after the next. */
  readonly nextValidators: ValidatorSet;
  readonly appHash: Uint8Array;
  readonly lastResultsHash: Uint8Array;
}
