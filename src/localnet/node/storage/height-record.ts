import type { CommitChanges } from "../../chain/store/multi-store.ts";
import type { Commit, ValidatorSet } from "../../../cosmos/comet/block-types.ts";
import type { StoredBlock, StoredResults } from "../node-view.ts";

/** All data that one height adds to the store. */
export interface HeightRecord {
  readonly block: StoredBlock;
  /** Commit for this block. The next block contains it too, but a restart needs it before that. */
  readonly seenCommit: Commit;
  readonly results: StoredResults;
  /** Validator sets of later heights to store, usually none (see `setsToKeep`). */
  readonly validatorSets: readonly { readonly height: bigint; readonly set: ValidatorSet }[];
  readonly changes: CommitChanges;
}
