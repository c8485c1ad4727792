import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/base/bytes.ts";
import { isRecord } from "../../../src/base/json.ts";
import { parseRfc3339Ns } from "../../../src/base/rfc3339.ts";
import type { SignedHeader, ValidatorSet } from "../../../src/comet/block-types.ts";
import { CometError } from "../../../src/comet/comet-error.ts";
import { headerHash } from "../../../src/comet/header-hash.ts";
import { verifyHeader } from "../../../src/comet/light-client.ts";
import { signedHeaderFromProto, signedHeaderToProto } from "../../../src/comet/proto-blocks.ts";
import { parseSignedHeader, parseValidators } from "../../../src/comet/rpc-parse.ts";
import { signedHeaderToJson, validatorToJson } from "../../../src/comet/rpc-print.ts";
import { validatorsHash } from "../../../src/comet/validator-set.ts";
import { SignedHeader as ProtoSignedHeader } from "../../../src/proto/gen/tendermint/types/types.ts";

interface Block {
  readonly json: { readonly signed_header: unknown; readonly validators: unknown };
  readonly signed: SignedHeader;
  readonly validators: ValidatorSet;
}

const NS = 1_000_000_000n;
const TRUST_LEVEL = { numerator: 1n, denominator: 3n };

function load(name: string): {
  blocks: Map<bigint, Block>;
  cases: readonly Readonly<Record<string, unknown>>[];
} {
  const json: unknown = JSON.parse(
    readFileSync(new URL(`../../fixtures/light-client/${name}`, import.meta.url), "utf8"),
  );
  if (!isRecord(json) || !Array.isArray(json["blocks"]) || !Array.isArray(json["cases"]))
    throw new Error(name);
  const blocks = new Map(
    json["blocks"].filter(isRecord).map((block) => {
      const signed = parseSignedHeader(block["signed_header"]);
      const value: Block = {
        json: { signed_header: block["signed_header"], validators: block["validators"] },
        signed,
        validators: parseValidators(block["validators"]),
      };
      return [signed.header.height, value] as const;
    }),
  );
  return { blocks, cases: json["cases"].filter(isRecord) };
}

function blockOf(blocks: ReadonlyMap<bigint, Block>, height: unknown): Block {
  const block = typeof height === "number" ? blocks.get(BigInt(height)) : undefined;
  if (block === undefined) throw new Error(`the fixture has no block ${String(height)}`);
  return block;
}

function verdict(blocks: ReadonlyMap<bigint, Block>, one: Readonly<Record<string, unknown>>): string {
  const trusted = blockOf(blocks, one["trusted"]);
  const untrusted = blockOf(blocks, one["untrusted"]);
  try {
    verifyHeader(
      { header: trusted.signed.header, validators: trusted.validators },
      { ...untrusted.signed, validators: untrusted.validators },
      {
        nowNs: parseRfc3339Ns(String(one["now"])),
        trustingPeriodNs: BigInt(Number(one["trusting_period_s"])) * NS,
        maxClockDriftNs: BigInt(Number(one["max_clock_drift_s"])) * NS,
        trustLevel: TRUST_LEVEL,
      },
    );
    return "valid";
  } catch (fault) {
    if (fault instanceof CometError) return fault.message;
    throw fault;
  }
}

describe.each([
  { name: "test-1.json", blockCount: 14, caseCount: 33 },
  { name: "test-2.json", blockCount: 29, caseCount: 113 },
])("recorded light-client cases of $name", ({ name, blockCount, caseCount }) => {
  const { blocks, cases } = load(name);

  it("are all there", () => {
    expect(blocks.size).toBe(blockCount);
    expect(cases).toHaveLength(caseCount);
  });

  it("get CometBFT's verdict with CometBFT's text", () => {
    const ours = cases.map((one) => verdict(blocks, one));
    expect(ours).toEqual(cases.map((one) => (one["valid"] === true ? "valid" : one["error"])));
  });

  it("hash to what the commit signs and the header names", () => {
    for (const { signed, validators } of blocks.values()) {
      expect(toHex(headerHash(signed.header))).toBe(toHex(signed.commit.blockId.hash));
      expect(toHex(validatorsHash(validators.validators))).toBe(toHex(signed.header.validatorsHash));
    }
  });

  it("print as they were recorded", () => {
    for (const { signed, validators, json } of blocks.values()) {
      expect(signedHeaderToJson(signed)).toEqual(json.signed_header);
      expect(validators.validators.map(validatorToJson)).toEqual(json.validators);
    }
  });

  it("survive protobuf", () => {
    for (const { signed } of blocks.values()) {
      const bytes = ProtoSignedHeader.encode(signedHeaderToProto(signed)).finish();
      expect(signedHeaderFromProto(ProtoSignedHeader.decode(bytes))).toEqual(signed);
    }
  });
});
