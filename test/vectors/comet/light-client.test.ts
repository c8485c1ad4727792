import { describe, expect, it } from "vitest";
import { headerHash, validatorsHash } from "../../../src/cosmos/comet/block-hashes.ts";
import { CometError } from "../../../src/cosmos/comet/comet-error.ts";
import { verifyHeader } from "../../../src/cosmos/comet/light-client.ts";
import {
  signedHeaderFromProto,
  signedHeaderToProto,
  validatorSetFromProto,
  validatorSetToProto,
} from "../../../src/cosmos/comet/proto-blocks.ts";
import { validatorToJson } from "../../../src/cosmos/comet/rpc-json.ts";
import { SignedHeader } from "../../../src/cosmos/proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../../../src/cosmos/proto/gen/tendermint/types/validator.ts";
import { toHex } from "../../../src/platform/base/bytes.ts";
import { parseRfc3339Ns } from "../../../src/platform/base/time.ts";
import { signedHeaderToJson } from "../../support/comet/light-block.ts";
import { readRecordedChain, recordedBlock, type RecordedChain } from "../../support/comet/recorded-chain.ts";

const NS = 1_000_000_000n;
const TRUST_LEVEL = { numerator: 1n, denominator: 3n };

/** Verifies a case. Returns "valid" or the error text. */
function result(chain: RecordedChain, one: Readonly<Record<string, unknown>>): string {
  const trusted = recordedBlock(chain, BigInt(Number(one["trusted"])));
  const untrusted = recordedBlock(chain, BigInt(Number(one["untrusted"])));
  try {
    verifyHeader(
      { header: trusted.header, validators: trusted.validatorSet },
      { header: untrusted.header, commit: untrusted.commit, validators: untrusted.validatorSet },
      {
        nowNs: parseRfc3339Ns(String(one["now"])),
        trustingPeriodNs: BigInt(Number(one["trusting_period_s"])) * NS,
        maxClockDriftNs: BigInt(Number(one["max_clock_drift_s"])) * NS,
        trustLevel: TRUST_LEVEL,
      },
    );
    return "valid";
  } catch (error) {
    if (error instanceof CometError) return error.message;
    throw error;
  }
}

describe.each([
  { name: "test-1", blockCount: 14, caseCount: 33 },
  { name: "test-2", blockCount: 29, caseCount: 113 },
] as const)("recorded light-client cases of $name", ({ name, blockCount, caseCount }) => {
  const chain = readRecordedChain(name);
  const blocks = [...chain.blocks.values()];

  it("are all in the file", () => {
    expect(blocks).toHaveLength(blockCount);
    expect(chain.cases).toHaveLength(caseCount);
  });

  it("have CometBFT's result and error text", () => {
    const ours = chain.cases.map((one) => result(chain, one));
    expect(ours).toEqual(chain.cases.map((one) => (one["valid"] === true ? "valid" : one["error"])));
  });

  it("have the hashes that commit and header name", () => {
    for (const { header, commit, validatorSet } of blocks) {
      expect(toHex(headerHash(header))).toBe(toHex(commit.blockId.hash));
      expect(toHex(validatorsHash(validatorSet.validators))).toBe(toHex(header.validatorsHash));
    }
  });

  it("print as the recorded JSON", () => {
    for (const block of blocks) {
      expect(signedHeaderToJson(block)).toEqual(block.json.signed_header);
      expect(block.validatorSet.validators.map(validatorToJson)).toEqual(block.json.validators);
    }
  });

  it("are the same after encoding and decoding", () => {
    for (const { header, commit, validatorSet } of blocks) {
      const signed = SignedHeader.encode(signedHeaderToProto({ header, commit })).finish();
      expect(signedHeaderFromProto(SignedHeader.decode(signed))).toEqual({ header, commit });
      const set = ValidatorSet.encode(validatorSetToProto(validatorSet)).finish();
      expect(validatorSetFromProto(ValidatorSet.decode(set))).toEqual(validatorSet);
    }
  });
});
