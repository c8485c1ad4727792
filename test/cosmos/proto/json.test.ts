import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { ProtoError } from "../../../src/cosmos/proto/registry.ts";
import { ModeInfo } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgExecuteContract } from "../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { Model } from "../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { Any } from "../../../src/cosmos/proto/gen/google/protobuf/any.ts";
import { messageFromJson, messageToJson } from "../../../src/cosmos/proto/json.ts";

/** Field numbers of `MsgEditValidator` and of the slashing `Params`, which have no generated codec. */
const COMMISSION_RATE = 3;
const MIN_SIGNED_PER_WINDOW = 2;

/** A message with one length-delimited field: a string, or bytes that hold text. */
function textField(fieldNumber: number, text: string): Uint8Array {
  return new BinaryWriter().tag(fieldNumber, WireType.LengthDelimited).string(text).finish();
}

function error(typeName: string, json: unknown): string {
  try {
    messageFromJson(typeName, json);
  } catch (thrown) {
    if (thrown instanceof ProtoError) return `${thrown.facts.code} ${thrown.message}`;
    throw thrown;
  }
  return "none";
}

describe("messageToJson", () => {
  it("prints every field of an empty message", () => {
    expect(JSON.stringify(messageToJson("neutron.interchainqueries.RegisteredQuery", new Uint8Array()))).toBe(
      '{"id":"0","owner":"","query_type":"","keys":[],"transactions_filter":"","connection_id":"","update_period":"0",' +
        '"last_submitted_result_local_height":"0","last_submitted_result_remote_height":null,"deposit":[],' +
        '"submit_timeout":"0","registered_at_height":"0"}',
    );
  });

  it("prints absent non-nullable fields with their defaults", () => {
    expect(messageToJson("ibc.lightclients.tendermint.v1.ConsensusState", new Uint8Array())).toEqual({
      timestamp: "0001-01-01T00:00:00Z",
      root: { hash: null },
      next_validators_hash: "",
    });
    expect(messageToJson("cosmos.base.v1beta1.Coin", new Uint8Array())).toEqual({ denom: "", amount: "0" });
  });

  it("prints absent nullable numbers as null", () => {
    const bytes = textField(COMMISSION_RATE, "50000000000000000");
    expect(messageToJson("cosmos.staking.v1beta1.MsgEditValidator", bytes)).toMatchObject({
      commission_rate: "0.050000000000000000",
      min_self_delegation: null,
    });
  });

  it("prints decimals that are bytes on the wire", () => {
    const bytes = textField(MIN_SIGNED_PER_WINDOW, "500000000000000000");
    expect(messageToJson("cosmos.slashing.v1beta1.Params", bytes)).toMatchObject({
      min_signed_per_window: "0.500000000000000000",
      slash_fraction_downtime: "0",
    });
  });

  it("prints only the member of a oneof that is set", () => {
    const bytes = ModeInfo.encode({ sum: { $case: "single", value: { mode: 1 } } }).finish();
    expect(messageToJson("cosmos.tx.v1beta1.ModeInfo", bytes)).toEqual({
      single: { mode: "SIGN_MODE_DIRECT" },
    });
    expect(messageToJson("cosmos.tx.v1beta1.ModeInfo", new Uint8Array())).toEqual({});
  });

  it("prints an enum without a name as its number", () => {
    expect(messageToJson("neutron.harpoon.HookSubscriptions", Uint8Array.of(8, 77))).toMatchObject({
      hook_type: 77,
    });
  });

  it("prints contract messages as JSON, and keys as hex", () => {
    const call = MsgExecuteContract.encode({
      sender: "a",
      contract: "b",
      msg: utf8('{"x":[1]}'),
      funds: [],
    }).finish();
    expect(messageToJson("cosmwasm.wasm.v1.MsgExecuteContract", call)).toMatchObject({ msg: { x: [1] } });
    const model = Model.encode({ key: Uint8Array.of(0, 0xab), value: Uint8Array.of(1) }).finish();
    expect(messageToJson("cosmwasm.wasm.v1.Model", model)).toEqual({ key: "00AB", value: "AQ==" });
  });

  it("prints an Any with its type URL, on a chain of any name", () => {
    const any = Any.encode({
      typeUrl: "/mychain.harpoon.HookSubscription",
      value: new Uint8Array(),
    }).finish();
    expect(messageToJson("google.protobuf.Any", any, "mychain")).toEqual({
      "@type": "/mychain.harpoon.HookSubscription",
      contract_address: "",
      hooks: [],
    });
    expect(() => messageToJson("google.protobuf.Any", any)).toThrow(
      "unable to resolve type URL /mychain.harpoon.HookSubscription",
    );
    expect(messageToJson("google.protobuf.Any", new Uint8Array())).toBeNull();
    const packed = Any.encode({ typeUrl: "/cosmos.base.v1beta1.Coin", value: new Uint8Array() }).finish();
    const twice = Any.encode({ typeUrl: "/google.protobuf.Any", value: packed }).finish();
    const json = {
      "@type": "/google.protobuf.Any",
      value: { "@type": "/cosmos.base.v1beta1.Coin", denom: "", amount: "0" },
    };
    expect(messageToJson("google.protobuf.Any", twice)).toEqual(json);
    const back = Any.decode(messageFromJson("google.protobuf.Any", json));
    expect(Any.decode(back.value).typeUrl).toBe("/cosmos.base.v1beta1.Coin");
  });

  it("rejects invalid bytes, unknown types and excessive nesting", () => {
    expect(() => messageToJson("cosmos.base.v1beta1.Coin", Uint8Array.of(0xff))).toThrow(
      "the bytes are not a cosmos.base.v1beta1.Coin",
    );
    expect(() => messageToJson("no.such.Message", new Uint8Array())).toThrow(
      "unknown message type no.such.Message",
    );
    let nested = Any.encode({ typeUrl: "", value: new Uint8Array() }).finish();
    for (let depth = 0; depth < 200; depth++) {
      nested = Any.encode({ typeUrl: "/google.protobuf.Any", value: nested }).finish();
    }
    expect(() => messageToJson("google.protobuf.Any", nested)).toThrow("nested more than 100 levels deep");
  });
});

