import { Buffer } from "node:buffer";
import type { HashText } from "./hash-text.ts";
import type { InnerOp } from "./proof-types.ts";

/** Memory for copies of paths is taken in pieces, each twice as large as the one before it. */
const MIN_PIECE_BYTES = 2 * 1024;
const MAX_PIECE_BYTES = 64 * 1024;

/** A path that is longer is not worth keeping: 128 steps as the specs want them take less. */
const MAX_PATH_BYTES = 16 * 1024;

/** Encoded steps, and nothing else: what the bytes hold from `start` to `end`. */
interface PathRange {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** A root, and what is known about the steps that lead to it. */
interface KnownRoot {
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

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * What following a path has shown. The memo takes the first steps over: they then refer to its copy of the bytes. `taken` are
 * these first steps, `above` what is known from there on.
 */
interface FollowedPath {
  readonly path: readonly Draft<InnerOp>[];
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
      const wanted = Math.min(2 * copies.length, MAX_PIECE_BYTES);
      copies = Buffer.allocUnsafeSlow(Math.max(wanted, end - start, MIN_PIECE_BYTES));
      used = 0;
    }
    const copyStart = used;
    used += bytes.copy(copies, used, start, end);
    return { bytes: copies, start: copyStart, end: used };
  };
}

function addWays(ways: Map<HashText, KnownWay>, followed: FollowedPath, copy: PathRange): void {
  const { path, taken, above } = followed;
  const { bytes, end } = copy;
  let { highestLayer } = above;
  for (let from = taken.length - 1; from >= 0; from--) {
    const [step, below] = [path[from], taken[from]];
    if (step === undefined || below === undefined) return;
    moveStep(step, bytes, end - followed.end);
    highestLayer = Math.min(below.height, highestLayer - 1);
    ways.set(below.child, { bytes, start: step.start, end, root: above.root, highestLayer, path, from });
  }
}

/** Moves a step to where its bytes are, `by` further on, in a copy. */
function moveStep(step: Draft<InnerOp>, bytes: Buffer, by: number): void {
  step.bytes = bytes;
  step.start += by;
  step.prefixStart += by;
  step.prefixEnd += by;
  step.suffixStart += by;
  step.suffixEnd += by;
}
