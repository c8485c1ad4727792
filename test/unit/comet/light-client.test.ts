import { describe, expect, it } from "vitest";
import { CometError } from "../../../src/comet/comet-error.ts";
import type { LightBlock } from "../../../src/comet/block-types.ts";
import { isTrustLevel, verifyHeader } from "../../../src/comet/light-client.ts";
import { verifyCommitLight, verifyCommitLightTrusting } from "../../../src/comet/verify-commit.ts";
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

function refusal(work: () => void): string {
  try {
    work();
  } catch (error) {
    if (error instanceof CometError) return error.message;
    throw error;
  }
  return "valid";
}

function verdict(trusted: LightBlock, untrusted: LightBlock, over: Partial<typeof options> = {}): string {
  return refusal(() =>
    verifyHeader(
      { header: trusted.header, validators: trusted.validatorSet },
      { header: untrusted.header, commit: untrusted.commit, validators: untrusted.validatorSet },
      { ...options, ...over },
    ),
  );
}

describe("a header one height further", () => {
  it("needs the validators that the trusted header announced", () => {
    const others = createSigners("others", [1n, 1n]);
    expect(verdict(block(5n, { next: others }), block(6n, {}, others))).toBe("valid");
    expect(verdict(block(5n), block(6n, {}, others))).toMatch(
      /^expected old header next validators \([0-9A-F]{64}\) to match those from new header \([0-9A-F]{64}\)$/,
    );
  });

  it("needs more than two thirds of their power", () => {
    expect(verdict(block(5n), block(6n, { signs: (index) => index < 2 }))).toBe("valid");
    expect(verdict(block(5n), block(6n, { signs: (index) => index !== 0 }))).toBe(
      "invalid header: invalid commit -- insufficient voting power: got 6, needed more than 6",
    );
  });
});

describe("a header many heights further", () => {
  it("needs more than a third of the trusted power", () => {
    const mixed = { set: four.set, keys: four.keys };
    expect(verdict(block(5n), block(50n, {}, mixed))).toBe("valid");
    const others = createSigners("others", [1n, 1n]);
    expect(verdict(block(5n), block(50n, {}, others))).toBe(
      "cant trust new val set: invalid commit -- insufficient voting power: got 0, needed more than 3",
    );
    const level = { numerator: 1n, denominator: 1n };
    expect(verdict(block(5n), block(50n), { trustLevel: level })).toBe(
      "cant trust new val set: invalid commit -- insufficient voting power: got 10, needed more than 10",
    );
  });

  it("must not be from the past, nor of the same time", () => {
    expect(verdict(block(50n), block(5n))).toContain("expected new header height 5 to be greater");
    expect(verdict(block(50n), block(51n, { timeNs: blockTimeNs(50n) }))).toContain(
      "to be after old header time",
    );
  });

  it("must carry the validators that it names", () => {
    const others = createSigners("others", [1n, 1n, 1n, 1n]);
    const swapped = { ...block(50n), validatorSet: others.set };
    expect(verdict(block(5n), swapped)).toContain("to match those that were supplied");
  });
});

describe("a commit", () => {
  const good = block(9n);
  const of = { chainId: CHAIN, blockId: good.commit.blockId, height: 9n, commit: good.commit };

  it("is refused with one signature fewer, another height or another block", () => {
    const shorter = { ...good.commit, signatures: good.commit.signatures.slice(1) };
    expect(refusal(() => verifyCommitLight(four.set, { ...of, commit: shorter }))).toBe(
      "invalid commit -- wrong set size: 4 vs 3",
    );
    expect(refusal(() => verifyCommitLight(four.set, { ...of, height: 8n }))).toBe(
      "invalid commit -- wrong height: 8 vs 9",
    );
    expect(
      refusal(() => verifyCommitLight(four.set, { ...of, blockId: block(8n).commit.blockId })),
    ).toContain("invalid commit -- wrong block ID: want ");
  });

  it("does not let a validator vote twice", () => {
    const [first, ...rest] = good.commit.signatures;
    if (first === undefined) throw new Error("no signature");
    const doubled = { ...good.commit, signatures: [first, first, ...rest.slice(1)] };
    const level = { numerator: 1n, denominator: 1n };
    expect(refusal(() => verifyCommitLightTrusting(four.set, { ...of, commit: doubled }, level))).toMatch(
      /^double vote from Validator\{[0-9A-F]{40} PubKeyEd25519\{[0-9A-F]{64}\} VP:4 A:-?\d+\} \(0 and 1\)$/,
    );
  });

  it("with a wrong signature says which, as CometBFT's batch and single verifiers do", () => {
    const broken = (light: LightBlock): LightBlock["commit"] => ({
      ...light.commit,
      signatures: light.commit.signatures.map((sig, index) =>
        index === 0 ? { ...sig, signature: sig.signature.map((byte) => byte ^ 1) } : sig,
      ),
    });
    const batch = refusal(() => verifyCommitLight(four.set, { ...of, commit: broken(good) }));
    expect(batch).toMatch(/^wrong signature \(#0\): [0-9A-F]+$/);
    expect(Buffer.from(batch.slice("wrong signature (#0): ".length), "hex").toString()).toMatch(
      /^CommitSig\{[0-9A-F]{12} by [0-9A-F]{12} on 2 @ 2027-01-15T08:00:10Z\}$/,
    );
    const one = createSigners("one", [1n]);
    const single = block(9n, {}, one);
    const commit = broken(single);
    const text = refusal(() =>
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
  ])("of %s/%s: %s", (numerator, denominator, isValid) => {
    expect(isTrustLevel({ numerator, denominator })).toBe(isValid);
  });
});
