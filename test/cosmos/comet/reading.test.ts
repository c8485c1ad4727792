import { describe, expect, it } from "vitest";
import {
  signedHeaderFromProto,
  signedHeaderToProto,
  validatorSetFromProto,
  validatorSetToProto,
} from "../../../src/cosmos/comet/proto-blocks.ts";
import {
  commitToJson,
  headerToJson,
  MAX_VALIDATORS,
  parseSignedHeader,
  parseValidators,
  validatorToJson,
} from "../../../src/cosmos/comet/rpc-json.ts";
import { timestampToNs } from "../../../src/cosmos/comet/timestamp.ts";
import { verifyFast, verifyZip215 } from "../../../src/cosmos/comet/validator-key.ts";
import { medianTimeNs } from "../../../src/cosmos/comet/validator-set.ts";
import { fromHex, toHex } from "../../../src/platform/base/bytes.ts";
import { signedHeaderToJson } from "../../support/comet/light-block.ts";
import { createSigners, signBlock } from "../../support/comet/signed-chain.ts";

const four = createSigners("four", [4n, 3n, 2n, 1n]);
const block = signBlock(four, { chainId: "unit-1", height: 3n });

describe("a validator set in protobuf", () => {
  const good = validatorSetToProto(four.set);
  const first = good.validators[0];
  if (first === undefined) throw new Error("no validator");

  it.each([
    [undefined, "nil validator set"],
    [{ ...good, proposer: undefined }, "fromProto: validatorSet proposer error: nil validator"],
    [{ ...good, validators: [] }, "validator set is nil or empty"],
    [
      { ...good, validators: [{ ...first, votingPower: -1n }] },
      "invalid validator #0: validator has negative voting power",
    ],
    [{ ...good, validators: [{ ...first, votingPower: 2n ** 62n }] }, "Total voting power should be guarded"],
    [
      { ...good, validators: [{ ...first, address: new Uint8Array(20) }] },
      "invalid validator #0: validator address is incorrectly derived from pubkey",
    ],
    [
      {
        ...good,
        validators: [{ ...first, pubKey: { sum: { $case: "ed25519" as const, value: new Uint8Array(31) } } }],
      },
      "invalid size for PubKeyEd25519. Got 31, expected 32",
    ],
    [
      {
        ...good,
        validators: [
          { ...first, pubKey: { sum: { $case: "secp256k1" as const, value: new Uint8Array(32) } } },
        ],
      },
      "invalid size for PubKeySecp256k1. Got 32, expected 33",
    ],
    [
      { ...good, validators: [{ ...first, pubKey: undefined }] },
      "fromproto: key type <nil> is not supported",
    ],
    [{ ...good, validators: good.validators.slice(1), proposer: first }, "proposer not in validator set"],
  ])("is refused: %#", (message, expected) => {
    expect(() => validatorSetFromProto(message)).toThrow(expected);
  });
});

describe("a signed header in protobuf", () => {
  const { header, commit } = signedHeaderToProto(block);
  if (header === undefined || commit === undefined) throw new Error("no header");
  const [first] = commit.signatures;
  if (first === undefined) throw new Error("no signature");
  const withSig = (change: Partial<typeof first>): object => ({
    header,
    commit: { ...commit, signatures: [{ ...first, ...change }] },
  });

  it.each([
    [{ header: undefined, commit }, "missing header"],
    [{ header, commit: undefined }, "missing commit"],
    [{ header: { ...header, version: undefined }, commit }, "block protocol is incorrect: got: 0, want: 11 "],
    [{ header: { ...header, chainId: "x".repeat(51) }, commit }, "chainID is too long; got: 51, max: 50"],
    [{ header: { ...header, height: 0n }, commit }, "zero Height"],
    [{ header: { ...header, height: -1n }, commit }, "negative Height"],
    [
      { header: { ...header, dataHash: new Uint8Array(5) }, commit },
      "wrong DataHash: expected size to be 32 bytes, got 5 bytes",
    ],
    [
      { header: { ...header, proposerAddress: new Uint8Array(0) }, commit },
      "invalid ProposerAddress length; got: 0, expected: 20",
    ],
    [
      { header: { ...header, lastBlockId: { hash: new Uint8Array(5), partSetHeader: undefined } }, commit },
      /^wrong Hash$/,
    ],
    [
      {
        header: {
          ...header,
          lastBlockId: { hash: new Uint8Array(32), partSetHeader: { total: 1, hash: new Uint8Array(5) } },
        },
        commit,
      },
      /^wrong PartSetHeader: wrong Hash: expected size to be 32 bytes, got 5 bytes$/,
    ],
    [{ header: { ...header, time: { seconds: 2n ** 62n, nanos: 0 } }, commit }, "out of range"],
    [{ header, commit: { ...commit, round: -1 } }, "negative Round"],
    [{ header, commit: { ...commit, blockId: undefined } }, "commit cannot be for nil block"],
    [{ header, commit: { ...commit, signatures: [] } }, "no signatures in commit"],
    [withSig({ signature: new Uint8Array(0) }), "signature is missing"],
    [withSig({ signature: new Uint8Array(65) }), "signature is too big (max: 64)"],
    [withSig({ blockIdFlag: 1 }), "validator address is present"],
    [withSig({ blockIdFlag: 0 }), "unknown BlockIDFlag: 0"],
    [
      withSig({ validatorAddress: new Uint8Array(3) }),
      "expected ValidatorAddress size to be 20 bytes, got 3 bytes",
    ],
  ])("is refused: %#", (message, expected) => {
    const read = (): unknown => signedHeaderFromProto({ ...signedHeaderToProto(block), ...message });
    expect(read).toThrow(expected);
  });

  it("has Go's zero time for an absent time", () => {
    expect(timestampToNs(undefined)).toBe(-62_135_596_800_000_000_000n);
  });
});

