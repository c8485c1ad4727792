import { describe, expect, it } from "vitest";
import { toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { createApp } from "../../../src/localnet/chain/app.ts";
import { formatAddress, moduleAddress } from "../../../src/localnet/chain/runtime/address.ts";
import { createProofVerifier } from "../../../src/cosmos/merkle/ics23/proof-verifier.ts";
import {
  QueryBalanceRequest,
  QueryBalanceResponse,
} from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";
import {
  SimulateRequest,
  SimulateResponse,
} from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { createMemoryStorage, KEPT } from "../../support/memory-storage.ts";
import { startBenchChain } from "../../support/bench-chain.ts";
import { continueTestChain, startTestChain, type TestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, sendMessage } from "../../support/test-tx.ts";

const alice = createTestKey("alice");
const bob = createTestKey("bob");
const GENESIS = testGenesis([
  { key: alice, untrn: 1_000_000_000n },
  { key: bob, untrn: 5n },
]);
const NO_BYTES = new Uint8Array(0);

function payment(sequence: bigint, untrn: bigint, gas = 200_000n): Uint8Array {
  return buildTx({ key: alice, sequence, gas, messages: [sendMessage(alice.address, bob.address, untrn)] });
}

function balance(chain: TestChain, address: string, height = 0n): string | undefined {
  const data = QueryBalanceRequest.encode({ address, denom: "untrn" }).finish();
  const path = "/cosmos.bank.v1beta1.Query/Balance";
  const response = chain.app.query({ path, data, height, prove: false });
  expect(response.log).toBe("");
  return QueryBalanceResponse.decode(response.value).balance?.amount;
}

describe("the application", () => {
  it("starts with the hash of an empty state and commits genesis with the first block", () => {
    const app = createApp({ kind: "local", denom: "untrn" });
    const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const initialized = app.initChain({
      chainId: "a-1",
      timeNs: 0n,
      initialHeight: 1n,
      validators: [],
      appState: GENESIS,
    });
    expect(toHex(initialized.appHash)).toBe(emptyHash);
    expect(app.info().height).toBe(0n);
    const chain = continueTestChain(app, 0n);
    const { appHash, changes } = chain.block();
    expect(toHex(appHash)).not.toBe(emptyHash);
    expect([changes.height, toHex(changes.appHash)]).toEqual([1n, toHex(appHash)]);
    expect(balance(chain, alice.address)).toBe("1000000000");
  });

  it("keeps the writes of checks until the next commit", () => {
    const chain = startTestChain(GENESIS);
    expect(chain.app.checkTx(payment(0n, 1n), false).code).toBe(0);
    expect(chain.app.checkTx(payment(1n, 1n), false).code).toBe(0);
    expect(chain.app.checkTx(payment(1n, 2n), false)).toMatchObject({ code: 32, codespace: "sdk" });
    chain.block(payment(0n, 1n));
    expect(chain.app.checkTx(payment(1n, 1n), true).code).toBe(0);
    expect(balance(chain, bob.address)).toBe("6");
  });

  it("drops the writes of a simulation, which needs neither signature nor fee", () => {
    const chain = startTestChain(GENESIS);
    const unsigned = buildTx({
      key: { ...alice, sign: () => NO_BYTES },
      sequence: 0n,
      gas: 0n,
      fee: [],
      messages: [sendMessage(alice.address, bob.address, 7n)],
    });
    const data = SimulateRequest.encode({ tx: undefined, txBytes: unsigned }).finish();
    const path = "/cosmos.tx.v1beta1.Service/Simulate";
    const response = chain.app.query({ path, data, height: 0n, prove: false });
    expect(response.code).toBe(0);
    const { gasInfo, result } = SimulateResponse.decode(response.value);
    expect(Number(gasInfo?.gasUsed)).toBeGreaterThan(50_000);
    expect(result?.events.some(({ type }) => type === "transfer")).toBe(true);
    expect(result?.msgResponses.map(({ typeUrl }) => typeUrl)).toEqual([
      "/cosmos.bank.v1beta1.MsgSendResponse",
    ]);
    expect(balance(chain, bob.address)).toBe("5");
    expect(chain.app.checkTx(payment(0n, 1n), false).code).toBe(0);
  });

  it("reports a failed simulation with the SDK's text", () => {
    const { app } = startTestChain(GENESIS);
    const query = (txBytes: Uint8Array) =>
      app.query({
        path: "/cosmos.tx.v1beta1.Service/Simulate",
        data: SimulateRequest.encode({ tx: undefined, txBytes }).finish(),
        height: 0n,
        prove: false,
      });
    expect(query(NO_BYTES)).toMatchObject({ grpcCode: 3, grpcMessage: "empty txBytes is not allowed" });
    expect(query(payment(9n, 1n)).grpcMessage).toMatch(
      /^account sequence mismatch, expected 0, got 9: incorrect account sequence with gas used: '\d+'$/,
    );
    expect(query(Uint8Array.of(0, 0, 0))).toMatchObject({ grpcCode: 2, code: 18, codespace: "sdk" });
  });

  it("drops the writes of all messages when the last one fails, but keeps sequence and fee", () => {
    const chain = startTestChain(GENESIS);
    const messages = [1n, 2n, 10n ** 18n].map((untrn) => sendMessage(alice.address, bob.address, untrn));
    const tx = buildTx({ key: alice, sequence: 0n, gas: 400_000n, messages });
    const [result] = chain.block(tx).txResults;
    expect(result).toMatchObject({ code: 5, codespace: "sdk" });
    expect(result?.log).toContain("failed to execute message; message index: 2: spendable balance ");
    expect(balance(chain, bob.address)).toBe("5");
    expect(balance(chain, alice.address)).toBe((1_000_000_000n - 5000n).toString());
    expect(chain.block(payment(1n, 1n)).txResults[0]?.code).toBe(0);
  });

  it("moves the fee into escrow, then pays for the used gas and pays the remainder to the proposer", () => {
    const chain = startTestChain(GENESIS);
    const { events = [] } = chain.block(payment(0n, 1n)).txResults[0] ?? {};
    const amounts = events.flatMap(({ type, attributes }) =>
      type === "fee_pay" || type === "tip_pay" ? [Number.parseInt(attributes[0]?.value ?? "", 10)] : [],
    );
    expect(amounts).toHaveLength(2);
    expect((amounts[0] ?? 0) + (amounts[1] ?? 0)).toBe(5000);
    expect(balance(chain, moduleText("feemarket-fee-collector"))).toBe("0");
    expect(balance(chain, moduleText("revenue-fee-redistribute"))).toBe(String(amounts[0]));
  });

  it("rejects a transaction above the maximum block utilization in the block, not in the check", () => {
    const genesis = testGenesis([{ key: alice, untrn: 1_000_000_000n }], {
      feemarket: { params: { ...MARKET, max_block_utilization: "250000" } },
    });
    const chain = startBenchChain(genesis);
    // The first payment also creates the accounts of the modules.
    chain.block(payment(0n, 1n));
    const txs = [1n, 2n, 3n, 4n].map((sequence) => payment(sequence, 1n));
    for (const tx of txs) expect(chain.app.checkTx(tx, false).code).toBe(0);
    const results = chain.block(...txs).txResults;
    expect(results.map(({ code }) => code)).toEqual([0, 0, 1, 1]);
    expect(results[2]).toMatchObject({ code: 1, codespace: "undefined" });
    expect(results[2]?.log).toMatch(
      /^unable to update fee market state: block utilization of \d+ cannot exceed max block utilization of 250000$/,
    );
  });

  it("continues after an entry that does not decode: the first entry of a real block may not be a transaction", () => {
    const chain = startTestChain(GENESIS);
    const results = chain.block(Uint8Array.of(8, 1), payment(0n, 1n)).txResults;
    expect(results[0]).toMatchObject({ code: 2, codespace: "sdk", log: "tx parse error", gasWanted: 0n });
    expect(results[1]?.code).toBe(0);
  });

  it("serves its own queries under the chain's name; a remote chain has no interchain queries and contracts", () => {
    const paths = (options: Parameters<typeof startTestChain>[1]) =>
      startTestChain({}, options).app.queryPaths();
    const own = paths({ chainName: "mychain" });
    expect(own).toContain("/mychain.interchainqueries.Query/Params");
    expect(own.filter((path) => path.startsWith("/neutron."))).toEqual([]);
    const remote = paths({ kind: "remote" });
    expect(remote).toContain("/ibc.core.client.v1.Query/ClientState");
    expect(remote.filter((path) => /interchainqueries|wasm/.test(path))).toEqual([]);
  });

  it("throws when its methods are called out of order", () => {
    const { app } = startTestChain(GENESIS);
    const block = { timeNs: 0n, proposerAddress: new Uint8Array(20), txs: [], lastCommit: [] };
    expect(() => app.finalizeBlock({ ...block, height: 3n })).toThrow("invalid height: 3; expected: 2");
    app.finalizeBlock({ ...block, height: 2n });
    expect(() => app.finalizeBlock({ ...block, height: 2n })).toThrow(
      "block 2 is finalized and not committed",
    );
    app.commit();
    expect(() => app.commit()).toThrow("commit was called without a finalized block");
    const again = { chainId: "a", timeNs: 0n, initialHeight: 1n, validators: [], appState: GENESIS };
    expect(() => app.initChain(again)).toThrow("a state of height 2 already exists");
  });

  it("rejects a genesis with an unknown module or an invalid field and names the path", () => {
    const start = (appState: typeof GENESIS) => () => startTestChain(appState);
    expect(start({ bnak: {} })).toThrow("app_state.bnak: no such module");
    expect(start({ bank: { balances: [{ address: "x", coins: [] }] } })).toThrow(
      "app_state.bank.balances[0].address: decoding bech32 failed: invalid bech32 string length 1",
    );
    expect(start({ feemarket: { params: { ...MARKET, window: "0" } } })).toThrow(
      "app_state.feemarket.params.window: window cannot be zero",
    );
  });
});

const MARKET = {
  alpha: "0.0",
  beta: "1.0",
  gamma: "0.0",
  delta: "0.0",
  min_base_gas_price: "0.0025",
  min_learning_rate: "0.125",
  max_learning_rate: "0.5",
  max_block_utilization: "30000000",
  window: "1",
  fee_denom: "untrn",
  enabled: true,
  distribute_fees: true,
  send_tip_to_proposer: true,
};

function moduleText(name: string): string {
  return formatAddress("neutron", moduleAddress(name));
}

describe("state over time", () => {
  it("is equal in an application that continues from storage", () => {
    const storage = createMemoryStorage();
    const options = { kind: "local", denom: "untrn", keepRecent: KEPT } as const;
    const first = startTestChain(GENESIS, { keepRecent: KEPT, onCommit: storage.save });
    for (let sequence = 0n; sequence < 9n; sequence++)
      storage.save(first.block(payment(sequence, 1n)).changes);
    const second = continueTestChain(createApp(options, { storage }), 10n);
    expect(second.app.info()).toEqual(first.app.info());
    expect(second.app.checkTx(payment(9n, 1n), false).code).toBe(0);
    for (let sequence = 9n; sequence < 12n; sequence++) {
      const [a, b] = [first, second].map((chain) => chain.block(payment(sequence, 2n)));
      expect(toHex(b?.appHash ?? NO_BYTES)).toBe(toHex(a?.appHash ?? NO_BYTES));
      expect(b?.changes.deletes.length).toBe(a?.changes.deletes.length);
    }
  });

  it("is readable at kept heights only", () => {
    const chain = startTestChain(GENESIS, { keepRecent: KEPT });
    for (let sequence = 0n; sequence < 9n; sequence++) chain.block(payment(sequence, 1n));
    expect(balance(chain, bob.address, 10n)).toBe("14");
    expect(balance(chain, bob.address, 6n)).toBe("10");
    const query = (height: bigint) =>
      chain.app.query({ path: "/cosmos.bank.v1beta1.Query/Params", data: NO_BYTES, height, prove: false });
    expect(query(5n)).toMatchObject({ code: 38, codespace: "sdk" });
    expect(query(11n).log).toBe(
      "cannot query with height in the future; please provide a valid height: invalid height",
    );
  });

  it("has proofs that verify against the app hash of the next header", () => {
    const chain = startTestChain(GENESIS);
    const { appHash } = chain.block(payment(0n, 1n));
    const verifier = createProofVerifier();
    for (const [key, present] of [
      [Uint8Array.of(0, ...utf8("untrn")), true],
      [Uint8Array.of(0, ...utf8("nosuch")), false],
    ] as const) {
      const response = chain.app.query({ path: "store/bank/key", data: key, height: 2n, prove: true });
      expect(response.proof?.map(({ type }) => type)).toEqual(["ics23:iavl", "ics23:simple"]);
      const operations = response.proof?.map(({ data }) => data);
      const value = present ? response.value : undefined;
      expect(verifier.verify(appHash, { store: "bank", key, value, operations }).ok).toBe(true);
      const other = present ? Uint8Array.of(1) : response.value.length === 0 ? Uint8Array.of(1) : undefined;
      expect(verifier.verify(appHash, { store: "bank", key, value: other, operations }).ok).toBe(false);
    }
  });

  it("round-trips through an export", () => {
    const chain = startTestChain(GENESIS);
    chain.block(payment(0n, 1n));
    const exported = chain.app.exportState();
    const again = startTestChain(exported, { initialHeight: 2n });
    expect(again.app.exportState()).toEqual(exported);
    expect(balance(again, bob.address)).toBe("6");
    expect(again.app.checkTx(payment(1n, 1n), false).code).toBe(0);
  });
});
