import type { ValidatorSet } from "../../comet/block-types.ts";
import { rotateProposer } from "../../comet/proposer-rotation.ts";
import type { BlockStore } from "../storage/block-store.ts";
import type { HeightRecord } from "../storage/height-record.ts";

/** A set is kept at every change and at least this often; those between are computed by rotating. */
const KEEP_EVERY = 64n;

/** The set of a height that is worth keeping: after a change, or when the last kept one is far back. */
export function setsToKeep(
  height: bigint,
  set: ValidatorSet,
  changed: boolean,
): HeightRecord["validatorSets"] {
  return changed || height % KEEP_EVERY === 0n ? [{ height, set }] : [];
}

/** The validator set of a height, priorities included; undefined when none is kept at or below it. At most 64 rotations. */
export function validatorsAt(store: BlockStore, height: bigint): ValidatorSet | undefined {
  const kept = store.validatorSetAtOrBelow(height);
  if (kept === undefined) return undefined;
  let set = kept.set;
  for (let at = kept.height; at < height; at++) set = rotateProposer(set, 1);
  return set;
}
