import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromHex } from "../../../src/platform/base/bytes.ts";
import { createProofVerifier, type ProofVerifier } from "../../../src/cosmos/merkle/ics23/proof-verifier.ts";

interface RecombinedProof {
  readonly name: string;
  readonly root: string;
  readonly store: string;
  readonly key: string;
  readonly value: string | null;
  readonly ops: readonly string[];
  readonly error?: string;
}

const cases: readonly RecombinedProof[] = JSON.parse(
  readFileSync(new URL("recombined-proofs.json", import.meta.url), "utf8"),
);

function textOf(
  verifier: ProofVerifier,
  { root, store, key, value, ops }: RecombinedProof,
): string | undefined {
  const result = verifier.verify(fromHex(root), {
    store,
    key: fromHex(key),
    value: value === null ? undefined : fromHex(value),
    operations: ops.map(fromHex),
  });
  return result.ok ? undefined : result.error.text;
}

describe("recombined proofs", () => {
  it("are all in the file", () => {
    expect(cases).toHaveLength(605);
    expect(cases.filter((proof) => proof.error === undefined)).toHaveLength(114);
  });

  it("have Go's results and error texts with a new verifier for each", () => {
    expect(cases.filter((proof) => textOf(createProofVerifier(), proof) !== proof.error)).toEqual([]);
  });

  it("have Go's results and error texts with one verifier for all", () => {
    const verifier = createProofVerifier();
    expect(cases.filter((proof) => textOf(verifier, proof) !== proof.error)).toEqual([]);
  });
});
