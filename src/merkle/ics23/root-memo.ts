import { Buffer } from "node:buffer";
import type { HashText } from "./hashing.ts";
import type { ExistenceProof, InnerOp } from "./proof-types.ts";

/** A path that is longer is not worth keeping: 128 steps as the specs want them take less. */
const MAX_PATH_BYTES = 16 * 1024;

/**
 * Steps that were followed from a child's hash to a root. They start at `bytes[start]` and go to the end of the bytes,
 * which belong to the memo.
 */
interface KnownWay {
  readonly bytes: Buffer;
  readonly start: number;
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
      const bytes = Buffer.from(proof.bytes.subarray(first.start, proof.end));
      addWays(ways, { proof, taken, above, bytes });
    },
  };
}

function matches(way: KnownWay, proof: ExistenceProof, step: InnerOp, index: number): boolean {
  if (!proof.inOnePiece || index + 1 > way.highestLayer) return false;
  return (
    proof.end - step.start === way.bytes.length - way.start &&
    proof.bytes.compare(way.bytes, way.start, way.bytes.length, step.start, proof.end) === 0
  );
}

function addWays(
  ways: Map<HashText, KnownWay>,
  found: {
    readonly proof: ExistenceProof;
    readonly taken: readonly TakenStep[];
    readonly above: KnownRoot;
    readonly bytes: Buffer;
  },
): void {
  const { proof, taken, above, bytes } = found;
  const offset = proof.path[0]?.start ?? 0;
  let { highestLayer } = above;
  for (let index = taken.length - 1; index >= 0; index--) {
    const { child, height } = taken[index] ?? { child: "", height: 0 };
    highestLayer = Math.min(height, highestLayer - 1);
    const start = (proof.path[index]?.start ?? 0) - offset;
    ways.set(child, { bytes, start, root: above.root, highestLayer });
  }
}
