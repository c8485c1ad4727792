import { Buffer } from "node:buffer";
import type { HashText } from "./hashing.ts";
import type { ExistenceProof, InnerOp } from "./proof-types.ts";

/** Memory for copies of paths is taken in pieces of this size. */
const COPY_BYTES = 64 * 1024;

/** A path that is longer is not worth keeping: 128 steps as the specs want them take less. */
const MAX_PATH_BYTES = 16 * 1024;

/**
 * Steps that were followed from a child's hash to a root. They are what the bytes, which belong to the memo, hold from
 * `start` to `end`.
 */
interface KnownWay {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly root: HashText;
  /** The steps are as the spec says when the first of them is at most at this layer. */
  readonly highestLayer: number;
}

/** A step that was checked and applied: the hash below it, and the height that its prefix names. */
export interface TakenStep {
  readonly child: HashText;
  readonly height: number;
}

/**
 * Remembers, for one spec, which steps lead from a child's hash to a root. Proofs of one tree share their upper steps, so
 * that most of them need to be followed once.
 *
 * It holds only what hashing has shown, and is asked with the child's hash and all bytes of the remaining steps: what a
 * proof brings in can never change the answer for another. Its size is bounded; when it is full it starts anew.
 */
export interface RootMemo {
  /** The root above `child` when the steps from `index` on are known, and fit the spec at this layer. */
  readonly find: (proof: ExistenceProof, index: number, child: HashText) => KnownRoot | undefined;
  /** Keeps what was found: `taken` are the proof's first steps, `above` what is known from there on. */
  readonly keep: (proof: ExistenceProof, taken: readonly TakenStep[], above: KnownRoot) => void;
}

/** A root, and what is known about the steps that lead to it. */
export interface KnownRoot {
  readonly root: HashText;
  readonly highestLayer: number;
}

/** An empty memo. `maxWays` and `maxBytes` are when it starts anew; a valid path is below 16 kB. */
export function createRootMemo({ maxWays = 8192, maxBytes = 4 * 1024 * 1024 } = {}): RootMemo {
  const ways = new Map<HashText, KnownWay>();
  const copyPath = createPathCopier();
  let held = 0;
  return {
    find: (proof, index, child) => {
      const way = ways.get(child);
      const step = proof.path[index];
      return way !== undefined && step !== undefined && matches(way, proof, step, index) ? way : undefined;
    },
    keep: (proof, taken, above) => {
      const [first] = proof.path;
      if (!proof.inOnePiece || first === undefined || taken.length === 0) return;
      const size = proof.end - first.start;
      if (size > MAX_PATH_BYTES) return;
      if (ways.size + taken.length > maxWays || held + size > maxBytes) {
        ways.clear();
        held = 0;
      }
      held += size;
      addWays(ways, { proof, taken, above, copy: copyPath(proof, first.start) });
    },
  };
}

function matches(way: KnownWay, proof: ExistenceProof, step: InnerOp, index: number): boolean {
  if (!proof.inOnePiece || index + 1 > way.highestLayer) return false;
  return (
    proof.end - step.start === way.end - way.start &&
    proof.bytes.compare(way.bytes, way.start, way.end, step.start, proof.end) === 0
  );
}

/** A path's bytes, up to `end`. */
interface PathCopy {
  readonly bytes: Buffer;
  readonly end: number;
}

/** Copies paths one behind the other: memory of its own for each would cost more than the copying. */
function createPathCopier(): (proof: ExistenceProof, start: number) => PathCopy {
  let bytes = Buffer.alloc(0);
  let end = 0;
  return (proof, start) => {
    if (end + proof.end - start > bytes.length) {
      bytes = Buffer.allocUnsafeSlow(COPY_BYTES);
      end = 0;
    }
    end += proof.bytes.copy(bytes, end, start, proof.end);
    return { bytes, end };
  };
}

function addWays(
  ways: Map<HashText, KnownWay>,
  found: {
    readonly proof: ExistenceProof;
    readonly taken: readonly TakenStep[];
    readonly above: KnownRoot;
    readonly copy: PathCopy;
  },
): void {
  const { proof, taken, above } = found;
  const { bytes, end } = found.copy;
  let { highestLayer } = above;
  for (let index = taken.length - 1; index >= 0; index--) {
    const [step, below] = [proof.path[index], taken[index]];
    if (step === undefined || below === undefined) return;
    highestLayer = Math.min(below.height, highestLayer - 1);
    const start = end - (proof.end - step.start);
    ways.set(below.child, { bytes, start, end, root: above.root, highestLayer });
  }
}
