import type { ValidatorSet } from "../../../cosmos/comet/block-types.ts";
import { rotateProposer } from "../../../cosmos/comet/validator-set.ts";
import type { HeightRecord } from "../storage/block-codec.ts";
import type { BlockStore } from "../storage/block-store.ts";

/**
 * A set is stored whenever it changes, and at each multiple of this number. Reads compute the sets in between, so this is also
 * the maximum number of rotations per read.
 */
const STORE_EVERY = 64n;

/** Returns the validator sets to store with a block: either the set for `height` or none. */
export function setsToKeep(
  height: bigint,
  set: ValidatorSet,
  changed: boolean,
): HeightRecord["validatorSets"] {
  return changed || height % STORE_EVERY === 0n ? [{ height, set }] : [];
}

/**
 * Returns the validator set for a height, with proposer and priorities, or undefined if no set is stored at or below that height.
 * Takes at most 64 rotations.
 */
export function validatorsAt(store: BlockStore, height: bigint): ValidatorSet | undefined {
  const stored = store.validatorSetAtOrBelow(height);
  if (stored === undefined) return undefined;
  let set = stored.set;
  // One call per height, since each call also rescales and centers the priorities. This repeats what the engine did.
  for (let at = stored.height; at < height; at++) set = rotateProposer(set, 1);
  return set;
}
