import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { fromBase64, fromHex, toBase64, toHex } from "../../../src/platform/base/bytes.ts";
import { decodeFound } from "../../../src/cosmos/client/tx/flights.ts";
import { resultField } from "../../../src/cosmos/client/rpc-response.ts";
import { decodeBlockResults } from "../../../src/cosmos/comet/rpc-blocks.ts";
import { decodeStoreResponse } from "../../../src/cosmos/client/create-chain-client.ts";
import { decodeSignedHeader } from "../../../src/cosmos/client/light-block.ts";
import { isTransaction } from "../../../src/cosmos/client/events/subscription.ts";
import { fixtureText } from "../../support/client/fixture.ts";

interface KvCase {
  readonly name: string;
  readonly key: string;
  readonly height: number;
  readonly abci_query_response: {
    readonly value: string | null;
    readonly log: string;
    readonly proofOps: { readonly ops: readonly { readonly type: string; readonly data: string }[] } | null;
  };
  readonly expect: { readonly kind: string };
}

interface TxCase {
  readonly tx: { readonly hash: string; readonly height: string; readonly tx: string };
  readonly block_results: unknown;
  readonly block: { readonly signed_header: unknown };
  readonly next_block: { readonly signed_header: unknown };
}

const kvCases: readonly KvCase[] = JSON.parse(fixtureText("proofs/kv.json"));
const txCases: readonly TxCase[] = JSON.parse(fixtureText("proofs/tx.json"));

describe("recorded store reads", () => {
  it("are all in the file", () => expect(kvCases).toHaveLength(51));

  it.each(kvCases.map((one) => [one.name, one] as const))("%s", (_name, one) => {
    const response = one.abci_query_response;
    const read = decodeStoreResponse({ response }, "node");
    if (one.expect.kind === "query refused") {
      expect(read).toMatchObject({ code: 4, codespace: "store", log: response.log, height: 0n, proof: [] });
      return;
    }
    expect(read).toMatchObject({ code: 0, height: BigInt(one.height) });
    expect(read.value === undefined).toBe(one.expect.kind === "non-membership");
    expect(read.value === undefined ? null : toBase64(read.value)).toBe(response.value);
    expect(read.proof.map(({ type }) => type)).toEqual(["ics23:iavl", "ics23:simple"]);
    expect(read.proof.map(({ data }) => toBase64(data))).toEqual(
      response.proofOps?.ops.map(({ data }) => data),
    );
    expect(toHex(read.proof[0]?.key ?? new Uint8Array(0))).toBe(one.key);
  });

  it("tell an empty value from an absent key by the proof when the response has null for both", () => {
    const empty = kvCases.filter(({ abci_query_response: { value } }) => value === "");
    expect(empty).toHaveLength(2);
    for (const { abci_query_response } of empty)
      expect(
        decodeStoreResponse({ response: { ...abci_query_response, value: null } }, "node").value,
      ).toEqual(new Uint8Array(0));
  });
});

describe("recorded transactions with proof", () => {
  it("are all in the file", () => expect(txCases).toHaveLength(4));

  it.each(txCases.map((one) => [one.tx.hash, one] as const))("%s", (hash, one) => {
    const bytes = fromBase64(one.tx.tx);
    expect(isTransaction(bytes)).toBe(true);
    expect(createHash("sha256").update(bytes).digest("hex").toUpperCase()).toBe(hash);
    expect(decodeFound(one.tx, "node").height).toBe(BigInt(one.tx.height));
    expect(
      decodeBlockResults(resultField(one.block_results, "block_results", "node")).results.length,
    ).toBeGreaterThan(0);
    const block = decodeSignedHeader(one.block, "node").header;
    const next = decodeSignedHeader(one.next_block, "node").header;
    expect(next.height).toBe(block.height + 1n);
    expect(fromHex(toHex(next.lastBlockId.hash))).toHaveLength(32);
  });
});
