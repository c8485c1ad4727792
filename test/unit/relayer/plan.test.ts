import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  GAS_PER_CLIENT_UPDATE,
  GAS_PER_KEY,
  GAS_PER_TRANSACTION,
  candidatesAt,
  planBatches,
} from "../../../src/relayer/submit/plan.ts";
import { sampleResult, sampleState } from "./samples.ts";

const FIXED = GAS_PER_TRANSACTION + GAS_PER_CLIENT_UPDATE;
const roomy = { gas: 1_000_000_000n, bytes: 1_000_000, results: 1_000 };
const ids = (batches: ReturnType<typeof planBatches>): bigint[][] =>
  batches.map((batch) => batch.map(({ state }) => state.query.id));

describe("planBatches", () => {
  const three = [sampleResult(1n), sampleResult(2n), sampleResult(3n)];

  it("fills one transaction within the limits", () => {
    expect(ids(planBatches(three, roomy))).toEqual([[1n, 2n, 3n]]);
    expect(planBatches([], roomy)).toEqual([]);
  });

  it("splits by number, bytes and gas, in order", () => {
    expect(ids(planBatches(three, { ...roomy, results: 2 }))).toEqual([[1n, 2n], [3n]]);
    expect(ids(planBatches(three, { ...roomy, bytes: 200 }))).toEqual([[1n, 2n], [3n]]);
    expect(ids(planBatches(three, { ...roomy, gas: FIXED + 2n * GAS_PER_KEY }))).toEqual([[1n, 2n], [3n]]);
  });

  it("gives a result that exceeds a limit a transaction of its own", () => {
    const large = [sampleResult(1n), sampleResult(2n, 5_000, 40), sampleResult(3n)];
    expect(ids(planBatches(large, { ...roomy, bytes: 1_000 }))).toEqual([[1n], [2n], [3n]]);
    expect(ids(planBatches(large, { ...roomy, gas: FIXED + 10n * GAS_PER_KEY }))).toEqual([[1n], [2n], [3n]]);
  });

  it("keeps every result once and returns no empty batch", () => {
    const sizes = fc.array(fc.tuple(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 1, max: 32 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 5 }), (parts, max) => {
        const results = parts.map(([bytes, keys], index) => sampleResult(BigInt(index), bytes, keys));
        const batches = planBatches(results, { gas: FIXED + 20n * GAS_PER_KEY, bytes: 4_000, results: max });
        expect(batches.flat()).toEqual(results);
        for (const batch of batches) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(max);
          if (batch.length > 1)
            expect(batch.reduce((sum, { message }) => sum + message.length, 0)).toBeLessThanOrEqual(4_000);
        }
      }),
    );
  });
});

describe("candidatesAt", () => {
  const at = { revision: 1n, height: 50n };

  it("sorts by the height of the last result, then by id", () => {
    const states = [
      sampleState({ id: 3n, lastLocalHeight: 9n }),
      sampleState({ id: 2n, lastLocalHeight: 0n }),
      sampleState({ id: 1n, lastLocalHeight: 9n }),
      sampleState({ id: 4n, lastLocalHeight: 0n }),
    ];
    expect(candidatesAt(states, at).map(({ query }) => query.id)).toEqual([2n, 4n, 1n, 3n]);
  });

  it("leaves out queries with a result of this height or a newer one, which the chain would refuse", () => {
    const answeredAt = (id: bigint, revision: bigint, height: bigint) =>
      sampleState({ id, lastRemoteHeight: { revision, height } });
    const states = [
      answeredAt(1n, 1n, 49n),
      answeredAt(2n, 1n, 50n),
      answeredAt(3n, 1n, 51n),
      answeredAt(4n, 2n, 1n),
      answeredAt(5n, 0n, 99n),
    ];
    expect(candidatesAt(states, at).map(({ query }) => query.id)).toEqual([1n, 5n]);
  });

  it("leaves out queries whose last result is fewer remote blocks old than wanted, unless the revision changed", () => {
    const answeredAt = (id: bigint, height: bigint, revision = 1n) =>
      sampleState({ id, lastRemoteHeight: { revision, height } });
    const states = [
      answeredAt(1n, 41n),
      answeredAt(2n, 40n),
      answeredAt(3n, 49n, 0n),
      sampleState({ id: 4n }),
    ];
    const found = candidatesAt(states, at, 10n).map(({ query }) => query.id);
    expect(found).toEqual([2n, 3n, 4n]);
  });
});
