import { describe, expect, it } from "vitest";
import { startTestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { AuthInfo, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { buildTx, sendMessage, signTx } from "../../support/test-tx.ts";

// Codes and texts are those of the SDK's address codec (cosmos-sdk v0.50 codec/address/bech32_codec.go).

const key = createTestKey("sender");
const foreign = createTestKey("sender", "cosmos").address;
const app = startTestChain(testGenesis([{ key, untrn: 1_000_000n }])).app;

const EMPTY = { code: 1, codespace: "undefined", log: "empty address string is not allowed" };
const NO_BECH32 = {
  code: 1,
  codespace: "undefined",
  log: "decoding bech32 failed: invalid bech32 string length 5",
};
const FOREIGN = {
  code: 35,
  codespace: "sdk",
  log: "hrp does not match bech32 prefix: expected 'neutron' got 'cosmos': internal logic error",
};

describe("a signer that is no address of the chain", () => {
  const from = (text: string) =>
    buildTx({ key, sequence: 0n, messages: [sendMessage(text, key.address, 1n)] });

  it.each([
    ["", EMPTY],
    ["   ", EMPTY],
    ["alice", NO_BECH32],
    [foreign, FOREIGN],
  ])("%j is the error of the sender", (text, result) => {
    expect(app.checkTx(from(text), false)).toMatchObject(result);
    expect(app.simulate(from(text))).toMatchObject(result);
  });
});

describe("a fee payer or granter that is no address of the chain", () => {
  const withFee = (payer: string, granter: string): Uint8Array => {
    const tx = buildTx({ key, sequence: 0n, messages: [sendMessage(key.address, key.address, 1n)] });
    const { bodyBytes, authInfoBytes } = TxRaw.decode(tx);
    const info = AuthInfo.decode(authInfoBytes);
    const fee = { amount: info.fee?.amount ?? [], gasLimit: 200_000n, payer, granter };
    return signTx({ key }, bodyBytes, AuthInfo.encode({ ...info, fee }).finish());
  };

  it.each([
    ["alice", { code: 7, codespace: "sdk" }],
    [foreign, { code: 7, codespace: "sdk" }],
  ])("payer %j", (payer, result) => {
    expect(app.checkTx(withFee(payer, ""), false)).toMatchObject(result);
  });

  it.each([
    ["alice", 1],
    [foreign, 35],
  ])("granter %j", (granter, code) => {
    expect(app.checkTx(withFee("", granter), false).code).toBe(code);
  });
});
