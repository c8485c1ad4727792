import { makeSignDoc, Secp256k1Wallet } from "@cosmjs/amino";
import { describe, expect, it } from "vitest";
import { fromBase64, utf8, sha256 } from "../../../../../src/platform/base/bytes.ts";
import { PubKey } from "../../../../../src/cosmos/proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { SignMode } from "../../../../../src/cosmos/proto/gen/cosmos/tx/signing/v1beta1/signing.ts";
import { AuthInfo, TxBody, TxRaw } from "../../../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { messageFromJson } from "../../../../../src/cosmos/proto/json.ts";
import { startTestChain } from "../../../../support/test-chain.ts";

const FEE = { amount: [{ denom: "untrn", amount: "5000" }], gas: "300000" };

/** Signs a dex message with an amino wallet, which signs the amino JSON that it is given. */
async function signed(type: string, json: object, aminoValue: (creator: string) => object) {
  const wallet = await Secp256k1Wallet.fromKey(sha256(utf8("amino wallet")), "neutron");
  const [account] = await wallet.getAccounts();
  if (account === undefined) throw new Error("no account");
  const { address, pubkey } = account;
  const message = { type: `dex/${type}`, value: aminoValue(address) };
  const { signature } = await wallet.signAmino(address, makeSignDoc([message], FEE, "test-1", "", 0, 0));
  const parties =
    type === "MsgCancelLimitOrder" ? { creator: address } : { creator: address, receiver: address };
  const value = messageFromJson(`neutron.dex.${type}`, { ...json, ...parties });
  return { address, tx: encodeTx(`/neutron.dex.${type}`, value, pubkey, fromBase64(signature.signature)) };
}

function encodeTx(typeUrl: string, value: Uint8Array, key: Uint8Array, signature: Uint8Array): Uint8Array {
  const mode = SignMode.SIGN_MODE_LEGACY_AMINO_JSON;
  const signer = {
    publicKey: { typeUrl: "/cosmos.crypto.secp256k1.PubKey", value: PubKey.encode({ key }).finish() },
    modeInfo: { sum: { $case: "single" as const, value: { mode } } },
    sequence: 0n,
  };
  const bodyBytes = TxBody.encode({
    messages: [{ typeUrl, value }],
    memo: "",
    timeoutHeight: 0n,
    extensionOptions: [],
    nonCriticalExtensionOptions: [],
  }).finish();
  const fee = { amount: FEE.amount, gasLimit: BigInt(FEE.gas), payer: "", granter: "" };
  const authInfoBytes = AuthInfo.encode({ signerInfos: [signer], fee, tip: undefined }).finish();
  return TxRaw.encode({ bodyBytes, authInfoBytes, signatures: [signature] }).finish();
}

function resultOf(address: string, tx: Uint8Array): string | undefined {
  const account = {
    "@type": "/cosmos.auth.v1beta1.BaseAccount",
    address,
    account_number: "0",
    sequence: "0",
  };
  const coins = ["TokenA", "TokenB", "untrn"].map((denom) => ({ denom, amount: "1000000" }));
  const chain = startTestChain({ auth: { accounts: [account] }, bank: { balances: [{ address, coins }] } });
  return chain.block(tx).txResults[0]?.log;
}

describe("dex messages of an amino wallet", () => {
  it("are accepted: enums as numbers, decimals as on the wire, defaults left out", async () => {
    const json = {
      token_in: "TokenA",
      token_out: "TokenB",
      amount_in: "100",
      order_type: "GOOD_TIL_TIME",
      expiration_time: "2100-01-01T00:00:00Z",
      limit_sell_price: "0.5",
    };
    const { address, tx } = await signed("MsgPlaceLimitOrder", json, (creator) => ({
      ...json,
      creator,
      receiver: creator,
      order_type: 4,
      limit_sell_price: "500000000000000000000000000",
    }));
    expect(resultOf(address, tx)).toBe("");
  });

  it("are accepted with lists and empty options", async () => {
    const json = {
      token_a: "TokenA",
      token_b: "TokenB",
      amounts_a: ["100", "0"],
      amounts_b: ["0", "100"],
      tick_indexes_a_to_b: ["0", "-10"],
      fees: ["1", "5"],
      options: [{}, { disable_autoswap: true }],
    };
    const { address, tx } = await signed("MsgDeposit", json, (creator) => ({
      ...json,
      creator,
      receiver: creator,
    }));
    expect(resultOf(address, tx)).toBe("");
  });

  it("are refused when the signed JSON differs", async () => {
    const json = { tranche_key: "t||0" };
    const { address, tx } = await signed("MsgCancelLimitOrder", {}, (creator) => ({ ...json, creator }));
    expect(resultOf(address, tx)).toContain("signature verification failed");
  });
});
