import { describe, expect, it } from "vitest";
import { QueryDenomHashRequest } from "../../../../src/cosmos/proto/gen/ibc/applications/transfer/v1/query.ts";
import { fromUtf8, utf8 } from "../../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import {
  errorAcknowledgement,
  goReply,
  replyOf,
  SUCCESS,
} from "../../../../src/localnet/chain/modules/transfer/packet.ts";
import { fullDenom, localDenom, parseTrace } from "../../../../src/localnet/chain/modules/transfer/denom.ts";
import { escrowAddress, escrows } from "../../../../src/localnet/chain/modules/transfer/keeper.ts";
import { exportGenesis, initGenesis } from "../../../../src/localnet/chain/modules/transfer/module.ts";
import type { LinkedMessage } from "../../../support/ibc/linked-chain.ts";
import { carryHeader, receiveMessage } from "../../../support/ibc/linked-pair.ts";
import { sendPacket } from "../../../../src/localnet/chain/modules/ibc/channel/keeper.ts";
import {
  CHANNEL,
  openTransferPair,
  sentPacket,
  writtenAcknowledgement,
} from "../../../support/ibc/transfer-pair.ts";
import { createMemoryWorld } from "../../../support/memory-context.ts";

// The texts are recorded (test/vectors/ibc/recorded-packets.test.ts) or those of ibc-go 8.7.

describe("MsgTransfer", () => {
  const { a, b } = openTransferPair();
  const run = (changes: JsonObject): string => {
    const base = a.transfer({ from: 0, receiver: b.address(0), amount: 5n });
    const message: LinkedMessage = { ...base, ...changes };
    const { code, codespace, log } = a.deliver(message);
    return code === 0
      ? "done"
      : `${codespace}/${code} ${log.replace("failed to execute message; message index: 0: ", "")}`;
  };
  const token = (amount: string, denom = "untrn"): JsonObject => ({ token: { denom, amount } });

  it.each<[string, JsonObject, string]>([
    [
      "a port",
      { source_port: "-" },
      "host/2 invalid source port ID: identifier - has invalid length: 1, must be between 2-128 characters: invalid identifier",
    ],
    [
      "a channel",
      { source_channel: "c/0" },
      "host/2 invalid source channel ID: identifier c/0 cannot contain separator '/': invalid identifier",
    ],
    [
      "an unknown channel",
      { source_channel: "channel-99" },
      "channel/10 source port: transfer, source channel: channel-99: sequence send not found",
    ],
    ["no amount", token("0"), "ibc/3 0untrn: insufficient funds"],
    ["a negative amount", token("-1"), "ibc/6 -1untrn: invalid coins"],
    ["a denomination", token("1", "1"), "ibc/6 11: invalid coins"],
    [
      "more than there is",
      token("1000001"),
      "sdk/5 spendable balance 1000000untrn is smaller than 1000001untrn: insufficient funds",
    ],
    [
      "a sender",
      { sender: "me" },
      "ibc/5 string could not be parsed as address: decoding bech32 failed: invalid bech32 string length 2: invalid address",
    ],
    ["an empty receiver", { receiver: " \u0085" }, "ibc/5 missing recipient address: invalid address"],
    [
      "a long receiver",
      { receiver: "x".repeat(2049) },
      "ibc/5 recipient address must not exceed 2048 bytes: invalid address",
    ],
    [
      "a long memo",
      { memo: "x".repeat(32_769) },
      "transfer/11 memo must not exceed 32768 bytes: invalid memo",
    ],
    [
      "no hash",
      token("1", "ibc/ABC"),
      "undefined/1 invalid denom trace hash ABC: encoding/hex: odd length hex string",
    ],
    [
      "a short hash",
      token("1", "ibc/ABCD"),
      "undefined/1 invalid denom trace hash ABCD: expected size to be 32 bytes, got 2 bytes",
    ],
    [
      "an unknown voucher",
      token("1", `ibc/${"AB".repeat(32)}`),
      `transfer/6 ${"AB".repeat(32)}: denomination trace not found`,
    ],
    [
      "no timeout",
      { timeout_timestamp: "0" },
      "channel/13 constructed packet failed basic validation: packet timeout height and packet timeout timestamp cannot both be 0: invalid packet",
    ],
  ])("with %s is refused", (_name, changes, expected) => {
    expect(run(changes)).toBe(expected);
  });

  it("takes an amount as Go reads it", () => {
    const before = a.bank.balance(a.context(), a.accounts[0] ?? new Uint8Array(0), "untrn").amount;
    const result = a.deliver({
      ...a.transfer({ from: 0, receiver: "\uFEFF", amount: 5n }),
      ...token("010"),
    });
    expect(result.log).toBe("");
    const after = a.bank.balance(a.context(), a.accounts[0] ?? new Uint8Array(0), "untrn").amount;
    expect(before - after).toBe(8n);
    const sent = result.events.find(({ type }) => type === "ibc_transfer");
    expect(sent?.attributes.find(({ key }) => key === "amount")?.value).toBe("8");
    expect(fromUtf8(sentPacket(result).data)).toContain('"amount":"8"');
  });

  it("is refused while sending is switched off", () => {
    const update = (signer: string, send: boolean): string => {
      const { code, codespace, log } = a.deliver({
        "@type": "/ibc.applications.transfer.v1.MsgUpdateParams",
        signer,
        params: { send_enabled: send, receive_enabled: true },
      });
      return code === 0 ? "done" : `${codespace}/${code} ${log}`;
    };
    expect(update(a.address(0), false)).toBe(
      `ibc/2 failed to execute message; message index: 0: expected ${a.authority}, got ${a.address(0)}: unauthorized`,
    );
    expect(update(a.authority, false)).toBe("done");
    expect(run({})).toBe("transfer/7 fungible token transfers from this chain are disabled");
    expect(update(a.authority, true)).toBe("done");
    expect(run({})).toBe("done");
  });
});

