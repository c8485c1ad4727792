import { describe, expect, it } from "vitest";
import { AuthInfo, Tx, TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgCreateValidator } from "../../../src/cosmos/proto/gen/cosmos/staking/v1beta1/tx.ts";
import { PubKey } from "../../../src/cosmos/proto/gen/cosmos/crypto/ed25519/keys.ts";
import { messageToJson } from "../../../src/cosmos/proto/json.ts";
import { createApp } from "../../../src/localnet/chain/app.ts";
import { formatAddress, parseAddress } from "../../../src/localnet/chain/runtime/address.ts";
import { GenesisError } from "../../../src/localnet/chain/runtime/genesis.ts";
import type { JsonValue } from "../../../src/platform/base/json.ts";
import { startTestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, sendMessage } from "../../support/test-tx.ts";

const alice = createTestKey("alice");
const OPERATOR = formatAddress("neutronvaloper", parseAddress("neutron", alice.address));

/** A genesis transaction of an account with a number that its signer did not know. */
function genesisTx(amount = "5000000", sequence = 0n): JsonValue {
  const pubkey = {
    typeUrl: "/cosmos.crypto.ed25519.PubKey",
    value: PubKey.encode({ key: new Uint8Array(32).fill(1) }).finish(),
  };
  const value = MsgCreateValidator.encode({
    description: { moniker: "m", identity: "", website: "", securityContact: "", details: "" },
    commission: { rate: "0", maxRate: "0", maxChangeRate: "0" },
    minSelfDelegation: "1",
    delegatorAddress: "",
    validatorAddress: OPERATOR,
    pubkey,
    value: { denom: "untrn", amount },
  }).finish();
  const message = { typeUrl: "/cosmos.staking.v1beta1.MsgCreateValidator", value };
  const raw = TxRaw.decode(buildTx({ key: alice, sequence, messages: [message], fee: [] }));
  const tx = Tx.encode({
    body: TxBody.decode(raw.bodyBytes),
    authInfo: AuthInfo.decode(raw.authInfoBytes),
    signatures: raw.signatures,
  });
  return messageToJson("cosmos.tx.v1beta1.Tx", tx.finish());
}

function start(genutil: JsonValue) {
  const accounts = [{ key: alice, untrn: 10_000_000n, number: 7n }];
  return startTestChain(testGenesis(accounts, { genutil }));
}

describe("transactions of a genesis document", () => {
  it("create validators, which are in the set of the first block", () => {
    const { app } = start({ gen_txs: [genesisTx()] });
    const { staking, bank, genutil } = app.exportState() as Readonly<Record<string, JsonValue>>;
    expect(staking).toMatchObject({
      validators: [{ operator_address: OPERATOR, status: "BOND_STATUS_BONDED", tokens: "5000000" }],
      last_validator_powers: [{ address: OPERATOR, power: "5" }],
    });
    expect(JSON.stringify(bank)).toContain('"amount":"5000000"');
    expect(genutil).toEqual({ gen_txs: [] });
  });

  it("do not change what a check before the first block expects", () => {
    const app = createApp({ kind: "local", denom: "untrn" });
    const appState = testGenesis([{ key: alice, untrn: 10_000_000n, number: 7n }]);
    app.initChain({ chainId: "test-1", timeNs: 1n, initialHeight: 1n, validators: [], appState });
    const messages = [sendMessage(alice.address, alice.address, 1n)];
    const tx = (accountNumber: bigint) => buildTx({ key: alice, sequence: 0n, messages, accountNumber });
    expect(app.checkTx(tx(0n), false).code).toBe(4);
    expect(app.checkTx(tx(7n), false)).toMatchObject({ code: 0, gasWanted: 200_000n });
  });

  it.each<readonly [string, JsonValue, string]>([
    ["a list", { gen_txs: {} }, "app_state.genutil.gen_txs: expected a list"],
    ["a misspelt field", { gentxs: [] }, "app_state.genutil.gentxs: no such field (known: gen_txs)"],
    ["something else", [], "app_state.genutil: expected an object"],
    ["a transaction without a body", { gen_txs: [{}] }, "expected body and auth_info"],
    ["more than the account has", { gen_txs: [genesisTx("20000000")] }, "app_state.genutil.gen_txs[0]"],
    ["a wrong sequence", { gen_txs: [genesisTx(undefined, 1n)] }, "account sequence mismatch"],
    ["the same one twice", { gen_txs: [genesisTx(), genesisTx()] }, "app_state.genutil.gen_txs[1]"],
  ])("end the start: %s", (_name, genutil, text) => {
    const run = (): unknown => start(genutil);
    expect(run).toThrow(GenesisError);
    expect(run).toThrow(text);
  });
});
