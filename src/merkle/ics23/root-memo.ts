import { Buffer } from "node:buffer";
import type { HashText } from "./hash-text.ts";
import type { InnerOp } from "./proof-types.ts";

/** Memory for copies of paths is taken in pieces of this size. */
const COPY_BYTES = 64 * 1024;

/** A path that is longer is not worth keeping: 128 steps as the specs want them take less. */
const MAX_PATH_BYTES = 16 * 1024;

/** Encoded steps, and nothing else: what the bytes hold from `start` to `end`. */
export interface PathRange {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** A root, and what is known about the steps that lead to it. */
export interface KnownRoot {
  readonly root: HashText;
  /** The steps are as the spec says when the first of them is at most at this layer. */
  readonly highestLayer: number;
}

/** Steps that were followed from a child's hash to a root: those of `path` from `from` on. The bytes belong to the memo. */
export interface KnownWay extends PathRange, KnownRoot {
  readonly path: readonly InnerOp[];
  readonly from: number;
}

/** A step that was checked and applied: the hash below it, and the height that its prefix names. */
export interface TakenStep {
  readonly child: HashText;
  readonly height: number;
}

/** What following a path has shown: `taken` are its first steps, `above` what is known from there on. */
export interface FollowedPath {
  readonly path: readonly InnerOp[];
  readonly end: number;
  readonly taken: readonly TakenStep[];
  readonly above: KnownRoot;
}

/**
 * Remembers, for one spec, which steps lead from a child's hash to a root. Proofs of one tree share their upper steps, so
 * that most of them need to be read and followed once.
 *
 * It holds only what hashing has shown, and is asked with the child's hash and all bytes of the remaining steps: what a
 * proof brings in can never change the answer for another. Its size is bounded; when it is full it starts anew.
 */
export interface RootMemo {
  /** The way up from `child` when these remaining steps are known, and fit the spec with the first of them at `layer`. */
  readonly find: (child: HashText, steps: PathRange, layer: number) => KnownWay | undefined;
  readonly keep: (followed: FollowedPath) => void;
}

/** An empty memo. `maxWays` and `maxBytes` are when it starts anew; a valid path is below 16 kB. */
export function createRootMemo({ maxWays = 8192, maxBytes = 4 * 1024 * 1024 } = {}): RootMemo {
  const ways = new Map<HashText, KnownWay>();
  const copyPath = createPathCopier();
  let held = 0;
  return {
    find: (child, steps, layer) => {
      const way = ways.get(child);
      return way !== undefined && layer <= way.highestLayer && sameBytes(way, steps) ? way : undefined;
    },
    keep: (followed) => {
      const [first] = followed.path;
      const { taken, end } = followed;
      if (first === undefined || taken.length === 0) return;
      const size = end - first.start;
      if (size > MAX_PATH_BYTES) return;
      if (ways.size + taken.length > maxWays || held + size > maxBytes) {
        ways.clear();
        held = 0;
      }
      held += size;
      addWays(ways, followed, copyPath({ bytes: first.bytes, start: first.start, end }));
    },
  };
}

function sameBytes(way: PathRange, { bytes, start, end }: PathRange): boolean {
  return (
    end - start === way.end - way.start && bytes.compare(way.bytes, way.start, way.end, start, end) === 0
  );
}

/** Copies paths one behind the other: memory of its own for each would cost more than the copying. */
function createPathCopier(): (path: PathRange) => PathRange {
  let copies = Buffer.alloc(0);
  let used = 0;
  return ({ bytes, start, end }) => {
    if (used + end - start > copies.length) {
      copies = Buffer.allocUnsafeSlow(COPY_BYTES);
      used = 0;
    }
    const copyStart = used;
    used += bytes.copy(copies, used, start, end);
    return { bytes: copies, start: copyStart, end: used };
  };
}

function addWays(ways: Map<HashText, KnownWay>, followed: FollowedPath, copy: PathRange): void {
  const { taken, above } = followed;
  const { bytes, end } = copy;
  const path = followed.path.slice();
  let { highestLayer } = above;
  for (let from = taken.length - 1; from >= 0; from--) {
    const [step, below] = [path[from], taken[from]];
    if (step === undefined || below === undefined) return;
    const moved = moveStep(step, bytes, end - followed.end);
    path[from] = moved;
    highestLayer = Math.min(below.height, highestLayer - 1);
    ways.set(below.child, { bytes, start: moved.start, end, root: above.root, highestLayer, path, from });
  }
}

/** The same step in other bytes, `by` further on. */
function moveStep(step: InnerOp, bytes: Buffer, by: number): InnerOp {
  return {
    bytes,
    start: step.start + by,
    hash: step.hash,
    prefixStart: step.prefixStart + by,
    prefixEnd: step.prefixEnd + by,
    suffixStart: step.suffixStart + by,
    suffixEnd: step.suffixEnd + by,
  };
}