describe("a packet that no module of transfers made", () => {
  it.each<[string, string, number]>([
    ["is no JSON", "hello", 3],
    ["has no receiver", '{"denom":"uatom","amount":"1","sender":"s"}', 5],
    ["has an unknown member", '{"denom":"uatom","amount":"1","sender":"s","receiver":"r","x":1}', 12],
    ["has no number", '{"denom":"uatom","amount":"x","sender":"s","receiver":"r"}', 5],
    [
      "has an octal number with a digit too high",
      '{"denom":"uatom","amount":"08","sender":"s","receiver":"r"}',
      5,
    ],
    [
      "has a path with an invalid port",
      '{"denom":"-/channel-1/uatom","amount":"1","sender":"s","receiver":"RECEIVER"}',
      2,
    ],
    [
      "has a sender of Go's white space",
      '{"denom":"uatom","amount":"1","sender":"\u0085","receiver":"RECEIVER"}',
      5,
    ],
    ["has nothing to pay", '{"denom":"uatom","amount":"0","sender":"s","receiver":"r"}', 5],
    ["has no denomination", '{"denom":"","amount":"1","sender":"s","receiver":"r"}', 3],
    [
      "takes out of escrow what is not there",
      '{"denom":"transfer/channel-0/untrn","amount":"1","sender":"s","receiver":"RECEIVER"}',
      5,
    ],
    [
      "has a receiver of 4096 bytes",
      `{"denom":"uatom","amount":"1","sender":"s","receiver":"${"x".repeat(4096)}"}`,
      3,
    ],
  ])("and %s is acknowledged with a code", (_name, data, code) => {
    const pair = openTransferPair();
    expect(receiveForged(pair, data)).toBe(
      `{"error":"ABCI code: ${code}: error handling packet: see events for details"}`,
    );
  });

  it.each([
    ["010", 8n],
    ["0x1_0", 16n],
    ["+7", 7n],
  ])("pays out the amount %s as Go reads it", (amount, paid) => {
    const { a, b } = openTransferPair();
    const data = `{"denom":"uatom","amount":"${amount}","sender":"s","receiver":"RECEIVER"}`;
    expect(receiveForged({ a, b }, data)).toBe(fromUtf8(SUCCESS.bytes));
    const denom = localDenom(parseTrace("transfer/channel-0/uatom"));
    expect(a.bank.supply(a.context(), denom)).toBe(paid);
  });

  it("pays out a denomination of which ibc-go reads every part as a path", () => {
    const data = '{"denom":"ab/channel-1/cd/channel-2","amount":"1","sender":"s","receiver":"RECEIVER"}';
    const pair = openTransferPair();
    expect(receiveForged(pair, data)).toBe(fromUtf8(SUCCESS.bytes));
    const exported = exportGenesis(pair.a.context());
    const context = createMemoryWorld().context();
    initGenesis(context, exported);
    expect(exportGenesis(context)).toEqual(exported);
  });

  it("does not get more out of escrow than transfers put there, whatever else the account holds", () => {
    const { a, b } = openTransferPair();
    expect(a.deliver(a.transfer({ from: 0, receiver: b.address(0), amount: 5n })).log).toBe("");
    const escrow = escrowAddress(CHANNEL);
    a.bank.send(a.context(), a.accounts[0] ?? escrow, escrow, [{ denom: "untrn", amount: 10n }]);
    const take = (amount: bigint): string =>
      receiveForged(
        { a, b },
        `{"denom":"transfer/channel-0/untrn","amount":"${amount}","sender":"s","receiver":"RECEIVER"}`,
      );
    const state = (): readonly unknown[] => [
      a.bank.balance(a.context(), escrow, "untrn").amount,
      escrows.get(a.context(), "untrn"),
    ];
    expect(take(6n)).toBe(`{"error":"ABCI code: 5: error handling packet: see events for details"}`);
    expect(state()).toEqual([15n, 5n]);
    expect(take(5n)).toBe(fromUtf8(SUCCESS.bytes));
    expect(state()).toEqual([10n, undefined]);
  });
});

