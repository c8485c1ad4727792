import type { LightBlock } from "../../support/comet/light-block.ts";
import { describe, expect, it } from "vitest";
import { CometError } from "../../../src/cosmos/comet/comet-error.ts";
import { isTrustLevel, verifyHeader } from "../../../src/cosmos/comet/light-client.ts";
import { verifyCommitLight, verifyCommitLightTrusting } from "../../../src/cosmos/comet/verify-commit.ts";
import { blockTimeNs, createSigners, signBlock, type BlockFacts } from "../../support/comet/signed-chain.ts";

const CHAIN = "unit-1";
const four = createSigners("four", [4n, 3n, 2n, 1n]);
const third = { numerator: 1n, denominator: 3n };
const options = {
  nowNs: blockTimeNs(100n),
  trustingPeriodNs: 3_600_000_000_000n,
  maxClockDriftNs: 10_000_000_000n,
  trustLevel: third,
};

function block(height: bigint, facts: Partial<BlockFacts> = {}, signers = four): LightBlock {
  return signBlock(signers, { chainId: CHAIN, height, ...facts });
}

/** Runs a check. Returns "valid" or the text of its `CometError`. */
function resultOf(check: () => void): string {
  try {
    check();
  } catch (error) {
    if (error instanceof CometError) return error.message;
    throw error;
  }
  return "valid";
}

function verify(trusted: LightBlock, untrusted: LightBlock, changed: Partial<typeof options> = {}): string {
  return resultOf(() =>
    verifyHeader(
      { header: trusted.header, validators: trusted.validatorSet },
      { header: untrusted.header, commit: untrusted.commit, validators: untrusted.validatorSet },
      { ...options, ...changed },
    ),
  );
}

describe("an adjacent header", () => {
  it("needs the next validators of the trusted header", () => {
    const others = createSigners("others", [1n, 1n]);
    expect(verify(block(5n, { next: others }), block(6n, {}, others))).toBe("valid");
    expect(verify(block(5n), block(6n, {}, others))).toMatch(
      /^expected old header next validators \([0-9A-F]{64}\) to match those from new header \([0-9A-F]{64}\)$/,
    );
  });

  it("needs more than two thirds of their power", () => {
    expect(verify(block(5n), block(6n, { signs: (index) => index < 2 }))).toBe("valid");
    expect(verify(block(5n), block(6n, { signs: (index) => index !== 0 }))).toBe(
      "invalid header: invalid commit -- insufficient voting power: got 6, needed more than 6",
    );
  });
});

describe("a non-adjacent header", () => {
  it("needs more than a third of the trusted power", () => {
    const mixed = { set: four.set, keys: four.keys };
    expect(verify(block(5n), block(50n, {}, mixed))).toBe("valid");
    const others = createSigners("others", [1n, 1n]);
    expect(verify(block(5n), block(50n, {}, others))).toBe(
      "cant trust new val set: invalid commit -- insufficient voting power: got 0, needed more than 3",
    );
    const level = { numerator: 1n, denominator: 1n };
    expect(verify(block(5n), block(50n), { trustLevel: level })).toBe(
      "cant trust new val set: invalid commit -- insufficient voting power: got 10, needed more than 10",
    );
  });

  it("needs a greater height and a later time", () => {
    expect(verify(block(50n), block(5n))).toContain("expected new header height 5 to be greater");
    expect(verify(block(50n), block(51n, { timeNs: blockTimeNs(50n) }))).toContain(
      "to be after old header time",
    );
  });

  it("needs the validators that it names", () => {
    const others = createSigners("others", [1n, 1n, 1n, 1n]);
    const swapped = { ...block(50n), validatorSet: others.set };
    expect(verify(block(5n), swapped)).toContain("to match those that were supplied");
  });
});

describe("a commit", () => {
  const good = block(9n);
  const of = { chainId: CHAIN, blockId: good.commit.blockId, height: 9n, commit: good.commit };

  it("is refused if a signature is missing, or for another height or block", () => {
    const shorter = { ...good.commit, signatures: good.commit.signatures.slice(1) };
    expect(resultOf(() => verifyCommitLight(four.set, { ...of, commit: shorter }))).toBe(
      "Invalid commit -- wrong set size: 4 vs 3",
    );
    expect(resultOf(() => verifyCommitLight(four.set, { ...of, height: 8n }))).toBe(
      "Invalid commit -- wrong height: 8 vs 9",
    );
    expect(
      resultOf(() => verifyCommitLight(four.set, { ...of, blockId: block(8n).commit.blockId })),
    ).toContain("invalid commit -- wrong block ID: want ");
  });

  it("is refused if a validator votes twice", () => {
    const [first, ...rest] = good.commit.signatures;
    if (first === undefined) throw new Error("no signature");
    const doubled = { ...good.commit, signatures: [first, first, ...rest.slice(1)] };
    const level = { numerator: 1n, denominator: 1n };
    expect(resultOf(() => verifyCommitLightTrusting(four.set, { ...of, commit: doubled }, level))).toMatch(
      /^double vote from Validator\{[0-9A-F]{40} PubKeyEd25519\{[0-9A-F]{64}\} VP:4 A:-?\d+\} \(0 and 1\)$/,
    );
  });

  it("with a wrong signature is refused with the texts of CometBFT's batch and single verifiers", () => {
    const broken = (light: LightBlock): LightBlock["commit"] => ({
      ...light.commit,
      signatures: light.commit.signatures.map((sig, index) =>
        index === 0 ? { ...sig, signature: sig.signature.map((byte) => byte ^ 1) } : sig,
      ),
    });
    const batch = resultOf(() => verifyCommitLight(four.set, { ...of, commit: broken(good) }));
    expect(batch).toMatch(/^wrong signature \(#0\): [0-9A-F]+$/);
    expect(Buffer.from(batch.slice("wrong signature (#0): ".length), "hex").toString()).toMatch(
      /^CommitSig\{[0-9A-F]{12} by [0-9A-F]{12} on 2 @ 2027-01-15T08:00:10Z\}$/,
    );
    const one = createSigners("one", [1n]);
    const single = block(9n, {}, one);
    const commit = broken(single);
    const text = resultOf(() =>
      verifyCommitLight(one.set, { chainId: CHAIN, blockId: commit.blockId, height: 9n, commit }),
    );
    const signature = Buffer.from(commit.signatures[0]?.signature ?? [])
      .toString("hex")
      .toUpperCase();
    expect(text).toBe(`wrong signature (#0): ${signature}`);
  });
});

describe("a trust level", () => {
  it.each([
    [1n, 3n, true],
    [2n, 3n, true],
    [1n, 1n, true],
    [1n, 4n, false],
    [4n, 3n, false],
    [1n, 0n, false],
    // Go multiplies uint64 numbers: 3 × the numerator wraps around to 2.
    [(2n ** 64n + 2n) / 3n, (2n ** 64n + 2n) / 3n, false],
    [2n ** 64n - 1n, 2n ** 64n - 1n, false],
    [2n ** 64n / 3n, 2n ** 64n / 3n, true],
  ])("of %s/%s is valid: %s", (numerator, denominator, isValid) => {
    expect(isTrustLevel({ numerator, denominator })).toBe(isValid);
  });
});
