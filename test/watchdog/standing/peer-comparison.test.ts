import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { percentile } from "../../../src/watchdog/policy/standing-texts.ts";
import { comparePeers } from "../../../src/watchdog/sources/shared-misses.ts";

const share = (good: number, total: number) => ({ good: BigInt(good), total: BigInt(total) });

describe("comparePeers", () => {
  it("ranks by exact shares; equal ones have one rank", () => {
    const others = [share(99, 100), share(1, 2), share(198, 200), share(100, 100)];
    const own = share(990, 1000);
    expect(comparePeers(own, others)).toEqual({
      own,
      rank: 2,
      compared: 5,
      notBetter: 3,
      median: share(99 * 200 + 198 * 100, 2 * 100 * 200),
    });
    expect(percentile({ notBetter: 3, compared: 5 })).toBe(75);
  });

  it("tells shares apart that are equal as floating-point numbers", () => {
    const huge = 10n ** 20n;
    const compared = comparePeers({ good: huge, total: huge + 1n }, [{ good: huge - 1n, total: huge }]);
    expect(compared).toMatchObject({ rank: 1, notBetter: 1 });
    expect(Number(huge) / Number(huge + 1n)).toBe(Number(huge - 1n) / Number(huge));
  });

  it("needs another validator", () => {
    expect(comparePeers(share(1, 1), [])).toBeUndefined();
  });

  it("has the median of an odd number of others as it is", () => {
    expect(comparePeers(share(1, 1), [share(3, 4), share(1, 4), share(2, 4)])?.median).toEqual(share(2, 4));
  });

  it("agrees with sorted numbers", () => {
    const one = fc
      .record({ good: fc.nat(20), more: fc.nat(20) })
      .map(({ good, more }) => share(good, good + more + 1));
    fc.assert(
      fc.property(one, fc.array(one, { minLength: 1, maxLength: 12 }), (own, others) => {
        const ratio = ({ good, total }: { good: bigint; total: bigint }) => Number(good) / Number(total);
        const sorted = others.map(ratio).toSorted((a, b) => a - b);
        const middle =
          ((sorted[Math.floor(sorted.length / 2)] ?? 0) +
            (sorted[Math.floor((sorted.length - 1) / 2)] ?? 0)) /
          2;
        const compared = comparePeers(own, others);
        expect(compared?.rank).toBe(1 + sorted.filter((other) => other > ratio(own)).length);
        expect(compared?.notBetter).toBe(sorted.filter((other) => other <= ratio(own)).length);
        expect(ratio(compared?.median ?? share(0, 1))).toBeCloseTo(middle, 12);
      }),
      { seed: 3 },
    );
  });
});
