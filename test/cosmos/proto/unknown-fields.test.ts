import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { fromHex } from "../../../src/platform/base/bytes.ts";
import { ProtoError } from "../../../src/cosmos/proto/registry.ts";
import { Coin } from "../../../src/cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import { MsgSend } from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { TxBody } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { rejectUnknownFields, type UnknownFieldRules } from "../../../src/cosmos/proto/unknown-fields.ts";

const BODY = "cosmos.tx.v1beta1.TxBody";
const send = MsgSend.encode({
  fromAddress: "a",
  toAddress: "b",
  amount: [{ denom: "untrn", amount: "1" }],
}).finish();

function body(typeUrl: string, value: Uint8Array): Uint8Array {
  const messages = [{ typeUrl, value }];
  return TxBody.encode({
    messages,
    memo: "",
    timeoutHeight: 0n,
    extensionOptions: [],
    nonCriticalExtensionOptions: [],
  }).finish();
}

function withField(bytes: Uint8Array, fieldNumber: number): Uint8Array {
  return new BinaryWriter().raw(bytes).tag(fieldNumber, WireType.Varint).uint32(1).finish();
}

function rejection(typeName: string, bytes: Uint8Array, rules?: UnknownFieldRules): string {
  try {
    rejectUnknownFields(typeName, bytes, rules);
  } catch (thrown) {
    if (thrown instanceof ProtoError) return `${thrown.facts.code}: ${thrown.message}`;
    throw thrown;
  }
  return "none";
}

describe("rejectUnknownFields", () => {
  it("accepts declared fields", () => {
    expect(rejectUnknownFields(BODY, body("/cosmos.bank.v1beta1.MsgSend", send))).toBe(false);
    expect(rejectUnknownFields(BODY, new Uint8Array())).toBe(false);
  });

  it("rejects a critical field at every level", () => {
    const text = (go: string): string =>
      `unknown-field: errUnknownField "${go}": {TagNum: 99, WireType:"varint"}`;
    expect(rejection(BODY, withField(body("/cosmos.bank.v1beta1.MsgSend", send), 99))).toBe(
      text("*tx.TxBody"),
    );
    expect(rejection(BODY, body("/cosmos.bank.v1beta1.MsgSend", withField(send, 99)))).toBe(
      text("*types.MsgSend"),
    );
    const coin = withField(Coin.encode({ denom: "untrn", amount: "1" }).finish(), 99);
    const bytes = new BinaryWriter().tag(3, WireType.LengthDelimited).bytes(coin).finish();
    expect(rejection(BODY, body("/cosmos.bank.v1beta1.MsgSend", bytes))).toBe(text("*types.Coin"));
  });

  it("names the Go type of a nested message", () => {
    const single = withField(new Uint8Array(), 7);
    const bytes = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(single).finish();
    expect(rejection("cosmos.tx.v1beta1.ModeInfo", bytes)).toContain('"*tx.ModeInfo_Single": {TagNum: 7');
  });

  it.each([
    [1023, false],
    [1024, true],
    [2047, true],
    [2048, false],
    [3072, true],
  ])("field %i is non-critical: %s", (fieldNumber, nonCritical) => {
    // MsgSend declares none of these numbers. TxBody declares 1023 and 2047.
    const bytes = withField(send, fieldNumber);
    expect(rejection("cosmos.bank.v1beta1.MsgSend", bytes)).toContain(`TagNum: ${fieldNumber}`);
    const lenient = rejection("cosmos.bank.v1beta1.MsgSend", bytes, { allowNonCritical: true });
    const strict = rejection("cosmos.bank.v1beta1.MsgSend", bytes);
    expect(lenient).toBe(nonCritical ? "none" : strict);
    if (nonCritical) {
      expect(rejectUnknownFields("cosmos.bank.v1beta1.MsgSend", bytes, { allowNonCritical: true })).toBe(
        true,
      );
    }
  });

  it("rejects a declared field of another wire type", () => {
    const bytes = new BinaryWriter().tag(2, WireType.Varint).uint32(1).finish();
    expect(rejection(BODY, bytes)).toBe(
      'wrong-wire-type: Mismatched "*tx.TxBody": {TagNum: 2, GotWireType: "varint" != WantWireType: "bytes"}',
    );
  });

  it("rejects an Any whose type is unknown, not registered, or of a chain with another name", () => {
    const typeUrl = "/mychain.interchainqueries.MsgSubmitQueryResult";
    const text = (url: string): string => `unresolvable-type-url: unable to resolve type URL ${url}`;
    expect(rejection(BODY, body("/no.such.Msg", new Uint8Array()))).toBe(text("/no.such.Msg"));
    expect(rejection(BODY, body(typeUrl, new Uint8Array()))).toBe(text(typeUrl));
    expect(rejection(BODY, body(typeUrl, new Uint8Array()), { chainName: "mychain" })).toBe("none");
    const none = { isRegistered: () => false };
    expect(rejection(BODY, body("/cosmos.bank.v1beta1.MsgSend", send), none)).toBe(
      text("/cosmos.bank.v1beta1.MsgSend"),
    );
  });

  it("rejects truncated bytes", () => {
    expect(rejection(BODY, Uint8Array.of(0xff, 0xff))).toBe("bad-bytes: invalid length");
    expect(rejection(BODY, Uint8Array.of(0x12, 0x05, 0x61))).toBe(
      'bad-bytes: could not consume field value for tagNum: 2, wireType: "bytes"; unexpected EOF',
    );
  });

  it.each([
    // timeout_height (field 3) with its tag in 1, 2, 6 and 10 bytes.
    ["1801"],
    ["980001"],
    [`98${"80".repeat(4)}0001`],
    [`98${"80".repeat(8)}0001`],
    // Values in their longest form.
    ["18ffffffffffffffffff01"],
    [`1281${"80".repeat(8)}0061`],
  ])("accepts padded varints: %s", (hex) => {
    expect(rejection(BODY, fromHex(hex))).toBe("none");
  });

  it.each([
    ["18ffffffffffffffffff02", 'tagNum: 3, wireType: "varint"; proto: variable length integer overflow'],
    ["18ffffffffffffffffffff01", 'tagNum: 3, wireType: "varint"; proto: variable length integer overflow'],
    ["12ffffffffffffffffff02", 'tagNum: 2, wireType: "bytes"; proto: variable length integer overflow'],
    ["12ffffffffffffffffff01", 'tagNum: 2, wireType: "bytes"; unexpected EOF'],
  ])("rejects varints above 64 bits: %s", (hex, text) => {
    expect(rejection(BODY, fromHex(hex))).toBe(`bad-bytes: could not consume field value for ${text}`);
  });

  it.each(["98ffffffffffffffff02", "0001", "ffffffffffffffffff02", "8080808080808080808001"])(
    "rejects a tag that has no field number: %s",
    (hex) => {
      expect(rejection(BODY, fromHex(hex))).toBe("bad-bytes: invalid length");
    },
  );

  it("rejects excessive nesting", () => {
    let bytes = body("/cosmos.bank.v1beta1.MsgSend", send);
    for (let depth = 0; depth < 120; depth++) bytes = body(`/${BODY}`, bytes);
    expect(rejection(BODY, bytes)).toBe("too-deep: recursion limit reached");
  });
});
