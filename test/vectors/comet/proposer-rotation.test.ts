import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/base/bytes.ts";
import {
  createValidatorSet,
  rotateProposer,
  updateValidatorSet,
} from "../../../src/comet/proposer-rotation.ts";
import type { ValidatorSet } from "../../../src/comet/block-types.ts";
import { readRecordedChain, recordedBlock } from "../../support/comet/recorded-chain.ts";

function priorities(set: ValidatorSet): readonly string[] {
  return set.validators.map((one) => `${toHex(one.address)} ${one.power} ${one.priority}`);
}

describe("proposer rotation of recorded chains", () => {
  const remote = readRecordedChain("test-2");
  const local = readRecordedChain("test-1");
  const setAt = (height: bigint): ValidatorSet => recordedBlock(remote, height).validatorSet;

  it("starts as CometBFT starts", () => {
    const first = setAt(1n);
    const made = createValidatorSet(first.validators.map(({ publicKey, power }) => ({ publicKey, power })));
    expect(priorities(made)).toEqual(priorities(first));
    expect(priorities(made).map((text) => text.split(" ").at(-1))).toEqual(["-6", "3", "2", "1"]);
  });

  it.each([1n, 2n, 3n, 4n, 5n, 6n, 7n, 97n, 98n, 99n, 100n, 101n])("from height %s goes one on", (height) => {
    expect(priorities(rotateProposer(setAt(height), 1))).toEqual(priorities(setAt(height + 1n)));
  });

  it.each([
    [8n, 20n],
    [20n, 40n],
    [40n, 60n],
    [60n, 97n],
  ])("from height %s reaches height %s", (from, to) => {
    expect(priorities(rotateProposer(setAt(from), Number(to - from)))).toEqual(priorities(setAt(to)));
  });

  it("takes validators out", () => {
    const gone = setAt(102n)
      .validators.slice(1)
      .map(({ publicKey }) => ({ publicKey, power: 0n }));
    expect(gone).toHaveLength(3);
    const left = rotateProposer(updateValidatorSet(setAt(102n), gone), 1);
    expect(priorities(left)).toEqual(priorities(setAt(103n)));
  });

  it("takes a validator in, behind all others", () => {
    const before = recordedBlock(local, 576n).validatorSet;
    const after = recordedBlock(local, 577n).validatorSet;
    const joined = rotateProposer(updateValidatorSet(before, after.validators), 1);
    expect(priorities(joined)).toEqual(priorities(after));
  });

  it.each([1n, 2n, 3n, 4n, 5n, 6n, 7n])("after height %s names the next block's proposer", (height) => {
    const next = recordedBlock(remote, height + 1n);
    expect(next.commit.round).toBe(0);
    const { proposer } = rotateProposer(setAt(height), 1);
    expect(toHex(proposer?.address ?? new Uint8Array(0))).toBe(toHex(next.header.proposerAddress));
  });
});
