import { expect, it } from "vitest";
import { QueryTotalSupplyResponse } from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";
import { messageFromJson, messageToJson } from "../../../src/cosmos/proto/json.ts";
import type { JsonObject } from "../../../src/platform/base/json.ts";
import { cellText, fieldAt } from "../../../src/platform/cli/table.ts";
import { createFeeBurnerModule } from "../../../src/workbench/modules/feeburner/module.ts";
import { startBenchChain } from "../../support/bench-chain.ts";
import { createMemoryWorld } from "../../support/memory-context.ts";
import { testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, sendMessage } from "../../support/test-tx.ts";

const key = createTestKey("sender");
const receiver = createTestKey("receiver");
const treasury = createTestKey("treasury");
const SUPPLY = 1_000_000n;
const coin = (denom: string, amount: bigint): string => JSON.stringify({ denom, amount: amount.toString() });

/** Runs one payment. Returns its fee and the supply after its block. */
function pay(
  burnsFees: boolean,
  feeburner?: JsonObject,
): { readonly fee: bigint; readonly supply: bigint; readonly burned: string; readonly treasury: string } {
  const genesis = testGenesis([{ key, untrn: SUPPLY }], feeburner === undefined ? {} : { feeburner });
  const chain = startBenchChain(genesis, { burnsFees });
  const messages = [sendMessage(key.address, receiver.address, 1n)];
  const { txResults } = chain.block(
    buildTx({ key, accountNumber: 0n, sequence: 0n, chainId: "test-1", messages }),
  );
  const [result] = txResults;
  const paid = result?.events.find(({ type }) => type === "fee_pay")?.attributes[0]?.value ?? "";
  const query = (path: string, data: Uint8Array = new Uint8Array()): Uint8Array =>
    chain.app.query({ path, data, height: 0n, prove: false }).value;
  const value = query("/cosmos.bank.v1beta1.Query/TotalSupply");
  const supply = QueryTotalSupplyResponse.decode(value).supply[0]?.amount ?? "0";
  const burned = messageToJson(
    "neutron.feeburner.QueryTotalBurnedNeutronsAmountResponse",
    query("/neutron.feeburner.Query/TotalBurnedNeutronsAmount"),
  );
  const request = { address: treasury.address, denom: "untrn" };
  const held = messageToJson(
    "cosmos.bank.v1beta1.QueryBalanceResponse",
    query(
      "/cosmos.bank.v1beta1.Query/Balance",
      messageFromJson("cosmos.bank.v1beta1.QueryBalanceRequest", request),
    ),
  );
  return {
    fee: BigInt(paid.replace("untrn", "")),
    supply: BigInt(supply),
    burned: JSON.stringify(fieldAt(burned, "total_burned_neutrons_amount.coin")),
    treasury: cellText(fieldAt(held, "balance.amount")),
  };
}

it("fees are burned at the end of the block on a chain with the option, and only there", () => {
  const [ours, deployed] = [pay(false), pay(true)];
  expect(deployed.fee).toBeGreaterThan(0n);
  expect([ours.supply, deployed.supply]).toEqual([SUPPLY, SUPPLY - deployed.fee]);
});

it("burned fees are counted, on top of those of the genesis", () => {
  expect(pay(false).burned).toBe(coin("untrn", 0n));
  const { fee, burned } = pay(true);
  expect(burned).toBe(coin("untrn", fee));
  const before = { total_burned_neutrons_amount: { coin: { denom: "untrn", amount: "1000" } } };
  expect(pay(true, before).burned).toBe(coin("untrn", fee + 1000n));
});

it("fees of another denomination than the burned one go to the treasury; without one they are burned, uncounted", () => {
  const params = { neutron_denom: "other", treasury_address: treasury.address };
  const kept = pay(true, { params });
  expect(kept).toMatchObject({ supply: SUPPLY, treasury: kept.fee.toString(), burned: coin("other", 0n) });
  const burned = pay(true, { params: { ...params, treasury_address: "" } });
  expect(burned).toMatchObject({ supply: SUPPLY - burned.fee, treasury: "0", burned: coin("other", 0n) });
});

it("a contract asks for the burned fees", () => {
  const names = { chainName: "neutron", bech32Prefix: "neutron", denom: "untrn", authority: key.address };
  const module = createFeeBurnerModule(names, {
    balances: () => [].values(),
    burn: () => undefined,
    send: () => undefined,
  });
  const context = createMemoryWorld().context();
  const total = { total_burned_neutrons_amount: { coin: { denom: "untrn", amount: "7" } } };
  module.initGenesis(context, total);
  expect(module.handleCustomQuery(context, { total_burned_neutrons_amount: {} })).toEqual({
    coin: { denom: "untrn", amount: "7" },
  });
  expect(module.handleCustomQuery(context, { min_ibc_fee: {} })).toBeUndefined();
});