describe("JSON of the RPC", () => {
  const json = signedHeaderToJson(block);
  const header = headerToJson(block.header);
  const commit = commitToJson(block.commit);
  const signature = {
    block_id_flag: 2,
    validator_address: "",
    timestamp: "2027-01-15T08:00:03Z",
    signature: null,
  };

  it("is the same after parsing and printing", () => {
    expect(signedHeaderToJson(parseSignedHeader(json))).toEqual(json);
    const validators = four.set.validators.map(validatorToJson);
    expect(parseValidators(validators).validators.map(validatorToJson)).toEqual(validators);
  });

  it.each([
    [null, "signed_header: expected an object"],
    [{ ...json, commit: 1 }, "commit: expected an object"],
    [{ ...json, header: { ...header, height: 3 } }, "signed_header.header.height: expected a string"],
    [{ ...json, header: { ...header, height: undefined } }, "header.height: expected a string"],
    [
      { ...json, commit: { ...commit, round: "0" } },
      "signed_header.commit.round: expected a 32-bit unsigned integer",
    ],
    [{ ...json, commit: { ...commit, signatures: null } }, "commit.signatures: expected present"],
    [
      { ...json, commit: { ...commit, signatures: [{ ...signature, timestamp: "" }] } },
      "commit.signatures[0].timestamp: expected an RFC 3339 time",
    ],
    [
      { ...json, header: { ...header, height: "9223372036854775808" } },
      "header.height: expected a 64-bit integer",
    ],
    [{ ...json, header: { ...header, app_hash: "0" } }, "header.app_hash: expected hex"],
    [{ ...json, header: { ...header, time: "now" } }, "header.time: expected an RFC 3339 time"],
    [
      { ...json, header: { ...header, chain_id: "x".repeat(300) } },
      "header.chain_id: expected a string of at most 256 characters",
    ],
  ])("is refused with the path of the wrong field: %#", (value, expected) => {
    expect(() => parseSignedHeader(value)).toThrow(expected);
  });

  it("has a maximum number of validators", () => {
    expect(() => parseValidators(Array.from({ length: MAX_VALIDATORS + 1 }, () => ({})))).toThrow(
      `at most ${MAX_VALIDATORS} entries`,
    );
  });
});

describe("the median time of a commit", () => {
  const times = [10n, 40n, 20n, 30n];
  const signatures = block.commit.signatures.map((sig, index) => ({
    ...sig,
    timestampNs: times[index] ?? 0n,
  }));

  it("is weighted by power", () => {
    // Powers 4, 3, 2 and 1 voted at 10, 40, 20 and 30. Half of the power is reached at 20.
    expect(medianTimeNs({ signatures }, four.set.validators)).toBe(20n);
  });

  it("does not count absent votes", () => {
    const absent = signatures.map((sig, index) => (index === 0 ? { ...sig, flag: 1 } : sig));
    expect(medianTimeNs({ signatures: absent }, four.set.validators)).toBe(30n);
    expect(medianTimeNs({ signatures: [] }, four.set.validators)).toBeUndefined();
  });
});

describe("an ed25519 signature", () => {
  it("with a small-order key is valid under ZIP-215, although OpenSSL refuses it", () => {
    // A key of order 8, the identity as R, and S = 0: only the equation with the cofactor holds for every message.
    const torsion = fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a");
    const signature = fromHex(`01${"00".repeat(63)}`);
    const messages = ["a", "b", "c", "d"].map((text) => Buffer.from(text));
    const signed = messages.map((message) => ({ publicKey: torsion, message, signature }));
    expect(signed.map(verifyZip215)).toEqual([true, true, true, true]);
    // Without the cofactor, the equation holds for one message in eight.
    expect(signed.map(verifyFast)).toContain(undefined);
  });

  it("is refused for another message and for a wrong length", () => {
    const [sig] = block.commit.signatures;
    const key = four.set.validators[0]?.publicKey ?? new Uint8Array(0);
    const signed = {
      publicKey: key,
      message: Buffer.from("other"),
      signature: sig?.signature ?? new Uint8Array(0),
    };
    expect([verifyFast(signed), verifyZip215(signed)]).toEqual([undefined, false]);
    expect(verifyFast({ ...signed, signature: new Uint8Array(63) })).toBe(false);
    expect(verifyFast({ ...signed, publicKey: key.subarray(1) })).toBe(false);
    expect(toHex(key)).toHaveLength(64);
  });
});