describe("messageFromJson", () => {
  it("accepts both spellings of names, integers as numbers or strings, and null for absent", () => {
    const a = messageFromJson("neutron.interchainqueries.MsgRegisterInterchainQuery", {
      query_type: "kv",
      update_period: 5,
      keys: null,
    });
    const b = messageFromJson("neutron.interchainqueries.MsgRegisterInterchainQuery", {
      queryType: "kv",
      updatePeriod: "5",
    });
    expect(toHex(a)).toBe(toHex(b));
    expect(toHex(a)).toBe("0a026b762805");
  });

  it("reads null in a list of messages as a message without fields", () => {
    const json = { options: [null, { fail_tx_on_bel: true }] };
    expect(toHex(messageFromJson("neutron.dex.MsgDeposit", json))).toBe("4a004a021001");
  });

  it("writes absent non-nullable fields", () => {
    expect(toHex(messageFromJson("ibc.core.channel.v1.MsgRecvPacket", {}))).toBe("0a023a001a00");
  });

  it("accepts enums by name, by number and by their name in JSON", () => {
    for (const permission of ["ACCESS_TYPE_EVERYBODY", "Everybody", 3]) {
      expect(toHex(messageFromJson("cosmwasm.wasm.v1.AccessConfig", { permission }))).toBe("0803");
    }
  });

  it.each([
    ["a list", [], "(root): expected an object (neutron.interchainqueries.MsgSubmitQueryResult)"],
    [
      "an unknown member",
      { nope: 1 },
      "nope: neutron.interchainqueries.MsgSubmitQueryResult has no such field",
    ],
    ["a string for an integer", { query_id: "1x" }, "query_id: expected a uint64"],
    ["a negative for an unsigned", { query_id: -1 }, "query_id: expected a uint64"],
    ["2^64", { query_id: "18446744073709551616" }, "query_id: expected a uint64"],
    ["a number that lost digits", { query_id: 2 ** 53 }, "query_id: expected a uint64"],
    ["a number for a string", { sender: 1 }, "sender: expected a string"],
    [
      "invalid base64 in a nested message",
      { result: { kv_results: [{}, { key: "A" }] } },
      "result.kv_results[1].key: not base64: expected the standard alphabet with padding",
    ],
    ["an object for a list", { result: { kv_results: {} } }, "result.kv_results: expected a list"],
    [
      "an Any without a type",
      { result: { block: { header: {} } } },
      "result.block.header.@type: expected a type URL",
    ],
  ])("names the path of %s", (_name, json, text) => {
    expect(error("neutron.interchainqueries.MsgSubmitQueryResult", json)).toBe(`bad-json ${text}`);
  });

  it("names the path of an unknown type", () => {
    expect(error("cosmos.tx.v1beta1.TxBody", { messages: [{ "@type": "/no.such.Msg" }] })).toBe(
      "unresolvable-type-url messages[0].@type: unable to resolve type URL /no.such.Msg",
    );
  });

  it("rejects two members of one oneof", () => {
    expect(error("cosmos.tx.v1beta1.ModeInfo", { single: {}, multi: {} })).toBe(
      "bad-json multi: another member of sum is already set",
    );
  });

  it.each([
    ["tendermint.types.Vote", "round", "an int32", [-(2n ** 31n), 2n ** 31n - 1n]],
    ["tendermint.types.PartSetHeader", "total", "a uint32", [0n, 2n ** 32n - 1n]],
    ["tendermint.types.Vote", "height", "an int64", [-(2n ** 63n), 2n ** 63n - 1n]],
    ["cosmos.base.query.v1beta1.PageRequest", "limit", "a uint64", [0n, 2n ** 64n - 1n]],
  ] as const)("%s.%s is %s", (typeName, field, type, [least, most]) => {
    for (const value of [least, most]) expect(error(typeName, { [field]: value.toString() })).toBe("none");
    for (const value of [least - 1n, most + 1n])
      expect(error(typeName, { [field]: value.toString() })).toBe(`bad-json ${field}: expected ${type}`);
  });

  it("rejects invalid numbers, booleans and enums", () => {
    expect(error("cosmos.base.v1beta1.DecCoin", { amount: "1.2.3" })).toContain(
      "bad-json amount: not a decimal",
    );
    expect(error("cosmos.base.v1beta1.Coin", { amount: "x" })).toBe('bad-json amount: not an integer: "x"');
    expect(error("cosmos.base.query.v1beta1.PageRequest", { reverse: 1 })).toBe(
      "bad-json reverse: expected true or false",
    );
    expect(error("neutron.harpoon.HookSubscription", { hooks: ["NO"] })).toBe(
      "bad-json hooks[0]: expected a neutron.harpoon.HookType",
    );
  });
});
