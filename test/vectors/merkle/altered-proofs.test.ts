import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { concat, fromHex } from "../../../src/platform/base/bytes.ts";
import { createProofVerifier, type ProofVerifier } from "../../../src/cosmos/merkle/ics23/proof-verifier.ts";
import { type RecordedProof, readRecordedProofs } from "../../support/merkle/recorded-proofs.ts";

interface Edit {
  readonly op: number;
  readonly at: number;
  readonly xor?: number;
  readonly del?: number;
  readonly ins?: string;
}

interface AlteredProof {
  readonly case: number;
  readonly kind: "membership" | "non-membership";
  readonly edits: readonly Edit[];
  readonly error?: string;
}

const altered: readonly AlteredProof[] = JSON.parse(
  readFileSync(new URL("altered-proofs.json", import.meta.url), "utf8"),
);
const recorded = readRecordedProofs();

function apply(bytes: Uint8Array, { at, xor = 0, del = 0, ins = "" }: Edit): Uint8Array {
  const flipped = bytes.slice();
  flipped[at] = (flipped[at] ?? 0) ^ xor;
  return concat(flipped.slice(0, at), fromHex(ins), flipped.slice(at + del));
}

function operationsOf(source: RecordedProof, edits: readonly Edit[]): readonly Uint8Array[] {
  return (source.operations ?? []).map((operation, index) =>
    edits.filter((edit) => edit.op === index).reduce(apply, operation),
  );
}

function textOf(verifier: ProofVerifier, { case: index, kind, edits }: AlteredProof): string | undefined {
  const source = recorded[index];
  if (source === undefined) throw new Error(`no recorded case ${index}`);
  const { root, store, key } = source;
  const value = kind === "membership" ? source.value : undefined;
  const result = verifier.verify(root, { store, key, value, operations: operationsOf(source, edits) });
  return result.ok ? undefined : result.error.text;
}

describe("altered proofs", () => {
  it("are all in the file", () => {
    expect(altered).toHaveLength(3398);
    expect(altered.filter((proof) => proof.error === undefined)).toHaveLength(100);
  });

  it("have Go's results and error texts with a new verifier for each", () => {
    expect(altered.filter((proof) => textOf(createProofVerifier(), proof) !== proof.error)).toEqual([]);
  });

  it("have Go's results and error texts with one verifier for all", () => {
    const verifier = createProofVerifier();
    expect(altered.filter((proof) => textOf(verifier, proof) !== proof.error)).toEqual([]);
  });

  it("have Go's results and error texts with a verifier that has cached the unaltered proofs", () => {
    const verifier = createProofVerifier();
    const accepted = recorded.filter(({ root, store, key, value, operations, expect: { kind } }) => {
      const claimed = kind === "membership" ? value : undefined;
      return verifier.verify(root, { store, key, value: claimed, operations }).ok;
    });
    expect(accepted).toHaveLength(42);
    expect(altered.filter((proof) => textOf(verifier, proof) !== proof.error)).toEqual([]);
  });
});
