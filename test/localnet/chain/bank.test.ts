import { describe, expect, it } from "vitest";
import { MsgMultiSend, MsgSend } from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import type { JsonObject } from "../../../src/platform/base/json.ts";
import { createAuthModule } from "../../../src/localnet/chain/modules/auth/module.ts";
import { createBankModule } from "../../../src/localnet/chain/modules/bank/module.ts";
import { formatAddress, moduleAddress } from "../../../src/localnet/chain/runtime/address.ts";
import { startTestChain, testGenesis } from "../../support/test-chain.ts";
import { createMemoryWorld } from "../../support/memory-context.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, type PackedMessage } from "../../support/test-tx.ts";

const alice = createTestKey("alice");
const bob = createTestKey("bob");

const coin = (amount: string, denom = "untrn") => ({ denom, amount });

function multiSend(message: MsgMultiSend): PackedMessage {
  return { typeUrl: "/cosmos.bank.v1beta1.MsgMultiSend", value: MsgMultiSend.encode(message).finish() };
}

function send(toAddress: string, ...amount: ReturnType<typeof coin>[]): PackedMessage {
  const value = MsgSend.encode({ fromAddress: alice.address, toAddress, amount }).finish();
  return { typeUrl: "/cosmos.bank.v1beta1.MsgSend", value };
}

function deliver(message: PackedMessage, more: JsonObject = {}) {
  const genesis = testGenesis([{ key: alice, untrn: 1_000_000n }]);
  const chain = startTestChain({ ...genesis, ...more });
  const [result] = chain.block(buildTx({ key: alice, sequence: 0n, messages: [message] })).txResults;
  return {
    code: result?.code,
    codespace: result?.codespace,
    log: result?.log.replace(/^.*message index: 0: /, ""),
  };
}

const from = alice.address;
const blocked = formatAddress("neutron", moduleAddress("interchainqueries"));

describe("a payment is rejected", () => {
  it.each<readonly [string, PackedMessage, number, string, string]>([
    [
      "without an output",
      multiSend({ inputs: [{ address: from, coins: [coin("1")] }], outputs: [] }),
      3,
      "bank",
      "no outputs to send transaction",
    ],
    [
      "with different sums",
      multiSend({
        inputs: [{ address: from, coins: [coin("2")] }],
        outputs: [{ address: bob.address, coins: [coin("1")] }],
      }),
      4,
      "bank",
      "sum inputs != sum outputs",
    ],
    [
      "with an output that is not an address",
      multiSend({
        inputs: [{ address: from, coins: [coin("1")] }],
        outputs: [{ address: "x", coins: [coin("1")] }],
      }),
      7,
      "sdk",
      "invalid output address: decoding bech32 failed: invalid bech32 string length 1: invalid address",
    ],
    [
      "to a module account",
      send(blocked, coin("1")),
      4,
      "sdk",
      `${blocked} is not allowed to receive funds: unauthorized`,
    ],
    [
      "with unsorted coins",
      send(bob.address, coin("1"), coin("1", "aaa")),
      10,
      "sdk",
      "1untrn,1aaa: invalid coins",
    ],
    ["with a negative amount", send(bob.address, coin("-1")), 10, "sdk", "-1untrn: invalid coins"],
    [
      "in a denomination without balances",
      send(bob.address, coin("1", "nosuch")),
      5,
      "sdk",
      "spendable balance 0nosuch is smaller than 1nosuch: insufficient funds",
    ],
  ])("%s", (...row) => {
    const [, message, code, codespace, log] = row;
    expect(deliver(message)).toEqual({ code, codespace, log });
  });

  it("in a denomination with send_enabled false", () => {
    const balances = [{ address: from, coins: [coin("1000000")] }];
    const bank = {
      balances,
      send_enabled: [{ denom: "untrn", enabled: false }],
      params: { default_send_enabled: true },
    };
    expect(deliver(send(bob.address, coin("1")), { bank })).toEqual({
      code: 5,
      codespace: "bank",
      log: "untrn transfers are currently disabled: send transactions are disabled",
    });
  });

  it("with an amount that is not an integer", () => {
    const message = send(bob.address, coin("1e3"));
    expect(deliver(message)).toMatchObject({ code: 2, codespace: "sdk" });
  });

  it("with an amount of more than 256 bits", () => {
    expect(deliver(send(bob.address, coin((2n ** 256n).toString())))).toMatchObject({
      code: 2,
      codespace: "sdk",
    });
  });
});

it.each([
  ["010", "8untrn"],
  ["0x_ff", "255untrn"],
])("a payment of %s pays what Go reads", (amount, paid) => {
  const chain = startTestChain(testGenesis([{ key: alice, untrn: 1_000_000n }]));
  const tx = buildTx({ key: alice, sequence: 0n, messages: [send(bob.address, coin(amount))] });
  const [result] = chain.block(tx).txResults;
  const received = result?.events.filter(({ attributes }) =>
    attributes.some(({ key }) => key === "msg_index"),
  );
  expect(received?.find(({ type }) => type === "coin_received")?.attributes[1]?.value).toBe(paid);
});

it("no module pays a blocked account", () => {
  const auth = createAuthModule({
    bech32Prefix: "neutron",
    moduleAccounts: { faucet: ["minter"], pool: [] },
  });
  const { keeper } = createBankModule({ blockedModules: ["pool"] }, auth.keeper);
  const context = createMemoryWorld().context();
  const coins = [{ denom: "untrn", amount: 5n }];
  keeper.mint(context, "faucet", coins);
  const pool = moduleAddress("pool");
  expect(() => keeper.sendFromModule(context, "faucet", pool, coins)).toThrow(
    `${formatAddress("neutron", pool)} is not allowed to receive funds: unauthorized`,
  );
  keeper.sendToModule(context, moduleAddress("faucet"), "pool", coins);
  expect(keeper.balance(context, pool, "untrn").amount).toBe(5n);
});

describe("a payment to several recipients", () => {
  it("emits one event for the sender and two for each recipient", () => {
    const genesis = testGenesis([{ key: alice, untrn: 1_000_000n }]);
    const chain = startTestChain(genesis);
    const carol = createTestKey("carol");
    const message = multiSend({
      inputs: [{ address: from, coins: [coin("5")] }],
      outputs: [
        { address: bob.address, coins: [coin("2")] },
        { address: carol.address, coins: [coin("3")] },
      ],
    });
    const [result] = chain.block(
      buildTx({ key: alice, sequence: 0n, gas: 400_000n, messages: [message] }),
    ).txResults;
    expect(result?.code).toBe(0);
    const own = result?.events.filter(({ attributes }) => attributes.some(({ key }) => key === "msg_index"));
    expect(
      own?.map(({ type, attributes }) => `${type} ${attributes[0]?.value} ${attributes[1]?.value}`),
    ).toEqual([
      `message /cosmos.bank.v1beta1.MsgMultiSend ${from}`,
      `coin_spent ${from} 5untrn`,
      `message ${from} 0`,
      `coin_received ${bob.address} 2untrn`,
      `transfer ${bob.address} 2untrn`,
      `coin_received ${carol.address} 3untrn`,
      `transfer ${carol.address} 3untrn`,
    ]);
  });
});
