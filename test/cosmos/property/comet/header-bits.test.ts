import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, fromHex, toHex } from "../../../../src/platform/base/bytes.ts";
import { CometError } from "../../../../src/cosmos/comet/comet-error.ts";
import { verifyHeader } from "../../../../src/cosmos/comet/light-client.ts";
import {
  signedHeaderFromProto,
  signedHeaderToProto,
  validatorSetFromProto,
  validatorSetToProto,
} from "../../../../src/cosmos/comet/proto-blocks.ts";
import {
  createValidatorSet,
  rotateProposer,
  updateValidatorSet,
  totalPower,
} from "../../../../src/cosmos/comet/validator-set.ts";
import { SignedHeader } from "../../../../src/cosmos/proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../../../../src/cosmos/proto/gen/tendermint/types/validator.ts";
import { requireMessage } from "../../../../src/cosmos/proto/registry.ts";
import { arbitraryBytes } from "../../../support/proto/arbitrary-message.ts";
import { blockTimeNs, createSigners, signBlock } from "../../../support/comet/signed-chain.ts";

const three = createSigners("three", [1n, 1n, 1n]);
const trusted = signBlock(three, { chainId: "bits-1", height: 4n });
const good = signBlock(three, { chainId: "bits-1", height: 9n });
const bytes = SignedHeader.encode(signedHeaderToProto(good)).finish();

const options = {
  nowNs: blockTimeNs(9n),
  trustingPeriodNs: 3_600_000_000_000n,
  maxClockDriftNs: 10_000_000_000n,
  trustLevel: { numerator: 1n, denominator: 3n },
};

/**
 * Decodes and verifies a signed header. Returns what was accepted, in hex, or undefined if it was refused. Omits the
 * addresses of the signatures, because a verifier can accept a wrong one, as CometBFT does. It finds the header's own
 * signers by index, and of the trusted validators it needs only a third of the power.
 */
function accepted(signedHeader: Uint8Array): string | undefined {
  try {
    const { header, commit } = signedHeaderFromProto(SignedHeader.decode(signedHeader));
    const untrusted = { header, commit, validators: three.set };
    verifyHeader({ header: trusted.header, validators: trusted.validatorSet }, untrusted, options);
    const signatures = commit.signatures.map((sig) => ({ ...sig, validatorAddress: new Uint8Array(20) }));
    const bare = signedHeaderToProto({ header, commit: { ...commit, signatures } });
    return toHex(SignedHeader.encode(bare).finish());
  } catch (error) {
    if (error instanceof TypeError) throw error;
    return undefined;
  }
}

describe("a signed header", () => {
  it("is accepted if it is not changed", () => {
    expect(accepted(bytes)).toBeDefined();
  });

  it("with any bit flipped is refused, or has the same content", () => {
    const original = accepted(bytes);
    let refused = 0;
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = bytes.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const content = accepted(flipped);
      if (content === undefined) refused += 1;
      else expect(content, `bit ${bit}`).toBe(original);
    }
    // The other bits are in addresses, or turn a field with its default value into an unknown field.
    expect(refused).toBeGreaterThan(bytes.length * 7);
  });
});

