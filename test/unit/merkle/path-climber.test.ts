import { describe, expect, it } from "vitest";
import { concat, utf8 } from "../../../src/base/bytes.ts";
import { createIavlTree } from "../../../src/merkle/iavl/tree.ts";
import { conformingRoot } from "../../../src/merkle/ics23/conforming-root.ts";
import { decodeCommitmentProof } from "../../../src/merkle/ics23/decode-proof.ts";
import { toHashText } from "../../../src/merkle/ics23/hashing.ts";
import { createPathClimber, type PathClimber } from "../../../src/merkle/ics23/path-climber.ts";
import { SDK_SPECS } from "../../../src/merkle/ics23/proof-spec.ts";
import { encodeUvarint } from "../../../src/merkle/varint.ts";

const KEYS = 64;

function makeProofs() {
  const tree = createIavlTree();
  const keys = Array.from({ length: KEYS }, (_, index) => utf8(`key ${index}`));
  for (const key of keys) tree.set(key, utf8("value"));
  const view = tree.at(tree.commit().version);
  if (view === undefined) throw new Error("the committed version is not kept");
  return { root: toHashText(view.rootHash), proofs: keys.map((key) => view.proof(key)) };
}

function existence(encoded: Uint8Array, climber?: PathClimber) {
  const proof = decodeCommitmentProof(encoded, climber);
  if (!proof.ok || proof.value.kind !== "exist") throw new Error("not an existence proof");
  return proof.value.exist;
}

/** The steps' content, wherever their bytes are. */
function stepsOf(encoded: Uint8Array, climber?: PathClimber): readonly (readonly [number, string, string])[] {
  return existence(encoded, climber).path.map((step) => [
    step.hash,
    step.bytes.toString("hex", step.prefixStart, step.prefixEnd),
    step.bytes.toString("hex", step.suffixStart, step.suffixEnd),
  ]);
}

/** The proof with more behind its last step. */
function extended(encoded: Uint8Array, ...more: number[]): Uint8Array {
  const lengthBytes = (encoded[1] ?? 0) < 0x80 ? 1 : 2;
  const body = concat(encoded.subarray(1 + lengthBytes), Uint8Array.from(more));
  return concat(Uint8Array.of(0x0a), encodeUvarint(body.length), body);
}

describe("climber of paths", () => {
  const { root, proofs } = makeProofs();

  it("reads the same steps as without it, and finds the tree's root", () => {
    const climber = createPathClimber();
    expect(proofs).toHaveLength(KEYS);
    for (const proof of [...proofs, ...proofs]) {
      expect(stepsOf(proof, climber)).toEqual(stepsOf(proof));
      expect(existence(proof, climber).iavlRoot).toBe(root);
    }
  });

  it("shares the steps that proofs have in common", () => {
    const climber = createPathClimber();
    const tops = proofs.map((proof) => existence(proof, climber).path.at(-1));
    expect(new Set(tops).size).toBe(2);
  });

  it("finds no root where another field is behind the steps, whatever it knows", () => {
    const climber = createPathClimber();
    const [proof = new Uint8Array()] = proofs;
    existence(proof, climber);
    const [otherKey, unknown] = [extended(proof, 0x0a, 1, 0x61), extended(proof, 0x78, 1)];
    for (const altered of [otherKey, unknown]) {
      expect(existence(altered, climber).iavlRoot).toBeUndefined();
      expect(existence(altered, climber)).toEqual(existence(altered));
    }
    const plain = existence(otherKey);
    expect(conformingRoot(existence(otherKey, climber), SDK_SPECS[0])).toEqual(
      conformingRoot(plain, SDK_SPECS[0]),
    );
  });

  it("says the same as without it about a proof that is cut off", () => {
    const climber = createPathClimber();
    const [proof = new Uint8Array()] = proofs;
    existence(proof, climber);
    for (let length = 0; length < proof.length; length++) {
      const cut = proof.subarray(0, length);
      expect(decodeCommitmentProof(cut, climber)).toEqual(decodeCommitmentProof(cut));
    }
  });
});
