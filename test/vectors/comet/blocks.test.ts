import { dataHash } from "../../../src/cosmos/merkle/simple-tree.ts";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromBase64, toHex } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import {
  consensusHash,
  type DeterministicTxResult,
  evidenceHash,
  partSetHeader,
  resultsHash,
  commitHash,
} from "../../../src/cosmos/comet/block-hashes.ts";
import type { Commit, Header } from "../../../src/cosmos/comet/block-types.ts";
import { commitToProto, headerToProto } from "../../../src/cosmos/comet/proto-blocks.ts";
import { parseSignedHeader } from "../../../src/cosmos/comet/rpc-json.ts";
import { Block } from "../../../src/cosmos/proto/gen/tendermint/types/block.ts";

function readJson(path: string): readonly Readonly<Record<string, unknown>>[] {
  const json: unknown = JSON.parse(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), "utf8"));
  if (!Array.isArray(json)) throw new Error(`${path} is not a list`);
  return json.filter(isRecord);
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new Error("an object was expected");
  return value;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error("a list was expected");
  return value;
}

interface RecordedBlock {
  readonly header: Header;
  /** Part set in the block's id: the number of parts, and the root in hex. */
  readonly parts: { readonly total: unknown; readonly hash: string };
  readonly txs: readonly Uint8Array[];
  readonly lastCommit: Commit;
}

function recordedBlocks(): ReadonlyMap<bigint, RecordedBlock> {
  const results = readJson("rpc.json").flatMap(({ response }) =>
    isRecord(response) && isRecord(response["result"]) ? [response["result"]] : [],
  );
  const blocks = results
    .filter((result) => "block" in result && "block_id" in result)
    .map((result): RecordedBlock => {
      const block = record(result["block"]);
      expect(record(block["evidence"])["evidence"]).toEqual([]);
      const { header, commit } = parseSignedHeader({ header: block["header"], commit: block["last_commit"] });
      const { total, hash } = record(record(result["block_id"])["parts"]);
      return {
        header,
        parts: { total, hash: String(hash).toLowerCase() },
        txs: list(record(block["data"])["txs"]).map((tx) => fromBase64(String(tx))),
        lastCommit: commit,
      };
    });
  return new Map(blocks.map((block) => [block.header.height, block]));
}

describe("recorded blocks", () => {
  const blocks = recordedBlocks();

  it("are all in the file", () => {
    expect([...blocks.keys()].map(Number).toSorted((a, b) => a - b)).toEqual([500, 1556]);
  });

  it.each([...blocks.values()].map((block) => [block.header.height, block] as const))(
    "have the hashes that header and block id name: height %s",
    (_height, { header, parts, txs, lastCommit }) => {
      expect(toHex(dataHash(txs))).toBe(toHex(header.dataHash));
      expect(toHex(evidenceHash([]))).toBe(toHex(header.evidenceHash));
      expect(toHex(commitHash(lastCommit))).toBe(toHex(header.lastCommitHash));
      expect(toHex(consensusHash({ maxBytes: 22_020_096n, maxGas: 1_000_000_000n }))).toBe(
        toHex(header.consensusHash),
      );
      const bytes = Block.encode({
        header: headerToProto(header),
        data: { txs: [...txs] },
        evidence: { evidence: [] },
        lastCommit: commitToProto(lastCommit),
      }).finish();
      const computed = partSetHeader(bytes);
      expect({ total: computed.total, hash: toHex(computed.hash) }).toEqual(parts);
    },
  );
});

describe("recorded results", () => {
  const cases = readJson("proofs/tx.json");

  it("are all in the file", () => {
    expect(cases).toHaveLength(4);
  });

  it.each(cases.map((one) => [String(one["name"]), one] as const))(
    "have the hash that the next header names: %s",
    (_name, one) => {
      const results = list(record(one["block_results"])["txs_results"]).map(
        (result): DeterministicTxResult => {
          const { code, data, gas_wanted: gasWanted, gas_used: gasUsed } = record(result);
          return {
            code: Number(code),
            data: typeof data === "string" ? fromBase64(data) : new Uint8Array(0),
            gasWanted: BigInt(String(gasWanted)),
            gasUsed: BigInt(String(gasUsed)),
          };
        },
      );
      const next = parseSignedHeader(record(one["next_block"])["signed_header"]);
      expect(toHex(resultsHash(results))).toBe(toHex(next.header.lastResultsHash));
    },
  );
});
