import { describe, expect, it } from "vitest";
import { sha256, toBase64, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { dataHash } from "../../../src/cosmos/merkle/simple-tree.ts";
import { JsonField } from "../../../src/platform/base/json.ts";
import {
  decodeBlockResults,
  decodeBlock,
  decodeTxCounts,
  decodeTxSearch,
} from "../../../src/cosmos/comet/rpc-blocks.ts";

function root(value: unknown): JsonField {
  return new JsonField(value, "result", (path, expected) => new Error(`${path} is not ${expected}`));
}

const TRANSFER = [{ type: "transfer", attributes: [{ key: "recipient", value: "bob", index: true }] }];
const RESULT = {
  code: 0,
  data: "Cg==",
  log: "[]",
  gas_wanted: "200000",
  gas_used: "71234",
  events: TRANSFER,
};
const base64 = (text: string): string => toBase64(utf8(text));
const ENCODED = [
  { type: "transfer", attributes: [{ key: base64("recipient"), value: base64("bob"), index: true }] },
  { type: "tx", attributes: [{ key: base64("fee"), value: null }] },
];
const ED25519 = {
  pub_key: { Sum: { type: "tendermint.crypto.PublicKey_Ed25519", value: { ed25519: "AQ==" } } },
};

describe("decodeBlockResults", () => {
  it.each([
    ["0.38", { finalize_block_events: TRANSFER, app_hash: "AQ==", validator_updates: null }],
    [
      "0.38 with updates",
      { finalize_block_events: TRANSFER, validator_updates: [{ ...ED25519, power: "1" }] },
    ],
    ["a jailed validator", { finalize_block_events: TRANSFER, validator_updates: [ED25519] }],
    [
      "1.0",
      {
        finalize_block_events: TRANSFER,
        validator_updates: [{ power: "573929", pub_key_bytes: "AQE=", pub_key_type: "ed25519" }],
      },
    ],
    ["0.37", { begin_block_events: null, end_block_events: TRANSFER, consensus_param_updates: null }],
  ])("reads results and events, and nothing else, of %s", (_version, more) => {
    const { results, finalizeBlockEvents } = decodeBlockResults(root({ txs_results: [RESULT], ...more }));
    expect(results).toMatchObject([{ code: 0, gasWanted: 200_000n, gasUsed: 71_234n }]);
    const [event] = results[0]?.events ?? [];
    expect(event).toEqual({ type: "transfer", attributes: [{ key: "recipient", value: "bob" }] });
    expect(finalizeBlockEvents).toHaveLength(1);
  });

  it("reads keys and values in base64 as the text that they are, and text as it is", () => {
    const { results } = decodeBlockResults(root({ txs_results: [{ ...RESULT, events: ENCODED }] }));
    expect(results[0]?.events).toEqual([
      { type: "transfer", attributes: [{ key: "recipient", value: "bob" }] },
      { type: "tx", attributes: [{ key: "fee", value: "" }] },
    ]);
    // Of characters of base64 too, and of its length.
    const events = [{ type: "t", attributes: [{ key: "receiver", value: "data" }] }];
    const text = decodeBlockResults(root({ txs_results: [{ ...RESULT, events }] }));
    expect(text.results[0]?.events).toEqual(events);
  });

  it("reads numbers as numbers, and what is zero and left out, or null", () => {
    const lean = { gas_wanted: 5, data: null, log: null, events: null };
    const odd = {
      events: [{ type: "a" }, { type: "b", attributes: null }, { type: "c", attributes: [{ key: "k" }] }],
    };
    const { results } = decodeBlockResults(root({ txs_results: [lean, odd] }));
    expect(results[0]).toMatchObject({ code: 0, gasWanted: 5n, gasUsed: 0n, events: [] });
    expect(results[1]?.events.map(({ attributes }) => attributes.length)).toEqual([0, 0, 1]);
    expect(decodeBlockResults(root({ txs_results: null }))).toEqual({ results: [], finalizeBlockEvents: [] });
  });

  it("names the field that is wrong", () => {
    expect(() => decodeBlockResults(root({ txs_results: [{ gas_used: "x" }] }))).toThrow(
      "result.txs_results[0].gas_used is not a 64-bit integer",
    );
  });
});

describe("decodeTxSearch", () => {
  const proof = {
    root_hash: "AA",
    data: "AA==",
    proof: { total: "1", index: "0", leaf_hash: "AQ==", aunts: null },
  };
  const found = { hash: "00", height: "7", index: 0, tx: base64("tx"), tx_result: RESULT, proof };

  it("reads transactions with their proofs; the hash is of the bytes", () => {
    const { txs, totalCount } = decodeTxSearch(root({ txs: [found], total_count: "0" }), { prove: true });
    expect(totalCount).toBe(1);
    expect(txs).toMatchObject([
      { height: 7, hash: sha256(utf8("tx")), proof: { proof: { total: 1, aunts: [] } } },
    ]);
    expect(decodeTxSearch(root({ txs: null, total_count: 0 }), { prove: true })).toEqual({
      txs: [],
      totalCount: 0,
    });
  });

  it.each([["tx"], ["height"], ["tx_result"], ["proof"]])("names a missing %s", (field) => {
    const broken = { ...found, [field]: null };
    expect(() => decodeTxSearch(root({ txs: [broken] }), { prove: true })).toThrow(
      `result.txs[0].${field} is not present`,
    );
  });
});

describe("blocks", () => {
  it("have transactions, and their number in a list of blocks", () => {
    const header = { data_hash: toHex(dataHash([utf8("a")])).toUpperCase() };
    const data = { txs: [base64("a")] };
    expect(decodeBlock(root({ block: { header, data } }))).toEqual({ txs: [utf8("a")], isOfHeader: true });
    expect(decodeBlock(root({ block: { header, data: { txs: null } } }))).toEqual({
      txs: [],
      isOfHeader: false,
    });
    const empty = { data_hash: toHex(dataHash([])) };
    expect(decodeBlock(root({ block: { header: empty, data: null } })).isOfHeader).toBe(true);
    expect(() => decodeBlock(root({ block: null }))).toThrow("result.block is not present");
    expect(() => decodeBlock(root({ block: { data } }))).toThrow("result.block.header is not present");
    const metas = [{ header: { height: "4" }, num_txs: "2" }];
    expect(decodeTxCounts(root({ block_metas: metas }))).toEqual(new Map([[4n, 2]]));
  });
});
