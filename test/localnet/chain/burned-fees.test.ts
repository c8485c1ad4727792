import { expect, it } from "vitest";
import { QueryTotalSupplyResponse } from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";
import { startTestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, sendMessage } from "../../support/test-tx.ts";

const key = createTestKey("sender");
const receiver = createTestKey("receiver");
const SUPPLY = 1_000_000n;

/** Runs one payment. Returns its fee and the supply after its block. */
function pay(burnsFees: boolean): { readonly fee: bigint; readonly supply: bigint } {
  const chain = startTestChain(testGenesis([{ key, untrn: SUPPLY }]), { burnsFees });
  const messages = [sendMessage(key.address, receiver.address, 1n)];
  const { txResults } = chain.block(
    buildTx({ key, accountNumber: 0n, sequence: 0n, chainId: "test-1", messages }),
  );
  const [result] = txResults;
  const paid = result?.events.find(({ type }) => type === "fee_pay")?.attributes[0]?.value ?? "";
  const path = "/cosmos.bank.v1beta1.Query/TotalSupply";
  const { value } = chain.app.query({ path, data: new Uint8Array(), height: 0n, prove: false });
  const supply = QueryTotalSupplyResponse.decode(value).supply[0]?.amount ?? "0";
  return { fee: BigInt(paid.replace("untrn", "")), supply: BigInt(supply) };
}

it("fees are burned at the end of the block on a chain with the option, and only there", () => {
  const [ours, deployed] = [pay(false), pay(true)];
  expect(deployed.fee).toBeGreaterThan(0n);
  expect([ours.supply, deployed.supply]).toEqual([SUPPLY, SUPPLY - deployed.fee]);
});
