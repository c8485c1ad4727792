import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { attributeCost, type CostPart } from "../../../src/relayer/costs/payment.ts";
import type { PaidTransaction } from "../../../src/relayer/result/submit-gate.ts";

const result = (queryId: bigint, gas: bigint, connectionId = "connection-0") => ({
  queryId,
  owner: `owner-${queryId % 2n}`,
  connectionId,
  gas,
});
const paid = (fields: Partial<PaidTransaction>): PaidTransaction => ({
  hash: "AB",
  height: 7n,
  fee: 1_000n,
  gasUsed: 300_000n,
  isFailed: false,
  results: [],
  updates: [],
  ...fields,
});
const none = () => [];
const sum = (parts: readonly CostPart[], read: (part: CostPart) => bigint) =>
  parts.reduce((total, part) => total + read(part), 0n);
const feesOf = (parts: readonly CostPart[]) =>
  parts.map(({ queryId, fee, updateFee }) => [queryId, fee, updateFee]);

describe("attributeCost", () => {
  it("divides the fee in proportion to the gas of the results", () => {
    const parts = attributeCost(paid({ results: [result(1n, 100n), result(2n, 300n)] }), none);
    expect(parts).toMatchObject([
      { queryId: 1n, owner: "owner-1", fee: 250n, gas: 75_000n, results: 1 },
      { queryId: 2n, owner: "owner-0", fee: 750n, gas: 225_000n, results: 1 },
    ]);
  });

  it("shares an update among the results of its connection only", () => {
    const results = [result(1n, 100n), result(2n, 300n), result(3n, 400n, "connection-1")];
    const updates = [{ connectionId: "connection-0", gas: 200n }];
    expect(feesOf(attributeCost(paid({ results, updates }), none))).toEqual([
      [1n, 150n, 50n],
      [2n, 450n, 150n],
      [3n, 400n, 0n],
    ]);
  });

  it("shares an update without results equally among the queries of its connection", () => {
    const updates = [{ connectionId: "connection-1", gas: 200n }];
    const sharing = (id: string) =>
      id === "connection-1" ? [4n, 5n, 6n].map((queryId) => ({ queryId, owner: "o" })) : [];
    expect(feesOf(attributeCost(paid({ updates }), sharing))).toEqual([
      [4n, 334n, 334n],
      [5n, 333n, 333n],
      [6n, 333n, 333n],
    ]);
    expect(feesOf(attributeCost(paid({ updates }), none))).toEqual([[0n, 1_000n, 1_000n]]);
    expect(feesOf(attributeCost(paid({}), none))).toEqual([[0n, 1_000n, 0n]]);
  });

  it("a failed transaction costs its fee and delivers nothing", () => {
    const parts = attributeCost(paid({ isFailed: true, results: [result(1n, 100n)] }), none);
    expect(parts).toMatchObject([{ fee: 1_000n, failedFee: 1_000n, results: 0 }]);
  });

  it("several results of one query are one part", () => {
    const parts = attributeCost(paid({ results: [result(1n, 1n), result(1n, 1n)] }), none);
    expect(parts).toMatchObject([{ queryId: 1n, fee: 1_000n, results: 2 }]);
  });

  it("adds up to the unit, whatever the amounts and estimates are", () => {
    const connection = fc.constantFrom("connection-0", "connection-1", "connection-2");
    const gas = fc.bigInt({ min: 0n, max: 10n ** 8n });
    fc.assert(
      fc.property(
        fc.record({
          fee: fc.bigInt({ min: 0n, max: 10n ** 30n }),
          gasUsed: gas,
          results: fc.array(
            fc.record({ queryId: fc.bigInt({ min: 1n, max: 20n }), gas, connectionId: connection }),
          ),
          updates: fc.array(fc.record({ gas, connectionId: connection }), { maxLength: 4 }),
          isFailed: fc.boolean(),
        }),
        ({ fee, gasUsed, results, updates, isFailed }) => {
          const transaction = paid({
            fee,
            gasUsed,
            isFailed,
            results: results.map((one) => ({ ...one, owner: "o" })),
            updates,
          });
          const parts = attributeCost(transaction, (id) =>
            id === "connection-2" ? [] : [1n, 2n, 3n].map((queryId) => ({ queryId, owner: "o" })),
          );
          expect(sum(parts, (part) => part.fee)).toBe(fee);
          expect(sum(parts, (part) => part.gas)).toBe(gasUsed);
          expect(sum(parts, (part) => part.failedFee)).toBe(isFailed ? fee : 0n);
          for (const part of parts) expect(part.updateFee <= part.fee && part.fee >= 0n).toBe(true);
        },
      ),
    );
  });
});