/** Sends any data from `b` to `a`, whose first account is RECEIVER. Returns the acknowledgement. */
function receiveForged({ a, b }: ReturnType<typeof openTransferPair>, data: string): string {
  const outgoing = {
    source: CHANNEL,
    data: utf8(data.replace("RECEIVER", a.address(0))),
    timeout: { height: { revisionNumber: 0n, revisionHeight: 0n }, timestamp: b.timeNs() * 2n },
  };
  const sequence = sendPacket(b.context(), outgoing);
  carryHeader(b, a);
  const received = a.deliver(receiveMessage(b, a, { ...outgoing, sequence, destination: CHANNEL }));
  expect(received.log).toBe("");
  return fromUtf8(writtenAcknowledgement(received));
}

describe("the query DenomHash", () => {
  it.each([
    ["-/channel-0/uatom", "invalid port ID at position 0: identifier - has invalid length: 1"],
    ["transfer/channel-0/uatom", "transfer/channel-0/uatom: denomination trace not found"],
    ["", "base denomination cannot be blank"],
    [" ", " : denomination trace not found"],
  ])("of %j fails", (trace, expected) => {
    const { a } = openTransferPair();
    const request = QueryDenomHashRequest.encode({ trace }).finish();
    expect(() => a.query("/ibc.applications.transfer.v1.Query/DenomHash", request)).toThrow(expected);
  });
});