describe("a validator set", () => {
  it("keeps its total power and the centre of its priorities when it rotates", () => {
    const powers = fc.array(fc.bigInt({ min: 1n, max: 1_000_000_000n }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(powers, fc.integer({ min: 1, max: 30 }), (of, times) => {
        const { set } = createSigners("rotating", of);
        const rotated = rotateProposer(set, times);
        const total = totalPower(set.validators);
        expect(totalPower(rotated.validators)).toBe(total);
        const priorities = rotated.validators.map((one) => one.priority);
        const sum = priorities.reduce((a, b) => a + b, 0n);
        // One turn changes priorities. Many turns may lead back to the start.
        if (of.length > 1) expect(rotateProposer(set, 1).validators).not.toEqual(set.validators);
        expect(sum >= -BigInt(of.length) && sum <= BigInt(of.length)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it("lets validators propose in proportion to their power", () => {
    const powers = [5n, 3n, 1n];
    let { set } = createSigners("turns", powers);
    const turns = new Map<bigint, number>();
    for (let turn = 0; turn < 90; turn++) {
      set = rotateProposer(set, 1);
      const power = set.proposer?.power ?? 0n;
      turns.set(power, (turns.get(power) ?? 0) + 1);
    }
    expect([turns.get(5n), turns.get(3n), turns.get(1n)]).toEqual([50, 30, 10]);
  });

  it("after changes has the validators that were not removed, sorted", () => {
    const change = fc.record({
      index: fc.integer({ min: 0, max: 7 }),
      power: fc.bigInt({ min: 0n, max: 50n }),
    });
    const eight = createSigners("changing", [8n, 7n, 6n, 5n, 4n, 3n, 2n, 1n]).set.validators;
    fc.assert(
      fc.property(fc.uniqueArray(change, { selector: ({ index }) => index, maxLength: 7 }), (changes) => {
        const start = createValidatorSet(eight);
        const updates = changes.map(({ index, power }) => ({
          publicKey: eight[index]?.publicKey ?? new Uint8Array(0),
          power,
        }));
        const result = updateValidatorSet(start, updates);
        const removed = changes.filter(({ power }) => power === 0n).length;
        expect(result.validators).toHaveLength(8 - removed);
        const sorted = result.validators.every(
          (one, at, all) => at === 0 || (all[at - 1]?.power ?? 0n) >= one.power,
        );
        expect(sorted).toBe(true);
        const expected = eight.map(({ publicKey, power }, at) => {
          const changed = changes.find(({ index }) => index === at);
          return `${toHex(publicKey)} ${changed?.power ?? power}`;
        });
        expect(
          result.validators.map(({ publicKey, power }) => `${toHex(publicKey)} ${power}`).toSorted(),
        ).toEqual(expected.filter((each) => !each.endsWith(" 0")).toSorted());
      }),
      { numRuns: 100 },
    );
  });
});

describe("untrusted bytes", () => {
  const noise = fc.uint8Array({ maxLength: 300 });
  // A good header and a good set with some of their messages replaced, so that most of the bytes decode.
  const header = fc.tuple(arbitraryBytes(requireMessage("tendermint.types.SignedHeader")), noise);
  const set = arbitraryBytes(requireMessage("tendermint.types.ValidatorSet"));
  // Messages that lack their parts: an empty header, commit, block id, signature, validator, proposer or key.
  const pieces = fc
    .array(fc.constantFrom("0a00", "1200", "0a022a00", "12022200", "12021a00", "0a021200", "12021200"), {
      maxLength: 4,
    })
    .map((parts) => fromHex(parts.join("")));
  const goodSet = ValidatorSet.encode(validatorSetToProto(three.set)).finish();

  it("are decoded or refused with a `CometError`, and bytes that are no message with a plain error", () => {
    const codes = new Map<string, number>();
    const count = (read: () => unknown): void => {
      const code = codeOf(read);
      codes.set(code, (codes.get(code) ?? 0) + 1);
    };
    fc.assert(
      fc.property(header, set, pieces, ([message, random], validators, bare) => {
        count(() => signedHeaderFromProto(SignedHeader.decode(bare)));
        count(() => validatorSetFromProto(ValidatorSet.decode(bare)));
        count(() => signedHeaderFromProto(SignedHeader.decode(random)));
        count(() => signedHeaderFromProto(SignedHeader.decode(message)));
        count(() => signedHeaderFromProto(SignedHeader.decode(concat(bytes, message))));
        count(() => validatorSetFromProto(ValidatorSet.decode(validators)));
        count(() => validatorSetFromProto(ValidatorSet.decode(concat(goodSet, validators))));
      }),
      { numRuns: 300 },
    );
    expect(codes.get("malformed")).toBeGreaterThan(600);
    expect(codes.get("no message")).toBeGreaterThan(100);
    expect(codes.get("accepted")).toBeGreaterThan(10);
  });

  /** Rethrows what is neither an error of the checks nor one of the decoder. */
  function codeOf(read: () => unknown): string {
    try {
      read();
      return "accepted";
    } catch (error) {
      if (error instanceof CometError) return error.facts.code;
      if (error instanceof TypeError || !(error instanceof Error)) throw error;
      return "no message";
    }
  }
});
