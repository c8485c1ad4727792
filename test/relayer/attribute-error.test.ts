import { describe, expect, it } from "vitest";
import { TX_TOO_LARGE } from "../../src/cosmos/client/tx/tx-queries.ts";
import {
  attributeError,
  failureText,
  isRedundant,
  type TxFailure,
} from "../../src/relayer/submit/apply-failure.ts";
import { layOut, toMessages } from "../../src/relayer/submit/transaction.ts";
import type { ClientUpdate } from "../../src/relayer/result/proven-result.ts";
import { sampleEntry, sampleQuery, sampleResult } from "./samples.ts";

const update = (key: string): ClientUpdate => ({
  key,
  connectionId: "connection-0",
  message: { typeUrl: "/ibc.core.client.v1.MsgUpdateClient", value: new TextEncoder().encode(key) },
});
const [one, two] = [update("client-0 10"), update("client-1 7")];
const entry = (id: bigint, needed: ClientUpdate | undefined) =>
  sampleEntry(sampleResult(id, 3, { update: needed }));
const entries = [entry(1n, one), entry(2n, undefined), entry(3n, two), entry(4n, one)];
const slots = layOut(entries, () => true);

describe("the layout of a transaction", () => {
  it("has each update once, in front of the first result that needs it", () => {
    expect(
      slots.map((slot) => (slot.kind === "update" ? slot.update.key : `${slot.entry.result.query.id}`)),
    ).toEqual(["client-0 10", "1", "2", "client-1 7", "3", "4"]);
    expect(layOut(entries, ({ key }) => key === two.key).map(({ kind }) => kind)).toEqual([
      "result",
      "result",
      "update",
      "result",
      "result",
    ]);
  });

  it("becomes messages in its order", () => {
    const messages = toMessages(slots, "/neutron.interchainqueries.MsgSubmitQueryResult");
    expect(messages.map(({ typeUrl }) => typeUrl.split(".").at(-1))).toEqual([
      "MsgUpdateClient",
      "MsgSubmitQueryResult",
      "MsgSubmitQueryResult",
      "MsgUpdateClient",
      "MsgSubmitQueryResult",
      "MsgSubmitQueryResult",
    ]);
    expect(messages[0]).toBe(one.message);
    expect(messages[1]?.value).toBe(entries[0]?.result.message);
  });
});

describe("the blame for a failed transaction", () => {
  const of = (log: string, fields: Partial<TxFailure> = {}) =>
    attributeError({ codespace: "sdk", code: 5, log, ...fields }, slots);

  it.each([
    [
      "failed to execute message; message index: 2: failed to call sudo: execute wasm contract failed",
      { kind: "result", entry: entries[1] },
    ],
    [
      "failed to execute message; message index: 3: client state is not active",
      { kind: "update", update: two },
    ],
    ["failed to execute message; message index: 17: no such message", { kind: "unknown" }],
    [
      "block utilization of 30000001 cannot exceed max block utilization of 30000000: message index: 1",
      { kind: "block-full" },
    ],
    ["insufficient fee: got: 1untrn required: 5untrn", { kind: "price" }],
    // A contract may say anything. The index counts.
    [
      "failed to execute message; message index: 1: insufficient funds",
      { kind: "result", entry: entries[0] },
    ],
    ["spendable balance 0untrn is smaller than 5untrn: insufficient funds", { kind: "funds" }],
    [
      "fee limit exceeded: basic allowance: neutron1a does not allow to pay fees for neutron1b",
      { kind: "funds" },
    ],
    ["account sequence mismatch, expected 5, got 4: incorrect account sequence", { kind: "account" }],
    ["signature verification failed; please verify account number", { kind: "account" }],
    ["unable to verify single signer signature", { kind: "account" }],
    ["out of gas in location: ReadFlat; gasWanted: 5, gasUsed: 6: out of gas", { kind: "unknown" }],
    ["", { kind: "unknown" }],
  ])("follows from %s", (log, expected) => {
    expect(of(log)).toEqual(expected);
  });

  it("falls on nobody when another relayer was faster, unless it is a TX result", () => {
    const log =
      "failed to execute message; message index: 1: result's remote height 10 is less than or equal to last result's remote height 12";
    expect(of(log)).toEqual({ kind: "redundant", entry: entries[0] });
    expect(of(log.replace("index: 1", "index: 0"))).toEqual({ kind: "update", update: one });
    const tx = sampleEntry(sampleResult(9n, 3, { query: sampleQuery({ id: 9n, type: "tx" }) }));
    expect(
      attributeError({ codespace: "", code: 1, log }, [...slots.slice(0, 1), { kind: "result", entry: tx }]),
    ).toEqual({
      kind: "result",
      entry: tx,
    });
  });

  it("is the size by codespace and code alone", () => {
    expect(of("message index: 1", TX_TOO_LARGE)).toEqual({ kind: "too-large" });
    expect(of("message index: 1", { ...TX_TOO_LARGE, codespace: "icq" })).toMatchObject({ kind: "result" });
    expect(of("message index: 1", { ...TX_TOO_LARGE, code: TX_TOO_LARGE.code + 1 })).toMatchObject({
      kind: "result",
    });
  });
});

describe("a failure", () => {
  it("is none of the query when another relayer was faster", () => {
    const log =
      "result's remote height 10 is less than or equal to last result's remote height 12: invalid height";
    expect(isRedundant(failureText({ codespace: "interchainqueries", code: 1103, log }))).toBe(true);
    expect(isRedundant("interchainqueries/1103: invalid height")).toBe(false);
  });

  it("is text with codespace and code", () => {
    expect(failureText({ codespace: "sdk", code: 11, log: "out of gas" })).toBe("sdk/11: out of gas");
  });
});

describe("isRedundant", () => {
  it("knows the text of the module, and no other one about a remote height", () => {
    const text = "result's remote height 5 is less than or equal to last result's remote height 7";
    expect(isRedundant(text)).toBe(true);
    expect(isRedundant("no consensus state for the remote height 5")).toBe(false);
  });
});
