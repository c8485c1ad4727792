import { checkLeaf, checkStep } from "./check-spec.ts";
import type { HashText } from "./hash-text.ts";
import { sha256Leaf, sha256Step } from "./hashing.ts";
import { MAX_DEPTH, SDK_SPECS } from "./proof-spec.ts";
import type { ExistenceProof, InnerOp } from "./proof-types.ts";
import { createRootMemo, type KnownWay, type TakenStep } from "./root-memo.ts";

const [IAVL_SPEC] = SDK_SPECS;

/** Follows the path of one proof, step by step as it is read. */
export interface Climb {
  /** The rest of the path, from the step that starts at `start` to the proof's end, when it is known. */
  readonly findRest: (start: number) => KnownWay | undefined;
  /** Checks and applies a step that was read; false when it is not as the spec says. */
  readonly take: (step: InnerOp) => boolean;
  /** The root, when the path was read to its end; remembers it. */
  readonly finish: () => HashText | undefined;
}

/**
 * Follows the paths of IAVL proofs while they are read, so that steps that are known need not be read. Gives nothing
 * for a proof whose leaf is not as the spec says: why not is for `conformingRoot` to tell.
 */
export type PathClimber = (proof: ExistenceProof) => Climb | undefined;

/** A climber that remembers what it followed; see `RootMemo`. */
export function createPathClimber(): PathClimber {
  const memo = createRootMemo();
  return (proof) => {
    const leafHash = hashLeaf(proof);
    if (leafHash === undefined) return undefined;
    const taken: TakenStep[] = [];
    let hash: HashText = leafHash;
    let way: KnownWay | undefined;
    return {
      findRest: (start) => {
        const layer = taken.length + 1;
        const found = memo.find(hash, { bytes: proof.bytes, start, end: proof.end }, layer);
        if (found === undefined || taken.length + found.path.length - found.from > MAX_DEPTH)
          return undefined;
        way = found;
        return found;
      },
      take: (step) => {
        const height = checkStep(step, taken.length + 1, IAVL_SPEC);
        if (typeof height === "string") return false;
        taken.push({ child: hash, height });
        hash = sha256Step(step, hash);
        return true;
      },
      finish: () => {
        if (proof.path.length > MAX_DEPTH) return undefined;
        const above = way ?? { root: hash, highestLayer: Number.POSITIVE_INFINITY };
        memo.keep({ path: proof.path, end: proof.end, taken, above });
        return above.root;
      },
    };
  };
}

function hashLeaf(proof: ExistenceProof): HashText | undefined {
  const { leaf } = proof;
  if (leaf === undefined || checkLeaf(proof, leaf, IAVL_SPEC) !== undefined) return undefined;
  if (proof.keyStart === proof.keyEnd || proof.valueStart === proof.valueEnd) return undefined;
  return sha256Leaf(proof, leaf);
}
