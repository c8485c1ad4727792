import { Secp256k1, Secp256k1Signature, sha256 } from "@cosmjs/crypto";
import {
  DirectSecp256k1HdWallet,
  encodePubkey,
  makeAuthInfoBytes,
  makeSignBytes,
  makeSignDoc,
  Registry,
} from "@cosmjs/proto-signing";
import { SigningStargateClient } from "@cosmjs/stargate";
import { inspect } from "node:util";
import { TxRaw as StockTxRaw } from "cosmjs-types/cosmos/tx/v1beta1/tx";
import { MsgSend } from "cosmjs-types/cosmos/bank/v1beta1/tx";
import { describe, expect, it } from "vitest";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import { decodeAccount } from "../../../src/cosmos/client/tx/tx-queries.ts";
import { messageFromJson } from "../../../src/cosmos/proto/json.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import {
  encodeForSimulation,
  signTransaction,
  type TransactionDraft,
  createSigner,
} from "../../../src/cosmos/client/tx/signer.ts";
import { decodeGrpcResponse } from "../../../src/cosmos/client/create-chain-client.ts";
import { payerOf } from "../../../src/relayer/config/signer-config.ts";
import { AuthInfo, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { recordedCalls } from "../../support/client/fixture.ts";

const MNEMONIC =
  "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
const send = { fromAddress: "a", toAddress: "b", amount: [{ denom: "untrn", amount: "5" }] };

const draft: TransactionDraft = {
  messages: [{ typeUrl: "/cosmos.bank.v1beta1.MsgSend", value: MsgSend.encode(send).finish() }],
  memo: "note",
  timeoutHeight: 0n,
  gasLimit: 200_000n,
  fee: { denom: "untrn", amount: 500n },
  sequence: 9n,
};

describe("a fee granter", () => {
  it("is in the fee of a simulation and of a signed transaction", async () => {
    const key = { kind: "mnemonic", mnemonic: new Secret(MNEMONIC) } as const;
    const signer = await createSigner(key, "neutron", "neutron1granter");
    const { bytes } = await signTransaction(draft, { chainId: "test-1", accountNumber: 3n }, signer);
    for (const tx of [bytes, encodeForSimulation(draft, signer)]) {
      expect(AuthInfo.decode(TxRaw.decode(tx).authInfoBytes).fee).toMatchObject({
        payer: "",
        granter: "neutron1granter",
      });
    }
  });
});

describe("a transaction with a fee granter", () => {
  it("has the bytes that CosmJS signs", async () => {
    const wallet = await DirectSecp256k1HdWallet.fromMnemonic(MNEMONIC, { prefix: "neutron" });
    const [account] = await wallet.getAccounts();
    const stock = await SigningStargateClient.offline(wallet);
    const granter = "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2";
    const amount = [{ denom: "untrn", amount: "500" }];
    const message = { typeUrl: "/cosmos.bank.v1beta1.MsgSend", value: send };
    const expected = await stock.sign(
      account?.address ?? "",
      [message],
      { amount, gas: "200000", granter },
      "note",
      { accountNumber: 3, sequence: 9, chainId: "test-1" },
    );
    const key = { kind: "mnemonic", mnemonic: new Secret(MNEMONIC) } as const;
    const signer = await createSigner(key, "neutron", granter);
    const { bytes } = await signTransaction(draft, { chainId: "test-1", accountNumber: 3n }, signer);
    expect(TxRaw.decode(bytes)).toEqual(TxRaw.decode(StockTxRaw.encode(expected).finish()));
  });

  it("is paid by the granter, whose balance and spending count", () => {
    expect(payerOf({ fee_granter: "neutron1granter" }, "neutron1signer")).toBe("neutron1granter");
    for (const none of [{}, { fee_granter: "" }, { fee_granter: undefined }])
      expect(payerOf(none, "neutron1signer")).toBe("neutron1signer");
  });
});

describe("a signed transaction", () => {
  it("has the same bytes as CosmJS' transaction and a valid signature", async () => {
    const signer = await createSigner(
      { kind: "mnemonic", mnemonic: new Secret(`  ${MNEMONIC}\n`) },
      "neutron",
    );
    const { bytes } = await signTransaction(draft, { chainId: "test-1", accountNumber: 3n }, signer);
    const raw = TxRaw.decode(bytes);
    const pubkey = encodePubkey({
      type: "tendermint/PubKeySecp256k1",
      value: Buffer.from(signer.publicKey).toString("base64"),
    });
    const authInfo = makeAuthInfoBytes(
      [{ pubkey, sequence: 9 }],
      [{ denom: "untrn", amount: "500" }],
      200_000,
      undefined,
      undefined,
    );
    const body = new Registry([["/cosmos.bank.v1beta1.MsgSend", MsgSend]]).encodeTxBody({
      messages: [{ typeUrl: "/cosmos.bank.v1beta1.MsgSend", value: send }],
      memo: "note",
    });
    expect([raw.bodyBytes, raw.authInfoBytes]).toEqual([body, authInfo]);
    const digest = sha256(makeSignBytes(makeSignDoc(body, authInfo, "test-1", 3)));
    const [signature = new Uint8Array(0)] = raw.signatures;
    expect(
      Secp256k1.verifySignature(Secp256k1Signature.fromFixedLength(signature), digest, signer.publicKey),
    ).toBe(true);
  });

  it("has one empty signature when it is encoded for simulation", async () => {
    const signer = await createSigner({ kind: "private-key", hex: new Secret("22".repeat(32)) }, "neutron");
    const { signatures } = TxRaw.decode(encodeForSimulation(draft, signer));
    expect(signatures).toEqual([new Uint8Array(0)]);
  });
});

describe("a signer", () => {
  it("derives the same address as CosmJS, and another one from another path", async () => {
    const wallet = await DirectSecp256k1HdWallet.fromMnemonic(MNEMONIC, { prefix: "neutron" });
    const [account] = await wallet.getAccounts();
    const secret = new Secret(MNEMONIC);
    const signer = await createSigner({ kind: "mnemonic", mnemonic: secret }, "neutron");
    const other = await createSigner(
      { kind: "mnemonic", mnemonic: secret, hdPath: "m/44'/118'/0'/0/1" },
      "neutron",
    );
    expect(signer.address).toBe(account?.address);
    expect(other.address).not.toBe(signer.address);
  });

  it("throws for an invalid key without any part of it in the error", async () => {
    const words = MNEMONIC.replace("about", "abandon");
    for (const key of [
      { kind: "mnemonic", mnemonic: new Secret(words) },
      { kind: "mnemonic", mnemonic: new Secret(MNEMONIC), hdPath: "44/1" },
      { kind: "private-key", hex: new Secret("zz".repeat(32)) },
      { kind: "private-key", hex: new Secret("33".repeat(31)) },
      { kind: "private-key", hex: new Secret("00".repeat(32)) },
    ] as const) {
      const error: unknown = await createSigner(key, "neutron").catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ClientError);
      expect(inspect(error, { depth: 9 })).not.toMatch(/abandon|zz|3333|0000/);
    }
  });
});

describe("an account", () => {
  it("is decoded from the recorded response", () => {
    const call = recordedCalls().find(
      ({ request }) => request?.params["path"] === "/cosmos.auth.v1beta1.Query/Account",
    );
    const result = isRecord(call?.response) ? call.response["result"] : undefined;
    expect(decodeAccount(decodeGrpcResponse(result, { path: "", height: 0n }, "node"))).toEqual({
      accountNumber: 3n,
      sequence: 25n,
    });
  });

  it("is decoded when its coins are locked for ever", () => {
    const encoded = messageFromJson("cosmos.auth.v1beta1.QueryAccountResponse", {
      account: {
        "@type": "/cosmos.vesting.v1beta1.PermanentLockedAccount",
        base_vesting_account: { base_account: { account_number: "7", sequence: "2" } },
      },
    });
    expect(decodeAccount(encoded)).toEqual({ accountNumber: 7n, sequence: 2n });
  });

  it("of an unknown type, or missing, throws", () => {
    expect(() => decodeAccount(new Uint8Array(0))).toThrow(ClientError);
    expect(() => decodeAccount(utf8("\n\x04\n\x02/x"))).toThrow(/unknown type/);
  });
});
