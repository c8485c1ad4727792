import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { capacityFor, type PlanOptions, planTransactions } from "../../src/relayer/submit/plan.ts";
import { candidatesAt } from "../../src/relayer/kv/kv-cycle.ts";
import {
  type ProvenResult,
  GAS_PER_CLIENT_UPDATE,
  GAS_PER_TRANSACTION,
} from "../../src/relayer/result/proven-result.ts";
import { sampleEntry, sampleQuery, sampleResult, sampleState } from "./samples.ts";

const FIXED = GAS_PER_TRANSACTION + GAS_PER_CLIENT_UPDATE;
const ample: PlanOptions = {
  limits: { gas: 1_000_000_000n, bytes: 1_000_000, results: 1_000 },
  capacity: { gas: 1_000_000_000n, bytes: 10_000_000 },
  gasOf: ({ result }) => result.gasGuess,
  groupOf: () => "",
};
const withLimits = (limits: Partial<PlanOptions["limits"]>): PlanOptions => ({
  ...ample,
  limits: { ...ample.limits, ...limits },
});

/** Ids of the queries of each transaction. */
function plan(results: readonly ProvenResult[], options: PlanOptions): bigint[][] {
  return planTransactions(results.map(sampleEntry), options).map((entries) =>
    entries.map(({ result }) => result.query.id),
  );
}

describe("capacityFor", () => {
  it("is the least with which a plan leaves out none, whatever splits it", () => {
    const results = [1n, 2n, 3n, 4n, 5n].map((id) => sampleResult(id));
    for (const options of [ample, withLimits({ results: 2 }), withLimits({ gas: FIXED + 100_000n })]) {
      const gas = capacityFor(results.map(sampleEntry), 1, options);
      const planned = (more: bigint): number =>
        plan(results, { ...options, capacity: { gas: gas + more, bytes: 10_000 } }).flat().length;
      expect([planned(0n), planned(-2n)]).toEqual([5, 4]);
    }
  });
});

