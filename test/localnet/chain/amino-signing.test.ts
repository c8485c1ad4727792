import { describe, expect, it } from "vitest";
import { SignMode } from "../../../src/cosmos/proto/gen/cosmos/tx/signing/v1beta1/signing.ts";
import { AuthInfo, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { messageFromJson } from "../../../src/cosmos/proto/json.ts";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import { startTestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, type PackedMessage } from "../../support/test-tx.ts";

const key = createTestKey("ledger");
const contract = createTestKey("contract").address;
const ME = key.address;

/** Builds a transaction with one message and signs `document` in amino mode. */
function signed(
  message: PackedMessage,
  document: string,
  mode: SignMode = SignMode.SIGN_MODE_LEGACY_AMINO_JSON,
): Uint8Array {
  const raw = TxRaw.decode(buildTx({ key, sequence: 0n, messages: [message], memo: "<m>" }));
  const info = AuthInfo.decode(raw.authInfoBytes);
  const signerInfos = info.signerInfos.map((each) => ({
    ...each,
    modeInfo: { sum: { $case: "single" as const, value: { mode } } },
  }));
  const authInfoBytes = AuthInfo.encode({ ...info, signerInfos }).finish();
  return TxRaw.encode({ ...raw, authInfoBytes, signatures: [key.sign(utf8(document))] }).finish();
}

function packed(type: string, json: unknown): PackedMessage {
  return { typeUrl: `/${type}`, value: messageFromJson(type, json) };
}

/** The document as a wallet writes it. */
function stdSignDoc(message: string): string {
  return (
    `{"account_number":"0","chain_id":"test-1","fee":{"amount":[{"amount":"5000","denom":"untrn"}],"gas":"200000"},` +
    `"memo":"\\u003cm\\u003e","msgs":[${message}],"sequence":"0"}`
  );
}

describe("a signature of a sign mode that the chain does not verify", () => {
  it.each([
    [SignMode.SIGN_MODE_UNSPECIFIED, "unsupported sign mode SIGN_MODE_UNSPECIFIED"],
    [SignMode.SIGN_MODE_TEXTUAL, "unsupported sign mode SIGN_MODE_TEXTUAL"],
    [SignMode.SIGN_MODE_DIRECT_AUX, "unable to verify single signer signature"],
    [SignMode.SIGN_MODE_EIP_191, "unsupported sign mode SIGN_MODE_EIP_191"],
  ])("is refused with the SDK's reason: %s", (mode, reason) => {
    const { app } = startTestChain(testGenesis([{ key, untrn: 1_000_000n }]));
    const message = packed("cosmos.bank.v1beta1.MsgMultiSend", { inputs: [{ address: ME }], outputs: [] });
    expect(app.checkTx(signed(message, "", mode), false)).toMatchObject({
      code: 4,
      codespace: "sdk",
      log: `signature verification failed; please verify account number (0) and chain-id (test-1): (${reason}): unauthorized`,
    });
  });
});

describe("an amino signature", () => {
  it.each([
    [
      packed("cosmwasm.wasm.v1.MsgExecuteContract", {
        sender: ME,
        contract,
        msg: { register: { period: 5, b: { d: 1, c: "<" } } },
        funds: [{ denom: "untrn", amount: "7" }],
      }),
      `{"type":"wasm/MsgExecuteContract","value":{"contract":"${contract}","funds":[{"amount":"7","denom":"untrn"}],` +
        `"msg":{"register":{"b":{"c":"\\u003c","d":1},"period":5}},"sender":"${ME}"}}`,
    ],
    [
      packed("neutron.interchainqueries.MsgRemoveInterchainQueryRequest", { query_id: "7", sender: ME }),
      `{"type":"/neutron.interchainqueries.MsgRemoveInterchainQueryRequest","value":{"query_id":"7","sender":"${ME}"}}`,
    ],
    [
      packed("cosmos.bank.v1beta1.MsgMultiSend", { inputs: [{ address: ME }], outputs: [] }),
      `{"type":"cosmos-sdk/MsgMultiSend","value":{"inputs":[{"address":"${ME}","coins":[]}],"outputs":null}}`,
    ],
  ])("over the SDK's document is valid: %#", (message, json) => {
    const { app } = startTestChain(testGenesis([{ key, untrn: 1_000_000n }]));
    const other = json.replace(ME, contract);
    expect(app.checkTx(signed(message, stdSignDoc(other)), false)).toMatchObject({ code: 4 });
    expect(app.checkTx(signed(message, stdSignDoc(json)), false)).toMatchObject({ code: 0, log: "" });
  });

  it("names the type URL of the own chain", () => {
    const app = startTestChain(testGenesis([{ key, untrn: 1_000_000n }]), { chainName: "mychain" }).app;
    const type = "interchainqueries.MsgRemoveInterchainQueryRequest";
    const { value } = packed(`neutron.${type}`, { query_id: "7", sender: ME });
    const json = `{"type":"/mychain.${type}","value":{"query_id":"7","sender":"${ME}"}}`;
    const tx = signed({ typeUrl: `/mychain.${type}`, value }, stdSignDoc(json));
    expect(app.checkTx(tx, false)).toMatchObject({ code: 0, log: "" });
  });

  it("of a message without an amino form is not checked: the message itself is refused", () => {
    const { app } = startTestChain(testGenesis([{ key, untrn: 1_000_000n }]));
    const value = messageFromJson("cosmwasm.wasm.v1.MsgExecuteContract", { sender: ME, contract, msg: 1 });
    const broken = value.with(value.length - 1, 0x7b);
    const message = { typeUrl: "/cosmwasm.wasm.v1.MsgExecuteContract", value: broken };
    expect(app.checkTx(signed(message, stdSignDoc("{}")), false)).toMatchObject({
      code: 14,
      codespace: "wasm",
      log: "payload msg: invalid",
    });
  });
});
