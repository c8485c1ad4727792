import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MsgMultiSend } from "../../../../src/cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { startTestChain, type TestChain, testGenesis } from "../../../support/test-chain.ts";
import { createTestKey } from "../../../support/test-keys.ts";
import { buildTx, type PackedMessage, sendMessage } from "../../../support/test-tx.ts";

const keys = ["a", "b", "c"].map((name) => createTestKey(name));
const GENESIS = testGenesis(keys.map((key) => ({ key, untrn: 1_000_000n })));
const TOTAL = "3000000";

const payment = fc.record({
  from: fc.integer({ min: 0, max: 2 }),
  to: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 3 }),
  untrn: fc.bigInt({ min: 0n, max: 700_000n }),
  gas: fc.constantFrom(90_000n, 200_000n, 400_000n),
});

/** Returns one payment to all recipients, or one message for each recipient. */
function messagesOf(payer: string, recipients: readonly string[], untrn: bigint): readonly PackedMessage[] {
  if (untrn % 2n === 0n) return recipients.map((to) => sendMessage(payer, to, untrn));
  const coins = (amount: bigint) => [{ denom: "untrn", amount: amount.toString() }];
  const value = MsgMultiSend.encode({
    inputs: [{ address: payer, coins: coins(untrn * BigInt(recipients.length)) }],
    outputs: recipients.map((address) => ({ address, coins: coins(untrn) })),
  }).finish();
  return [{ typeUrl: "/cosmos.bank.v1beta1.MsgMultiSend", value }];
}

function bankOf(chain: TestChain): { supply: string; sum: bigint; indexed: number; balances: number } {
  const all = (prefix: number): readonly string[] => {
    const data = Uint8Array.of(prefix);
    const { value } = chain.app.query({ path: "store/bank/subspace", data, height: 0n, prove: false });
    return entriesOf(value);
  };
  const amounts = all(2).map((text) => BigInt(text));
  return {
    supply: all(0).join(),
    sum: amounts.reduce((total, amount) => total + amount, 0n),
    indexed: all(3).length,
    balances: amounts.length,
  };
}

/** Decodes the values of an encoded list of pairs as text. */
function entriesOf(pairs: Uint8Array): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at < pairs.length; ) {
    const end = at + 2 + (pairs[at + 1] ?? 0);
    const keyLength = pairs[at + 3] ?? 0;
    const valueAt = at + 4 + keyLength;
    values.push(Buffer.from(pairs.subarray(Math.min(valueAt + 2, end), end)).toString());
    at = end;
  }
  return values;
}

describe("coins", () => {
  it("are neither created nor lost by payments, fees and failures, and the index has every holder", () => {
    const counts = { paid: 0, failed: 0, multi: 0 };
    fc.assert(
      fc.property(fc.array(payment, { maxLength: 12 }), (payments) => {
        const chain = startTestChain(GENESIS);
        const sequences = [0n, 0n, 0n];
        for (const { from, to, untrn, gas } of payments) {
          const key = keys[from];
          if (key === undefined) continue;
          const recipients = to.map((index) => keys[index]?.address ?? "");
          const messages = messagesOf(key.address, recipients, untrn);
          const sequence = sequences[from] ?? 0n;
          const tx = buildTx({ key, accountNumber: BigInt(from), sequence, gas, messages });
          const [result] = chain.block(tx).txResults;
          const passedAnte = result?.events.some(({ attributes }) =>
            attributes.some(({ key: name }) => name === "acc_seq"),
          );
          // Every transaction is signed and pays its fee, unless its account is empty.
          if (passedAnte === true) sequences[from] = sequence + 1n;
          if (result?.code !== 0) counts.failed += 1;
          else {
            counts.paid += 1;
            if (untrn % 2n === 1n) counts.multi += 1;
          }
          const { supply, sum, indexed, balances } = bankOf(chain);
          expect({ supply, sum: sum.toString(), indexed }).toEqual({
            supply: TOTAL,
            sum: TOTAL,
            indexed: balances,
          });
        }
      }),
      { numRuns: 25 },
    );
    // Of some 150 transactions, about half pass.
    expect(counts.paid).toBeGreaterThan(20);
    expect(counts.multi).toBeGreaterThan(5);
    expect(counts.failed).toBeGreaterThan(10);
  });

  it("have their supply in an export", () => {
    const bank = startTestChain(GENESIS).app.exportState()["bank"];
    expect(bank).toMatchObject({ supply: [{ denom: "untrn", amount: TOTAL }] });
  });
});