describe("planTransactions", () => {
  const four = [1n, 2n, 3n, 4n].map((id) => sampleResult(id));

  it("fills one transaction within the limits", () => {
    expect(plan(four, ample)).toEqual([[1n, 2n, 3n, 4n]]);
    expect(plan([], ample)).toEqual([]);
  });

  it("splits by number, bytes and gas, in order, into equal parts", () => {
    const halves = [
      [1n, 2n],
      [3n, 4n],
    ];
    expect(plan(four, withLimits({ results: 3 }))).toEqual(halves);
    expect(plan(four, withLimits({ bytes: 350 }))).toEqual(halves);
    expect(plan(four, withLimits({ gas: FIXED + 100_000n }))).toEqual(halves);
  });

  it("gives a result that exceeds a limit a transaction of its own", () => {
    const large = [sampleResult(1n), sampleResult(2n, 5_000), sampleResult(3n)];
    expect(plan(large, withLimits({ bytes: 1_000 }))).toEqual([[1n], [2n], [3n]]);
  });

  it("leaves out what has no capacity, the last first, but never all", () => {
    const capacity = { gas: FIXED + 80_000n, bytes: 10_000 };
    expect(plan(four, { ...ample, capacity })).toEqual([[1n, 2n]]);
    expect(plan(four, { ...ample, capacity: { gas: 1n, bytes: 1 } })).toEqual([[1n]]);
  });

  it("leaves a hundredth of the capacity, and the gas of a client update", () => {
    const ofGas = (gas: bigint) => [
      sampleResult(1n, 100, { gasGuess: gas }),
      sampleResult(2n, 100, { gasGuess: 1n }),
    ];
    const options = { ...ample, capacity: { gas: 30_000_000n, bytes: 10_000 } };
    const most = 29_700_000n - FIXED - 1n;
    expect(plan(ofGas(most), options)).toEqual([[1n, 2n]]);
    expect(plan(ofGas(most + 1n), options)).toEqual([[1n]]);
  });

  it("keeps the place of a result that is being read: what is due for less long does not leave in its stead", () => {
    const [first, last] = [sampleResult(1n), sampleResult(3n)].map(sampleEntry);
    if (first === undefined || last === undefined) throw new Error("two entries");
    const { query, gasGuess, at } = sampleResult(2n);
    const stage = { kind: "expected", sinceHeight: 1n } as const;
    const entries = [first, { id: 99, result: { query, gasGuess, at }, stage }, last];
    const planned = (gas: bigint) =>
      planTransactions(entries, { ...ample, capacity: { gas, bytes: 10_000 } });
    const most = (results: bigint) => ((FIXED + results * 30_000n) * 100n) / 99n + 1n;
    expect(planned(most(2n))).toEqual([[first]]);
    expect(planned(most(3n))).toEqual([[first, last]]);
  });

  it("puts the longest due into the first transactions when not all fit, whatever their connections", () => {
    const results = [1n, 2n, 3n, 4n].map((id) =>
      sampleResult(id, 100, { query: sampleQuery({ id, connectionId: `connection-${id % 2n}` }) }),
    );
    const cut = { gas: GAS_PER_TRANSACTION * 2n + FIXED + 80_000n, bytes: 10_000 };
    const options = { ...withLimits({ results: 2 }), capacity: cut };
    expect(plan(results.slice(0, 3), { ...options, capacity: ample.capacity })).toEqual([[2n, 1n], [3n]]);
    expect(plan([...results, sampleResult(5n, 100, { gasGuess: 9_000_000n })], options)).toEqual([
      [2n, 1n],
      [4n, 3n],
    ]);
  });

  it("keeps groups apart, and results of one connection together", () => {
    const of = (id: bigint, connectionId: string) =>
      sampleResult(id, 100, { query: sampleQuery({ id, connectionId }) });
    expect(plan([of(1n, "connection-1"), of(2n, "connection-0"), of(3n, "connection-1")], ample)).toEqual([
      [2n, 1n, 3n],
    ]);
    const groupOf: PlanOptions["groupOf"] = ({ result }) => (result.query.id === 2n ? "doubtful" : "");
    expect(plan(four, { ...ample, groupOf })).toEqual([[1n, 3n, 4n], [2n]]);
  });

  it("plans the transactions of one TX query into one transaction, in order; the others follow later", () => {
    const tx = (bytes: number) => sampleResult(7n, bytes, { query: sampleQuery({ id: 7n, type: "tx" }) });
    const planned = planTransactions([tx(10), tx(20), tx(30)].map(sampleEntry), withLimits({ results: 2 }));
    expect(planned.map((entries) => entries.map(({ result }) => result.message.length))).toEqual([[10, 20]]);
  });

  it("plans every result once within the limits, and no empty transaction", () => {
    const sizes = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 3_000 }), fc.bigInt({ min: 1n, max: 900_000n })),
      {
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 5 }), (parts, most) => {
        const entries = parts.map(([bytes, gasGuess], index) =>
          sampleEntry(sampleResult(BigInt(index), bytes, { gasGuess })),
        );
        const limits = { gas: FIXED + 600_000n, bytes: 4_000, results: most };
        const planned = planTransactions(entries, withLimits(limits));
        expect(planned.flat()).toEqual(entries);
        for (const transaction of planned) {
          expect(transaction.length).toBeGreaterThan(0);
          if (transaction.length === 1) continue;
          const gas = transaction.reduce((sum, { result }) => sum + result.gasGuess, 0n);
          const bytes = transaction.reduce((sum, { result }) => sum + result.message.length, 0);
          expect([transaction.length <= most, bytes <= limits.bytes, gas <= 600_000n]).toEqual([
            true,
            true,
            true,
          ]);
        }
      }),
    );
  });
});

describe("candidatesAt", () => {
  const at = { revision: 1n, height: 50n };

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
    expect(candidatesAt(states, at, { minBlocks: 0n, height: 9n }).map(({ query }) => query.id)).toEqual([
      1n,
      5n,
    ]);
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
    const found = candidatesAt(states, at, { minBlocks: 10n, height: 9n }).map(({ query }) => query.id);
    expect(found).toEqual([2n, 3n, 4n]);
  });
});
