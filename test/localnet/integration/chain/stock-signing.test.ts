import { Secp256k1Wallet } from "@cosmjs/amino";
import { DirectSecp256k1Wallet, type OfflineSigner } from "@cosmjs/proto-signing";
import { SigningStargateClient } from "@cosmjs/stargate";
import { TxRaw } from "cosmjs-types/cosmos/tx/v1beta1/tx";
import { describe, expect, it } from "vitest";
import { sha256, utf8 } from "../../../../src/platform/base/bytes.ts";
import { parseAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import { startTestChain } from "../../../support/test-chain.ts";
import { createTestKey } from "../../../support/test-keys.ts";

const CHAIN_ID = "test-1";

const SECRET = sha256(utf8("stock wallet"));

async function start(kind: "local" | "remote", signer?: OfflineSigner) {
  const wallet = signer ?? (await DirectSecp256k1Wallet.fromKey(SECRET, "neutron"));
  const [account] = await wallet.getAccounts();
  const from = account?.address ?? "";
  const client = await SigningStargateClient.offline(wallet);
  const coins = [{ denom: "untrn", amount: "1000000" }];
  const chain = startTestChain(
    { bank: { balances: [{ address: from, coins }] }, auth: { accounts: [baseAccount(from)] } },
    { kind },
  );
  const to = createTestKey("stock receiver").address;
  const sign = async (untrn: string, sequence: number, gas: string, memo = "a memo"): Promise<Uint8Array> => {
    const value = { fromAddress: from, toAddress: to, amount: [{ denom: "untrn", amount: untrn }] };
    const message = { typeUrl: "/cosmos.bank.v1beta1.MsgSend", value };
    const fee = { amount: [{ denom: "untrn", amount: "1000" }], gas };
    const signed = await client.sign(from, [message], fee, memo, {
      accountNumber: 0,
      sequence,
      chainId: CHAIN_ID,
    });
    return TxRaw.encode(signed).finish();
  };
  return { chain, sign, to };
}

function baseAccount(address: string) {
  return { "@type": "/cosmos.auth.v1beta1.BaseAccount", address, account_number: "0", sequence: "0" };
}

describe.each(["local", "remote"] as const)("cosmjs on the %s chain", (kind) => {
  it("signs two successive payments to a new account", async () => {
    const { chain, sign, to } = await start(kind);
    const txs = [await sign("1", 0, "200000"), await sign("2", 1, "200000")];
    expect(txs.map((tx) => chain.app.checkTx(tx, false).log)).toEqual(["", ""]);
    expect(chain.block(...txs).txResults.map(({ code, log }) => [code, log])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    const key = Uint8Array.of(2, 20, ...parseAddress("neutron", to), ...utf8("untrn"));
    const stored = chain.app.query({ path: "store/bank/key", data: key, height: 0n, prove: false });
    expect(Buffer.from(stored.value).toString()).toBe("3");
  });

  it("signs with an amino wallet and a memo with characters that JSON escapes", async () => {
    const { chain, sign } = await start(kind, await Secp256k1Wallet.fromKey(SECRET, "neutron"));
    const tx = await sign("1", 0, "200000", "<a> & 'b' \"c\" ä");
    expect(chain.block(tx).txResults[0]).toMatchObject({ code: 0, log: "" });
    const other = await sign("1", 2, "200000");
    expect(chain.app.checkTx(other, false)).toMatchObject({ code: 32 });
  });

  it("succeeds with the simulated gas times 1.4, the usual margin", async () => {
    const { chain, sign } = await start(kind);
    chain.block(await sign("1", 0, "300000"));
    const simulated = chain.app.simulate(await sign("1", 1, "0"));
    expect(simulated.code).toBe(0);
    const gas = Math.ceil(Number(simulated.gasUsed) * 1.4).toString();
    const [result] = chain.block(await sign("1", 1, gas)).txResults;
    expect(result).toMatchObject({ code: 0, log: "" });
  });
});
