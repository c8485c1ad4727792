import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  concat,
  fromBase64,
  fromHex,
  sha256,
  encodeUvarint,
  lengthPrefixed,
} from "../../../src/platform/base/bytes.ts";
import { type SimpleProof, simpleProofs, verifySimpleProof } from "../../../src/cosmos/merkle/simple-tree.ts";

interface TxResult {
  readonly code: number;
  readonly data: string | null;
  readonly gas_wanted: string;
  readonly gas_used: string;
}

interface TxCase {
  readonly name: string;
  readonly tx: {
    readonly hash: string;
    readonly index: number;
    readonly tx: string;
    readonly proof: {
      readonly root_hash: string;
      readonly data: string;
      readonly proof: {
        readonly total: string;
        readonly index: string;
        readonly leaf_hash: string;
        readonly aunts: readonly string[];
      };
    };
  };
  readonly block_results: { readonly txs_results: readonly TxResult[] };
  readonly block: { readonly signed_header: { readonly header: { readonly data_hash: string } } };
  readonly next_block: {
    readonly signed_header: { readonly header: { readonly last_results_hash: string } };
  };
  readonly expect: { readonly valid: boolean };
}

const path = new URL("../../fixtures/proofs/tx.json", import.meta.url);
const cases: readonly TxCase[] = JSON.parse(readFileSync(path, "utf8"));

/** Encodes the fields of an `ExecTxResult` that `last_results_hash` covers: code, data, gas wanted and gas used. */
function deliveredBytes({ code, data, gas_wanted, gas_used }: TxResult): Uint8Array {
  const bytes = fromBase64(data ?? "");
  const varint = (tag: number, value: number) =>
    value === 0 ? new Uint8Array() : concat(Uint8Array.of(tag), encodeUvarint(value));
  return concat(
    varint(0x08, code),
    bytes.length === 0 ? bytes : concat(Uint8Array.of(0x12), lengthPrefixed(bytes)),
    varint(0x28, Number(gas_wanted)),
    varint(0x30, Number(gas_used)),
  );
}

function inclusionOf({ tx }: TxCase): SimpleProof {
  const { total, index, leaf_hash, aunts } = tx.proof.proof;
  return {
    total: BigInt(total),
    index: BigInt(index),
    leafHash: fromBase64(leaf_hash),
    aunts: aunts.map(fromBase64),
  };
}

describe("recorded proofs of transactions", () => {
  it("are all in the file", () => {
    expect(cases).toHaveLength(4);
    expect(cases.filter((recorded) => recorded.expect.valid)).toHaveLength(4);
  });

  it.each(cases)("prove that the transaction is in the block: $name", (recorded) => {
    const dataHash = fromHex(recorded.block.signed_header.header.data_hash);
    const leaf = sha256(fromBase64(recorded.tx.tx));
    expect(verifySimpleProof(dataHash, leaf, inclusionOf(recorded))).toEqual({ ok: true, value: undefined });
  });

  it.each(cases)("prove that the result is in the next block's last_results_hash: $name", (recorded) => {
    const resultsHash = fromHex(recorded.next_block.signed_header.header.last_results_hash);
    const leaves = recorded.block_results.txs_results.map(deliveredBytes);
    const { root, proofs } = simpleProofs(leaves);
    expect(root).toEqual(resultsHash);
    const leaf = leaves[recorded.tx.index];
    const proof = proofs[recorded.tx.index];
    expect(leaf && proof && verifySimpleProof(resultsHash, leaf, proof).ok).toBe(true);
  });
});