describe("denominations", () => {
  it.each([
    ["untrn", "", "untrn"],
    ["transfer/channel-0/untrn", "transfer/channel-0", "untrn"],
    ["transfer/channel-0/transfer/channel-12/uatom", "transfer/channel-0/transfer/channel-12", "uatom"],
    ["transfer/channel-0/factory/neutron1abc/foo", "transfer/channel-0", "factory/neutron1abc/foo"],
    ["factory/neutron1abc/foo", "", "factory/neutron1abc/foo"],
    ["transfer/channel-0", "", "transfer/channel-0"],
    ["transfer/channelx/untrn", "", "transfer/channelx/untrn"],
    ["transfer/channel-18446744073709551615/untrn", "transfer/channel-18446744073709551615", "untrn"],
    ["transfer/channel-18446744073709551616/untrn", "", "transfer/channel-18446744073709551616/untrn"],
    // ibc-go accepts 20 digits.
    ["transfer/channel-000000000000000000001/untrn", "", "transfer/channel-000000000000000000001/untrn"],
  ])("%s has the path %j", (denom, path, baseDenom) => {
    const trace = parseTrace(denom);
    expect(trace).toEqual({ path, baseDenom });
    expect(fullDenom(trace)).toBe(denom);
  });

  it("of other chains are hashes", () => {
    expect(localDenom(parseTrace("transfer/channel-0/uatom"))).toBe(
      "ibc/27394FB092D2ECCD56123C74F36E4C1F926001CEADA9CA97EA622B25F41E5EB2",
    );
  });
});

describe("an acknowledgement", () => {
  it("is printed as Go prints it", () => {
    expect(goReply(replyOf(SUCCESS.bytes))).toBe('result:"\\001" ');
    expect(goReply(replyOf(errorAcknowledgement({ code: 5 }).bytes))).toBe(
      'error:"ABCI code: 5: error handling packet: see events for details" ',
    );
  });

  it.each([
    ["{", /^cannot unmarshal ICS-20 transfer packet acknowledgement: .*unknown request$/],
    [
      "{}",
      "expected one of [types.Acknowledgement_Result, types.Acknowledgement_Error], got <nil>: invalid type",
    ],
  ])("%s is refused", (text, expected) => {
    expect(() => replyOf(utf8(text))).toThrow(expected);
  });
});

describe("genesis", () => {
  const state = {
    port_id: "transfer",
    denom_traces: [{ path: "transfer/channel-0", base_denom: "uatom" }],
    params: { send_enabled: false, receive_enabled: true },
    total_escrowed: [{ denom: "untrn", amount: "7" }],
  };

  it("restores the same state", () => {
    const context = createMemoryWorld().context();
    initGenesis(context, state);
    expect(exportGenesis(context)).toEqual(state);
  });

  it.each([
    [{ ...state, port_id: "-" }, "app_state.transfer.port_id: "],
    [
      { ...state, denom_traces: [...state.denom_traces, ...state.denom_traces] },
      "app_state.transfer.denom_traces[1]: the trace is given twice",
    ],
    [
      { ...state, denom_traces: [{ path: "transfer/channel-0/transfer", base_denom: "uatom" }] },
      "app_state.transfer.denom_traces[0]: trace info must come in pairs of port and channel identifiers '{portID}/{channelID}', got the identifiers: [transfer channel-0 transfer]",
    ],
    [
      { ...state, denom_traces: [{ path: "transfer/channel-0/-/channel-1", base_denom: "uatom" }] },
      "app_state.transfer.denom_traces[0]: invalid port ID at position 2: identifier - has invalid length: 1",
    ],
    [
      { ...state, denom_traces: [{ path: "transfer/0", base_denom: "uatom" }] },
      "app_state.transfer.denom_traces[0]: invalid channel ID at position 0: identifier 0 has invalid length: 1, must be between 8-64 characters",
    ],
    [
      { ...state, denom_traces: [{ path: "", base_denom: "" }] },
      "app_state.transfer.denom_traces[0]: base denomination cannot be blank",
    ],
    [{ ...state, total_escrowed: [{ denom: "untrn", amount: "0" }] }, "app_state.transfer.total_escrowed: "],
  ])("fails with the path of the invalid field", (json, expected) => {
    expect(() => initGenesis(createMemoryWorld().context(), json)).toThrow(expected);
  });
});
