import { expect, it } from "vitest";
import { QueryTotalSupplyResponse } from "../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";
import { startTestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, sendMessage } from "../../support/test-tx.ts";

const key = createTestKey("sender");
const receiver = createTestKey("receiver");
const SUPPLY = 1_000_000n;

/** Runs one payment. Returns its gas, its fee and the supply after its block. */
function pay(deployedPayments: boolean): {
  readonly gas: bigint;
  readonly fee: bigint;
  readonly supply: bigint;
} {
  const chain = startTestChain(testGenesis([{ key, untrn: SUPPLY }]), { deployedPayments });
  const messages = [sendMessage(key.address, receiver.address, 1n)];
  const { txResults } = chain.block(
    buildTx({ key, accountNumber: 0n, sequence: 0n, chainId: "test-1", messages }),
  );
  const [result] = txResults;
  const paid = result?.events.find(({ type }) => type === "fee_pay")?.attributes[0]?.value ?? "";
  const path = "/cosmos.bank.v1beta1.Query/TotalSupply";
  const { value } = chain.app.query({ path, data: new Uint8Array(), height: 0n, prove: false });
  const supply = QueryTotalSupplyResponse.decode(value).supply[0]?.amount ?? "0";
  return { gas: result?.gasUsed ?? 0n, fee: BigInt(paid.replace("untrn", "")), supply: BigInt(supply) };
}

it("payments look for hooks and fees are burned on a chain that accounts as the deployed one, and only there", () => {
  const [ours, deployed] = [pay(false), pay(true)];
  // A read of 27 bytes: two for each of three payments, and one for that between the modules of fees.
  expect(deployed.gas - ours.gas).toBe(7n * 1_081n);
  expect(deployed.fee).toBeGreaterThan(0n);
  expect([ours.supply, deployed.supply]).toEqual([SUPPLY, SUPPLY - deployed.fee]);
});
