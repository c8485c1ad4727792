import { secp256k1 } from "@noble/curves/secp256k1.js";
import { describe, expect, it } from "vitest";
import { commitSignBytes, validatorsHash } from "../../../src/cosmos/comet/block-hashes.ts";
import type { Validator } from "../../../src/cosmos/comet/block-types.ts";
import { validatorSetFromProto, validatorSetToProto } from "../../../src/cosmos/comet/proto-blocks.ts";
import { parseValidators, validatorToJson } from "../../../src/cosmos/comet/rpc-json.ts";
import { addressOf, verifyFast, verifyZip215 } from "../../../src/cosmos/comet/validator-key.ts";
import { newValidator, validatorSetOf } from "../../../src/cosmos/comet/validator-set.ts";
import {
  createSignatureChecks,
  verifyCommitLight,
  verifyCommitLightTrusting,
} from "../../../src/cosmos/comet/verify-commit.ts";
import { fromHex, sha256, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { createSigners, signBlock } from "../../support/comet/signed-chain.ts";

const SECRET = sha256(utf8("validator"));
const KEY = secp256k1.getPublicKey(SECRET, true);
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const four = createSigners("four", [4n, 3n, 2n, 1n]);
const good = signBlock(four, { chainId: "chain-1", height: 9n });
const level = { numerator: 1n, denominator: 3n };

function sign(message: Uint8Array): Uint8Array {
  return secp256k1.sign(message, SECRET);
}

describe("a secp256k1 key of a validator", () => {
  const message = utf8("vote");
  const signature = sign(message);
  const isValid = (bytes: Uint8Array): boolean =>
    verifyFast({ publicKey: KEY, message, signature: bytes }) === true;

  it("has the address of a Cosmos account, and verifies", () => {
    expect(
      toHex(addressOf(fromHex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"))),
    ).toBe("751e76e8199196d454941c45d1b3a323f1433bd6");
    expect(isValid(signature)).toBe(true);
    expect(isValid(signature.with(40, (signature[40] ?? 0) ^ 1))).toBe(false);
    expect(isValid(signature.subarray(1))).toBe(false);
  });

  it("refuses the negated s", () => {
    const s = BigInt(`0x${toHex(signature.subarray(32))}`);
    expect(
      isValid(fromHex(toHex(signature.subarray(0, 32)) + (ORDER - s).toString(16).padStart(64, "0"))),
    ).toBe(false);
  });

  it("is kept by protobuf and by the JSON of the RPC, and hashed with its own tag", () => {
    const set = validatorSetOf([newValidator(KEY, 5n)]);
    expect(validatorSetFromProto(validatorSetToProto(set))).toEqual(set);
    expect(parseValidators(set.validators.map(validatorToJson)).validators[0]?.publicKey).toEqual(KEY);
    // crypto.PublicKey { secp256k1 = 2 } in field 1 of SimpleValidator, power 5 in field 2; a leaf has the prefix 00.
    const leaf = fromHex(`000a231221${toHex(KEY)}1005`);
    expect(validatorsHash(set.validators)).toEqual(sha256(leaf));
  });

  it("signs a commit, which CometBFT then verifies one by one", () => {
    const validators = [newValidator(KEY, 5n), ...four.set.validators];
    const set = validatorSetOf(validators);
    const [template] = good.commit.signatures;
    if (template === undefined) throw new Error("no signature");
    const draft = {
      ...good.commit,
      signatures: [{ ...template, validatorAddress: addressOf(KEY) }, ...good.commit.signatures],
    };
    const own = sign(commitSignBytes("chain-1", draft)(0));
    const withOwn = (bytes: Uint8Array): typeof draft => ({
      ...draft,
      signatures: draft.signatures.map((sig, index) => (index === 0 ? { ...sig, signature: bytes } : sig)),
    });
    const expected = { chainId: "chain-1", blockId: draft.blockId, height: 9n };
    verifyCommitLight(set, { ...expected, commit: withOwn(own) });
    const bad = own.with(0, (own[0] ?? 0) ^ 1);
    expect(() => verifyCommitLight(set, { ...expected, commit: withOwn(bad) })).toThrow(
      `wrong signature (#0): ${toHex(bad).toUpperCase()}`,
    );
  });
});

describe("a commit checked against a trusted set", () => {
  const signed = { chainId: "chain-1", commit: good.commit };

  it("counts the first of two entries of one validator", () => {
    const [first, ...others] = four.set.validators;
    if (first === undefined) throw new Error("no validator");
    const powers = (...own: readonly bigint[]): readonly Validator[] => [
      ...own.map((power) => ({ ...first, power })),
      ...others.map((one) => ({ ...one, power: 0n })),
    ];
    const set = (validators: readonly Validator[]) => ({ validators, proposer: first });
    verifyCommitLightTrusting(set(powers(9n, 1n)), signed, level);
    expect(() => verifyCommitLightTrusting(set(powers(1n, 9n)), signed, level)).toThrow(
      "invalid commit -- insufficient voting power: got 1, needed more than 3",
    );
  });

  it("reads a level as Go's int64", () => {
    const max = { numerator: 2n ** 63n, denominator: 2n ** 63n };
    expect(() => verifyCommitLightTrusting(four.set, signed, max)).toThrow("int64 overflow");
    const minus = { numerator: 2n ** 64n - 1n, denominator: 2n ** 64n - 1n };
    expect(() => verifyCommitLightTrusting(four.set, signed, minus)).toThrow("got 10, needed more than 10");
  });

  it("refuses a signature of the wrong length before it counts the power", () => {
    const short = good.commit.signatures.map((sig, index) =>
      index === 1 ? { ...sig, signature: sig.signature.subarray(1) } : sig,
    );
    const commit = { ...good.commit, signatures: short };
    expect(() =>
      verifyCommitLightTrusting(four.set, { ...signed, commit }, { numerator: 1n, denominator: 1n }),
    ).toThrow(/^invalid signature$/);
  });
});

describe("a signature that only ZIP-215 accepts", () => {
  // A key of order 8, the identity as R, and s = 0: only the equation with the cofactor holds for every message.
  const torsion = fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a");
  const signature = new Uint8Array(64).with(0, 1);

  it("is left to the slow verifier", () => {
    const signed = { publicKey: torsion, message: utf8("vote"), signature };
    expect([verifyFast(signed), verifyZip215(signed)]).toEqual([undefined, true]);
  });

  it("is announced with all others of a batch before the first is verified", () => {
    const set = validatorSetOf(Array.from({ length: 9 }, () => newValidator(torsion, 5n)));
    const [template] = good.commit.signatures;
    if (template === undefined) throw new Error("no signature");
    const sig = { ...template, validatorAddress: addressOf(torsion), signature };
    const commit = { ...good.commit, signatures: set.validators.map(() => sig) };
    const hostile = { chainId: "chain-1", blockId: good.commit.blockId, height: 9n, commit };
    const announced: number[] = [];
    const checks = createSignatureChecks(() => {
      announced.push(checks.verified.size);
      if (announced.length === 6) throw new Error("too dear");
    });
    expect(() => verifyCommitLight(set, hostile, checks)).toThrow("too dear");
    expect([announced, checks.verified.size]).toEqual([[0, 0, 0, 0, 0, 0], 0]);
  });

  it("is announced once for the two checks of a header, and never for plain signatures", () => {
    let slow = 0;
    const checks = createSignatureChecks(() => {
      slow += 1;
    });
    const { blockId } = good.commit;
    const plain = { chainId: "chain-1", blockId, height: 9n, commit: good.commit };
    verifyCommitLightTrusting(four.set, plain, level, checks);
    verifyCommitLight(four.set, plain, checks);
    expect(slow).toBe(0);
    const set = validatorSetOf([newValidator(torsion, 5n)]);
    const [template] = good.commit.signatures;
    if (template === undefined) throw new Error("no signature");
    const signatures = [{ ...template, validatorAddress: addressOf(torsion), signature }];
    const hostile = { ...plain, commit: { ...good.commit, signatures } };
    const fresh = createSignatureChecks(() => {
      slow += 1;
    });
    verifyCommitLightTrusting(set, hostile, level, fresh);
    verifyCommitLight(set, hostile, fresh);
    expect(slow).toBe(1);
  });
});
