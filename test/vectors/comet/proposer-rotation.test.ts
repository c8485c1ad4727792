import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/platform/base/bytes.ts";
import {
  createValidatorSet,
  rotateProposer,
  updateValidatorSet,
} from "../../../src/cosmos/comet/validator-set.ts";
import type { ValidatorSet } from "../../../src/cosmos/comet/block-types.ts";
import { readRecordedChain, recordedBlock } from "../../support/comet/recorded-chain.ts";

function priorities(set: ValidatorSet): readonly string[] {
  return set.validators.map((one) => `${toHex(one.address)} ${one.power} ${one.priority}`);
}

describe("proposer rotation of recorded chains", () => {
  const remote = readRecordedChain("test-2");
  const local = readRecordedChain("test-1");
  const setAt = (height: bigint): ValidatorSet => recordedBlock(remote, height).validatorSet;

  it("starts with CometBFT's priorities", () => {
    const first = setAt(1n);
    const created = createValidatorSet(
      first.validators.map(({ publicKey, power }) => ({ publicKey, power })),
    );
    expect(priorities(created)).toEqual(priorities(first));
    expect(priorities(created).map((text) => text.split(" ").at(-1))).toEqual(["-6", "3", "2", "1"]);
  });

  it.each([1n, 2n, 3n, 4n, 5n, 6n, 7n, 97n, 98n, 99n, 100n, 101n])(
    "advances by one height from height %s",
    (height) => {
      expect(priorities(rotateProposer(setAt(height), 1))).toEqual(priorities(setAt(height + 1n)));
    },
  );

  it.each([
    [8n, 20n],
    [20n, 40n],
    [40n, 60n],
    [60n, 97n],
  ])("advances from height %s to height %s", (from, to) => {
    expect(priorities(rotateProposer(setAt(from), Number(to - from)))).toEqual(priorities(setAt(to)));
  });

  it("removes validators", () => {
    const removed = setAt(102n)
      .validators.slice(1)
      .map(({ publicKey }) => ({ publicKey, power: 0n }));
    expect(removed).toHaveLength(3);
    const rest = rotateProposer(updateValidatorSet(setAt(102n), removed), 1);
    expect(priorities(rest)).toEqual(priorities(setAt(103n)));
  });

  it("adds a validator with the lowest priority", () => {
    const before = recordedBlock(local, 576n).validatorSet;
    const after = recordedBlock(local, 577n).validatorSet;
    const updated = rotateProposer(updateValidatorSet(before, after.validators), 1);
    expect(priorities(updated)).toEqual(priorities(after));
  });

  it.each([1n, 2n, 3n, 4n, 5n, 6n, 7n])("names the proposer of the block after height %s", (height) => {
    const next = recordedBlock(remote, height + 1n);
    expect(next.commit.round).toBe(0);
    const { proposer } = rotateProposer(setAt(height), 1);
    expect(toHex(proposer?.address ?? new Uint8Array(0))).toBe(toHex(next.header.proposerAddress));
  });
});
