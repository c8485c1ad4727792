import { describe, expect, it } from "vitest";
import { BLOCK_ID_FLAG, type Commit, type CommitSig } from "../../../src/cosmos/comet/block-types.ts";
import { CometError } from "../../../src/cosmos/comet/comet-error.ts";
import {
  validateCommit,
  validateCommitSig,
  validateValidatorSet,
} from "../../../src/cosmos/comet/validate.ts";
import {
  createValidatorSet,
  rotateProposer,
  updateValidatorSet,
} from "../../../src/cosmos/comet/validator-set.ts";
import { verifyCommitLightTrusting } from "../../../src/cosmos/comet/verify-commit.ts";
import { GO_ZERO_TIME_NS } from "../../../src/platform/base/time.ts";
import { createSigners, signBlock } from "../../support/comet/signed-chain.ts";

const signers = createSigners("three", [3n, 2n, 1n]);
const block = signBlock(signers, { chainId: "unit-1", height: 5n });

/** The text of the `CometError` that a check throws. */
function problemOf(check: () => unknown): string {
  try {
    check();
  } catch (error) {
    if (error instanceof CometError) return error.message;
    throw error;
  }
  return "valid";
}

describe("the vote of an absent validator", () => {
  const absent: CommitSig = {
    flag: BLOCK_ID_FLAG.absent,
    validatorAddress: new Uint8Array(),
    timestampNs: GO_ZERO_TIME_NS,
    signature: new Uint8Array(),
  };

  it.each<readonly [string, Partial<CommitSig>]>([
    ["valid", {}],
    ["validator address is present", { validatorAddress: new Uint8Array(20) }],
    ["time is present", { timestampNs: 1n }],
    ["signature is present", { signature: new Uint8Array(64) }],
    ["unknown BlockIDFlag: 4", { flag: 4 }],
  ])("%s", (problem, fields) => {
    expect(problemOf(() => validateCommitSig({ ...absent, ...fields }))).toBe(problem);
  });
});

describe("a commit", () => {
  it.each<readonly [string, Partial<Commit>]>([
    ["valid", {}],
    ["negative Height", { height: -1n }],
    ["negative Round", { round: -1 }],
    ["no signatures in commit", { signatures: [] }],
  ])("%s", (problem, fields) => {
    expect(problemOf(() => validateCommit({ ...block.commit, ...fields }))).toBe(problem);
  });

  it("is trusted by no share whose denominator is zero", () => {
    const check = (denominator: bigint) => () =>
      verifyCommitLightTrusting(
        block.validatorSet,
        { chainId: "unit-1", commit: block.commit },
        { numerator: 1n, denominator },
      );
    expect([0n, 3n].map((denominator) => problemOf(check(denominator)))).toEqual([
      "trustLevel has zero Denominator",
      "valid",
    ]);
  });
});

describe("a validator set", () => {
  const [first = expect.unreachable(), second = expect.unreachable()] = signers.set.validators;
  const change = (power: bigint, { publicKey } = first) => ({ publicKey, power });

  it("needs a proposer that is one of its validators", () => {
    const { set } = signers;
    expect(problemOf(() => validateValidatorSet({ ...set, proposer: undefined }))).toBe(
      "proposer failed validate basic, error: nil validator",
    );
    const [, ...others] = set.validators;
    expect(problemOf(() => validateValidatorSet({ validators: others, proposer: first }))).toBe(
      "proposer not in validator set",
    );
  });

  it("refuses changes that CometBFT refuses", () => {
    const refusal = (...changes: readonly ReturnType<typeof change>[]): string =>
      problemOf(() => updateValidatorSet(signers.set, changes));
    expect(refusal(change(-1n))).toBe("voting power can't be negative: -1");
    expect(refusal(change(5n), change(6n))).toMatch(/^duplicate entry [0-9a-f]{40} in the changes$/);
    expect(refusal(...signers.set.validators.map((one) => change(0n, one)))).toBe(
      "applying the validator changes would result in empty set",
    );
    expect(refusal(change(0n), change(7n, second))).toBe("valid");
  });

  it("begins with no validator without power, and empty if there is none", () => {
    expect(problemOf(() => createValidatorSet([change(0n)]))).toMatch(
      /^cannot process validators with voting power 0: [0-9a-f]{40}$/,
    );
    expect(createValidatorSet([])).toEqual({ validators: [], proposer: undefined });
  });

  it("has no next proposer if it is empty, or after no turn", () => {
    const empty = { validators: [], proposer: undefined };
    for (const rotate of [() => rotateProposer(empty, 1), () => rotateProposer(signers.set, 0)])
      expect(problemOf(rotate)).toBe("cannot rotate an empty validator set, or by less than one");
  });
});
