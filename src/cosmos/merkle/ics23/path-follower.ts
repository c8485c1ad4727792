import { checkLeaf, checkStep } from "./check-spec.ts";
import { sha256Leaf, sha256Step } from "./hashing.ts";
import { MAX_DEPTH, SDK_SPECS } from "./proof-spec.ts";
import type { ExistenceProof, HashText, InnerOp } from "./proof-types.ts";
import { type AppliedStep, type CachedPath, createRootCache } from "./root-cache.ts";

const [IAVL_SPEC] = SDK_SPECS;

/** Follows the path of one proof while the decoder reads it. */
export interface PathRun {
  /** Returns the cached path that equals the remaining bytes, from `start` to the end of the proof, or undefined. */
  readonly findCached: (start: number) => CachedPath | undefined;
  /** Checks and hashes a decoded step. Returns false if the step does not conform to the spec. */
  readonly apply: (step: InnerOp) => boolean;
  /** Returns the root and adds the path to the cache. Returns undefined for a path that is too long. */
  readonly finish: () => HashText | undefined;
}

/**
 * Starts to follow the path of an IAVL proof whose leaf was read. The decoder then need not read steps that are cached.
 * Returns undefined if the leaf does not conform to the spec. `conformingRoot` finds the reason later.
 */
export type PathFollower = (proof: ExistenceProof) => PathRun | undefined;

/** Creates a follower with an empty cache of computed roots. */
export function createPathFollower(): PathFollower {
  const cache = createRootCache();
  return (proof) => {
    const leafHash = hashLeaf(proof);
    if (leafHash === undefined) return undefined;
    const applied: AppliedStep[] = [];
    let hash: HashText = leafHash;
    let cached: CachedPath | undefined;
    return {
      findCached: (start) => {
        const layer = applied.length + 1;
        const found = cache.find(hash, { bytes: proof.bytes, start, end: proof.end }, layer);
        // The same steps can be too deep under a longer lower part.
        if (found === undefined || applied.length + found.path.length - found.from > MAX_DEPTH)
          return undefined;
        cached = found;
        return found;
      },
      apply: (step) => {
        const height = checkStep(step, applied.length + 1, IAVL_SPEC);
        if (typeof height === "string") return false;
        applied.push({ child: hash, height });
        hash = sha256Step(step, hash);
        return true;
      },
      finish: () => {
        if (proof.path.length > MAX_DEPTH) return undefined;
        const above = cached ?? { root: hash, highestLayer: Number.POSITIVE_INFINITY };
        cache.add({ path: proof.path, end: proof.end, applied, above });
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
