import type { CommitChanges } from "../../chain/store/state-storage.ts";
import type { Commit, ValidatorSet } from "../../comet/block-types.ts";
import type { StoredBlock, StoredResults } from "../node-view.ts";

/** Everything that one height adds; written in one durable transaction or not at all. */
export interface HeightRecord {
  readonly block: StoredBlock;
  /** The commit seen for this block (the next block carries it). */
  readonly seenCommit: Commit;
  readonly results: StoredResults;
  /** Validator set of a later height that is worth keeping (see `validator-history.ts`). */
  readonly validatorSets: readonly { readonly height: bigint; readonly set: ValidatorSet }[];
  readonly changes: CommitChanges;
}
