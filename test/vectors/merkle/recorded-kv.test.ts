import { decodeMerkleProof } from "../../../src/cosmos/merkle/ics23/decode-proof.ts";
import { describe, expect, it } from "vitest";
import type { Result } from "../../../src/platform/base/errors.ts";
import type { ProofFailure } from "../../../src/cosmos/merkle/ics23/proof-types.ts";
import { createProofVerifier, type ProofItem } from "../../../src/cosmos/merkle/ics23/proof-verifier.ts";
import {
  verifyMembership,
  verifyNonMembership,
} from "../../../src/cosmos/merkle/ics23/verify-merkle-proof.ts";
import { type RecordedProof, readRecordedProofs } from "../../support/merkle/recorded-proofs.ts";

const cases = readRecordedProofs();
const proven = cases.filter((recorded) => recorded.expect.kind !== "query refused");

function resultOf(recorded: RecordedProof): Result<void, ProofFailure> {
  const proof = decodeMerkleProof(recorded.operations);
  if (!proof.ok) return proof;
  const claim = { root: recorded.root, store: recorded.store, key: recorded.key, proof: proof.value };
  return recorded.expect.kind === "membership"
    ? verifyMembership(claim, recorded.value)
    : verifyNonMembership(claim);
}

function itemOf({ store, key, value, operations, expect: { kind } }: RecordedProof): ProofItem {
  return { store, key, value: kind === "membership" ? value : undefined, operations };
}

function asRecorded(recorded: RecordedProof): {
  readonly valid: boolean;
  readonly error?: string | undefined;
} {
  return { valid: recorded.expect.valid, error: recorded.expect.error };
}

function asResult(result: Result<void, ProofFailure>): ReturnType<typeof asRecorded> {
  return { valid: result.ok, error: result.ok ? undefined : result.error.text };
}

describe("recorded proofs of key-value queries", () => {
  it("are all in the file", () => {
    expect(cases).toHaveLength(51);
    expect(proven.filter((recorded) => recorded.expect.valid)).toHaveLength(42);
    expect(proven.filter((recorded) => !recorded.expect.valid)).toHaveLength(7);
  });

  it.each(proven)("have Go's result and error text: $name", (recorded) => {
    expect(asResult(resultOf(recorded))).toEqual(asRecorded(recorded));
  });

  it("have the same results with one verifier for all, twice", () => {
    const verifier = createProofVerifier();
    for (const recorded of [...proven, ...proven]) {
      const result = verifier.verify(recorded.root, itemOf(recorded));
      expect(asResult(result)).toEqual(asRecorded(recorded));
    }
  });

  it("have codes of their own if the query cannot be proven", () => {
    const codes = proven.flatMap((recorded) => {
      const result = resultOf(recorded);
      return result.ok ? [] : [result.error.code];
    });
    expect(codes).toEqual([
      "empty-neighbour",
      "empty-value",
      "empty-tree",
      "empty-neighbour",
      "empty-value",
      "empty-tree",
      "empty-tree",
    ]);
  });

  it("have no operations if the node refused the query", () => {
    const refused = cases.filter((recorded) => recorded.expect.kind === "query refused");
    expect(refused).toHaveLength(2);
    for (const recorded of refused) {
      expect(`${recorded.log}: unknown request`).toContain(recorded.expect.error);
      expect(decodeMerkleProof(recorded.operations)).toEqual({
        ok: false,
        error: { code: "no-proof", text: "tendermint proof is nil: invalid merkle proof" },
      });
    }
  });
});
