import { describe, expect, it } from "vitest";
import { concat, fromHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { rejectNonCanonicalTx } from "../../../src/localnet/chain/runtime/tx.ts";
import { ModuleError } from "../../../src/localnet/chain/runtime/errors.ts";
import { startTestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey, type TestKey } from "../../support/test-keys.ts";
import { buildTx, sendMessage, signTx } from "../../support/test-tx.ts";
import { messageToJson } from "../../../src/cosmos/proto/json.ts";
import { PubKey } from "../../../src/cosmos/proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { SignMode } from "../../../src/cosmos/proto/gen/cosmos/tx/signing/v1beta1/signing.ts";
import { AuthInfo, SignDoc, TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgSend } from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { MsgEditValidator } from "../../../src/cosmos/proto/gen/cosmos/staking/v1beta1/tx.ts";
import { TYPE_URL } from "../../../src/cosmos/proto/registry.ts";

describe("the canonical encoding of a transaction", () => {
  it.each([
    ["000000", "invalid length; proto: invalid field number"],
    ["0801", "expected 2 wire type, got 0"],
    ["12000a00", "txRaw must follow ADR-027, got tagNum 1 after tagNum 2"],
    ["0a8000", "length prefix varint for tagNum 1 is not as short as possible, read 2, only need 1"],
    ["0a05ff", "invalid length; unexpected EOF"],
    ["0a", "invalid length; unexpected EOF"],
    ["0affffffffffffffffffff01", "invalid length; proto: variable length integer overflow"],
  ])("%s is rejected", (hex, text) => {
    expect(() => rejectNonCanonicalTx(fromHex(hex))).toThrow(
      new ModuleError("sdk", 2, `${text}: tx parse error`, "tx parse error"),
    );
  });

  it.each(["", "0a00", "0a011212020a0b1a01001a00"])("%j is accepted", (hex) => {
    expect(() => rejectNonCanonicalTx(fromHex(hex))).not.toThrow();
  });
});

describe("bytes that are not a transaction", () => {
  const { app } = startTestChain(testGenesis([{ key: createTestKey("a"), untrn: 1_000_000n }]));

  const invalid = "failed to decode tx: invalid length; proto: invalid field number: tx parse error";
  const empty = "must contain at least one message: invalid request";

  it.each([
    ["000000", { code: 1, codespace: "undefined", log: invalid, gasUsed: 0n }],
    // The gas of reading the consensus parameters.
    ["", { code: 18, codespace: "sdk", log: empty, gasUsed: 1159n }],
  ])("%j fails like on a real chain", (hex, result) => {
    expect(app.checkTx(fromHex(hex), false)).toMatchObject({ ...result, gasWanted: 0n });
  });

  const key = createTestKey("a");
  const coins = (...amount: readonly string[]) => amount.map((each) => ({ denom: "untrn", amount: each }));
  const pay = (amount: string) => {
    const value = MsgSend.encode({ fromAddress: key.address, toAddress: key.address, amount: coins(amount) });
    return { typeUrl: TYPE_URL.send, value: value.finish() };
  };
  const edit = (commissionRate: string) => ({
    typeUrl: "/cosmos.staking.v1beta1.MsgEditValidator",
    value: MsgEditValidator.encode({
      description: undefined,
      validatorAddress: "",
      commissionRate,
      minSelfDelegation: "",
    }).finish(),
  });

  // Go decodes numbers with the transaction, so nobody pays for a malformed one.
  it.each([
    ["an amount", { messages: [pay("1e3")] }, 'math/big: cannot unmarshal "1e3" into a *big.Int'],
    [
      "a large amount",
      { messages: [pay((2n ** 256n).toString())] },
      "integer out of range; got: 257, max: 256",
    ],
    ["a fee", { messages: [pay("1")], fee: coins("08") }, 'math/big: cannot unmarshal "08" into a *big.Int'],
    ["a decimal", { messages: [edit("0.5")] }, 'math/big: cannot unmarshal "0.5" into a *big.Int'],
    [
      "a large decimal",
      { messages: [edit((-(2n ** 315n)).toString())] },
      "decimal out of range; got: 316, max: 315",
    ],
  ])("are refused for %s that Go does not decode", (_what, parts, log) => {
    const tx = buildTx({ key, sequence: 0n, ...parts });
    expect(app.checkTx(tx, false)).toMatchObject({
      codespace: "undefined",
      code: 1,
      log: `failed to decode tx: ${log}: tx parse error`,
    });
  });

  it("never throw", () => {
    for (let seed = 0; seed < 500; seed++) {
      const bytes = Uint8Array.from(
        { length: seed % 40 },
        (_, index) => (seed * 31 + index * index * 7) % 256,
      );
      expect(app.checkTx(bytes, false).code).not.toBe(0);
    }
  });
});

describe("unknown non-critical fields of a body", () => {
  const key = createTestKey("a");
  const chain = () => startTestChain(testGenesis([{ key, untrn: 1_000_000n }]));
  const body = TxBody.encode({
    messages: [sendMessage(key.address, key.address, 1n)],
    memo: "",
    timeoutHeight: 0n,
    extensionOptions: [],
    nonCriticalExtensionOptions: [],
  }).finish();
  /** Field 1024, a varint of 1. */
  const withUnknown = Uint8Array.from([...body, 0x80, 0x40, 0x01]);

  it.each([
    [SignMode.SIGN_MODE_DIRECT, 0],
    [SignMode.SIGN_MODE_LEGACY_AMINO_JSON, 4],
  ])("in sign mode %d: code %d, since only a direct signature covers them", (mode, code) => {
    const signed = signAs(key, withUnknown, mode);
    expect(chain().app.checkTx(signed, false).code).toBe(code);
  });

  it("are the only reason why the amino signature fails", () => {
    const signed = signAs(key, body, SignMode.SIGN_MODE_LEGACY_AMINO_JSON);
    expect(chain().app.checkTx(signed, false)).toMatchObject({ code: 0, log: "" });
  });
});

/** Signs a body with a payment of 1untrn to the sender itself. */
function signAs(key: TestKey, bodyBytes: Uint8Array, mode: SignMode): Uint8Array {
  const fee = { amount: [{ denom: "untrn", amount: "5000" }], gasLimit: 200_000n, payer: "", granter: "" };
  const authInfoBytes = AuthInfo.encode({
    signerInfos: [
      {
        publicKey: {
          typeUrl: TYPE_URL.secp256k1PubKey,
          value: PubKey.encode({ key: key.publicKey }).finish(),
        },
        modeInfo: { sum: { $case: "single", value: { mode } } },
        sequence: 0n,
      },
    ],
    fee,
    tip: undefined,
  }).finish();
  const coin = '{"amount":"1","denom":"untrn"}';
  const amino = `{"account_number":"0","chain_id":"test-1","fee":{"amount":[{"amount":"5000","denom":"untrn"}],"gas":"200000"},"memo":"","msgs":[{"type":"cosmos-sdk/MsgSend","value":{"amount":[${coin}],"from_address":"${key.address}","to_address":"${key.address}"}}],"sequence":"0"}`;
  const document =
    mode === SignMode.SIGN_MODE_DIRECT
      ? SignDoc.encode({ bodyBytes, authInfoBytes, chainId: "test-1", accountNumber: 0n }).finish()
      : utf8(amino);
  return TxRaw.encode({ bodyBytes, authInfoBytes, signatures: [key.sign(document)] }).finish();
}

describe("a tag in more bytes than it needs", () => {
  const key = createTestKey("a");
  const { app } = startTestChain(testGenesis([{ key, untrn: 1_000_000n }]));
  const { bodyBytes, authInfoBytes } = TxRaw.decode(
    buildTx({ key, sequence: 0n, messages: [sendMessage(key.address, key.address, 1n)] }),
  );
  // memo (field 2) with its tag in ten bytes.
  const padded = concat(bodyBytes, fromHex(`92${"80".repeat(8)}000161`));

  it("is accepted, as in Go, and printed", () => {
    const tx = signTx({ key }, padded, authInfoBytes);
    expect(app.checkTx(tx, false)).toMatchObject({ code: 0 });
    expect(messageToJson("cosmos.tx.v1beta1.TxBody", padded)).toMatchObject({ memo: "a" });
  });
});
