import { Buffer } from "node:buffer";
import type { HashText, InnerOp } from "./proof-types.ts";

/** Minimum size of memory blocks for path copies. Each new block is twice as large, up to a maximum, unless a path needs more. */
const MIN_BLOCK_BYTES = 2 * 1024;
const MAX_BLOCK_BYTES = 64 * 1024;

/** Maximum size of a cached path in bytes. The 128 steps that the specs allow take up less space. */
const MAX_PATH_BYTES = 16 * 1024;

/** The encoded steps of a path, stored in `bytes` from `start` to `end`. */
interface PathRange {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** The root to which some steps of a path lead, and the result of checking these steps against the spec. */
interface ComputedRoot {
  readonly root: HashText;
  /** Maximum layer of the first step for which all steps conform to the spec. */
  readonly highestLayer: number;
}

/** A cached path. The path's steps, which are `path` from index `from` on, lead from a child hash to `root`. The cache owns `bytes`. */
export interface CachedPath extends PathRange, ComputedRoot {
  readonly path: readonly InnerOp[];
  readonly from: number;
}

/** Child hash of a step that was checked and hashed, and the height in the step's prefix. */
export interface AppliedStep {
  readonly child: HashText;
  readonly height: number;
}

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * A path that was followed to its root. `applied` contains the first steps, which were hashed. `above` is the result for the
 * remaining steps. The cache makes the first steps in `path` refer to the cache's copy of the bytes.
 */
interface FollowedPath {
  readonly path: readonly Draft<InnerOp>[];
  readonly end: number;
  readonly applied: readonly AppliedStep[];
  readonly above: ComputedRoot;
}

/**
 * Cache of computed roots for one spec. An entry maps a step's child hash to the encoded steps from this step on and to the
 * resulting root. Proofs in one tree share their upper steps, so most steps are read and hashed only once.
 *
 * A forged proof cannot change the result of another proof. The root and the result of the spec checks depend only on the child
 * hash, the bytes of the remaining steps and the layer. `find` compares all three in full. Entries come only from `add`, after the
 * steps have been checked and hashed. At worst, a forged proof replaces an entry, so that later proofs take longer to verify.
 */
export interface RootCache {
  /** Returns the cached path above `child` if its bytes equal `steps` and the first step may be at `layer`. */
  readonly find: (child: HashText, steps: PathRange, layer: number) => CachedPath | undefined;
  readonly add: (followed: FollowedPath) => void;
}

/**
 * Creates an empty cache, which is cleared when it would exceed `maxEntries`, or `maxBytes` of copied paths. Entries take up more
 * memory than the copies, so the total is about 10 MB with the defaults.
 */
export function createRootCache({ maxEntries = 8192, maxBytes = 4 * 1024 * 1024 } = {}): RootCache {
  const entries = new Map<HashText, CachedPath>();
  const copyPath = createPathCopier();
  let copiedBytes = 0;
  return {
    find: (child, steps, layer) => {
      const entry = entries.get(child);
      return entry !== undefined && layer <= entry.highestLayer && sameBytes(entry, steps)
        ? entry
        : undefined;
    },
    add: (followed) => {
      const [first] = followed.path;
      const { applied, end } = followed;
      // If no step was applied, the entire path came from the cache, so there is nothing to add.
      if (first === undefined || applied.length === 0) return;
      const size = end - first.start;
      if (size > MAX_PATH_BYTES) return;
      if (entries.size + applied.length > maxEntries || copiedBytes + size > maxBytes) {
        entries.clear();
        copiedBytes = 0;
      }
      copiedBytes += size;
      addEntries(entries, followed, copyPath({ bytes: first.bytes, start: first.start, end }));
    },
  };
}

function sameBytes(entry: PathRange, { bytes, start, end }: PathRange): boolean {
  return (
    end - start === entry.end - entry.start &&
    bytes.compare(entry.bytes, entry.start, entry.end, start, end) === 0
  );
}

/**
 * Creates a function that copies paths, because the caller may later change the received bytes. Copies share blocks of memory,
 * because an allocation per path would cost more than the copying. A full block stays alive while an entry or a decoded proof
 * refers to it.
 */
function createPathCopier(): (path: PathRange) => PathRange {
  let block = Buffer.alloc(0);
  let used = 0;
  return ({ bytes, start, end }) => {
    if (used + end - start > block.length) {
      const wanted = Math.min(2 * block.length, MAX_BLOCK_BYTES);
      block = Buffer.allocUnsafeSlow(Math.max(wanted, end - start, MIN_BLOCK_BYTES));
      used = 0;
    }
    const copyStart = used;
    used += bytes.copy(block, used, start, end);
    return { bytes: block, start: copyStart, end: used };
  };
}

/** Adds one cache entry per applied step. All entries share the copied bytes and the step list, and differ in their first step. */
function addEntries(entries: Map<HashText, CachedPath>, followed: FollowedPath, copy: PathRange): void {
  const { path, applied, above } = followed;
  const { bytes, end } = copy;
  let { highestLayer } = above;
  for (let from = applied.length - 1; from >= 0; from--) {
    const [step, below] = [path[from], applied[from]];
    if (step === undefined || below === undefined) return;
    moveStep(step, bytes, end - followed.end);
    // A step's layer must not exceed the height in its prefix, and must be one below the layer of the step above.
    highestLayer = Math.min(below.height, highestLayer - 1);
    entries.set(below.child, { bytes, start: step.start, end, root: above.root, highestLayer, path, from });
  }
}

/** Makes a step refer to the copy of its bytes. `by` is added to all positions in the step. */
function moveStep(step: Draft<InnerOp>, bytes: Buffer, by: number): void {
  step.bytes = bytes;
  step.start += by;
  step.prefixStart += by;
  step.prefixEnd += by;
  step.suffixStart += by;
  step.suffixEnd += by;
}
