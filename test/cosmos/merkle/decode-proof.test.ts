import { describe, expect, it } from "vitest";
import { concat, fromHex, encodeUvarint } from "../../../src/platform/base/bytes.ts";
import {
  decodeCommitmentProof,
  decodeMerkleProof,
  MAX_PROOF_BYTES,
  MAX_STEPS,
} from "../../../src/cosmos/merkle/ics23/decode-proof.ts";

function decoded(hex: string) {
  const proof = decodeCommitmentProof(fromHex(hex));
  if (!proof.ok) return proof.error;
  if (proof.value.kind === "nonexist") {
    const { left, right } = proof.value.nonexist;
    return { kind: "nonexist", left: left?.path.length, right: right?.path.length };
  }
  if (proof.value.kind !== "exist") return { kind: proof.value.kind };
  const { bytes, keyStart, keyEnd, path } = proof.value.exist;
  return { kind: "exist", key: bytes.toString("hex", keyStart, keyEnd), steps: path.length };
}

/** Encodes a proof with empty steps and nothing else. */
function withSteps(count: number): Uint8Array {
  const steps = concat(...Array.from({ length: count }, () => fromHex("2200")));
  return concat(fromHex("0a"), encodeUvarint(steps.length), steps);
}

describe("proof decoder", () => {
  it("decodes every kind of proof", () => {
    expect(decoded("0a00")).toEqual({ kind: "exist", key: "", steps: 0 });
    expect(decoded("0a050a01aa2200")).toEqual({ kind: "exist", key: "aa", steps: 1 });
    expect(decoded("1200")).toEqual({ kind: "nonexist", left: undefined, right: undefined });
    expect(decoded("120412022200")).toEqual({ kind: "nonexist", left: 1, right: undefined });
    expect(decoded("1a00")).toEqual({ kind: "batch" });
    expect(decoded("2200")).toEqual({ kind: "compressed" });
    expect(decoded("220a0a080a06220281012001")).toEqual({ kind: "compressed" });
  });

  it("uses the last proof and the last key, and merges a neighbour that occurs twice", () => {
    expect(decoded("12000a00")).toEqual({ kind: "exist", key: "", steps: 0 });
    expect(decoded("0a060a01aa0a01bb")).toEqual({ kind: "exist", key: "bb", steps: 0 });
    expect(decoded("12081a0222001a022200")).toEqual({ kind: "nonexist", left: undefined, right: 2 });
  });

  it("merges a neighbour that occurs many times in linear time", () => {
    const steps = concat(...Array.from({ length: MAX_STEPS }, () => fromHex("2200")));
    const left = concat(fromHex("12"), encodeUvarint(steps.length), steps);
    const again = new Uint8Array(1_000_000).map((_, index) => (index % 2 === 0 ? 0x12 : 0x00));
    const content = concat(left, again);
    const proof = concat(fromHex("12"), encodeUvarint(content.length), content);
    const start = process.cpuUsage();
    expect(decodeCommitmentProof(proof)).toMatchObject({ ok: true });
    const { user, system } = process.cpuUsage(start);
    // 500,000 copies of the path took about two seconds.
    expect((user + system) / 1_000).toBeLessThan(400);
  });

  it("skips unknown fields", () => {
    expect(decoded("28013203aabbcc39010203040506070845010203044b08014c0a00")).toEqual({
      kind: "exist",
      key: "",
      steps: 0,
    });
  });

  it.each([
    ["", "<nil>"],
    ["2801", "<nil>"],
    ["0a", "unexpected EOF"],
    ["0a01", "unexpected EOF"],
    ["0a020a01", "unexpected EOF"],
    ["0affffffffffffffffff01", "proto: negative length found during unmarshaling"],
    ["0affffffffffffffffff7f", "proto: negative length found during unmarshaling"],
    ["0affffffffffffffffffff01", "proto: integer overflow"],
    ["0a8080808010", "unexpected EOF"],
    ["08", "proto: wrong wireType = 0 for field Exist"],
    ["0c", "proto: CommitmentProof: wiretype end group for non-group"],
    ["02", "proto: CommitmentProof: illegal tag 0 (wire type 2)"],
    ["0a0102", "proto: ExistenceProof: illegal tag 0 (wire type 2)"],
    ["8280808080808080800100", "proto: CommitmentProof: illegal tag 0 (wire type 9223372036854775810)"],
    ["2f", "proto: illegal wireType 7"],
    ["2b", "unexpected EOF"],
    ["2b34", "<nil>"],
    ["29010203", "unexpected EOF"],
    ["0a0422020880", "unexpected EOF"],
    ["1a020a01", "unexpected EOF"],
    ["22070a050a03220180", "unexpected EOF"],
  ])("returns Go's error text for %j", (hex, text) => {
    expect(decoded(hex)).toBe(text);
  });

  it("limits the size of a proof and the number of steps", () => {
    expect(decodeCommitmentProof(new Uint8Array(MAX_PROOF_BYTES + 1))).toEqual({
      ok: false,
      error: "a proof of 4194305 bytes is too large",
    });
    expect(decodeCommitmentProof(withSteps(MAX_STEPS)).ok).toBe(true);
    expect(decodeCommitmentProof(withSteps(MAX_STEPS + 1))).toEqual({
      ok: false,
      error: "a path of more than 1024 steps",
    });
  });

  it("names the index of a malformed operation", () => {
    expect(decodeMerkleProof([fromHex("0a00"), fromHex("0a")])).toEqual({
      ok: false,
      error: {
        code: "malformed-proof",
        text: "could not unmarshal proof op into CommitmentProof at index 1: unexpected EOF: invalid merkle proof",
      },
    });
    expect(decodeMerkleProof([])).toEqual({ ok: true, value: [] });
  });
});
