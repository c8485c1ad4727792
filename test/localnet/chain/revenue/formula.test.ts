import { describe, expect, it } from "vitest";
import {
  compensationOf,
  ratingOf,
  blocksOf,
  hasEnded,
  isOfType,
  progressOf,
  type Schedule,
  startPeriod,
} from "../../../../src/localnet/chain/modules/revenue/schedule.ts";
import { formatDec18, parseDec18 } from "../../../../src/platform/base/decimal.ts";

const need = (allowed: string, required: string) => ({
  allowed: parseDec18(allowed),
  required: parseDec18(required),
});
const seconds = (time: string) => BigInt(Date.parse(time) / 1000);
const month = (time: string): Schedule =>
  startPeriod({ $case: "monthlyPaymentScheduleType", value: {} }, { height: 1n, seconds: seconds(time) });
const blocks = (blocksPerPeriod: bigint, height: bigint): Schedule =>
  startPeriod(
    { $case: "blockBasedPaymentScheduleType", value: { blocksPerPeriod } },
    { height, seconds: 0n },
  );

describe("the rating", () => {
  it.each([
    [5n, 5n, "1.000000000000000000"],
    [5n, 6n, "0.999944598337950138"],
    [100n, 100n, "0.000000000000000000"],
    [50n, 0n, "0.887811634349030471"],
    [0n, 50n, "0.887811634349030471"],
    [100n, 0n, "0.500000000000000000"],
    [101n, 0n, "0.000000000000000000"],
    [75n, 75n, "0.457063711911357340"],
  ])("of %d blocks and %d votes missed of 1000 is %s", (missedBlocks, missedVotes, rating) => {
    const done = { inActiveSet: 1000n, blocks: 1000n - missedBlocks, votes: 1000n - missedVotes };
    const both = need("0.005", "0.9");
    expect(formatDec18(ratingOf(done, both, both))).toBe(rating);
  });

  it.each([
    [0n, 35n, "0.875000000000000000"],
    [30n, 20n, "0.845679012345679012"],
    [51n, 0n, "0.000000000000000000"],
  ])("has a requirement for each duty: %d, %d is %s", (missedBlocks, missedVotes, rating) => {
    const done = { inActiveSet: 1000n, blocks: 1000n - missedBlocks, votes: 1000n - missedVotes };
    expect(formatDec18(ratingOf(done, need("0.005", "0.95"), need("0.02", "0.95")))).toBe(rating);
  });

  it("is all or nothing where the allowed share of misses is also the largest", () => {
    const same = need("0.1", "0.9");
    const all = (missed: bigint) =>
      ratingOf({ inActiveSet: 1000n, blocks: 1000n - missed, votes: 1000n }, same, same);
    expect([100n, 101n].map((missed) => formatDec18(all(missed)))).toEqual([
      "1.000000000000000000",
      "0.000000000000000000",
    ]);
  });

  it.each([
    ["1", 1000n, 1000n, 2_500_000_000n],
    ["1", 700n, 1000n, 1_750_000_000n],
    ["0.75", 1000n, 1000n, 1_875_000_000n],
    ["1", 1n, 0n, 0n],
  ])("%s, in the set for %d of %d blocks, pays %d", (rating, inActiveSet, total, amount) => {
    expect(compensationOf(parseDec18(rating), 2_500_000_000n, { inActiveSet, blocks: total })).toBe(amount);
  });
});

describe("a month", () => {
  it.each([
    ["2000-01-01T00:00:00Z", "2000-01-05T00:00:00Z", "0.129032258064516129"],
    ["2000-02-01T00:00:00Z", "2000-02-15T12:00:00Z", "0.500000000000000000"],
    ["2000-03-01T00:00:00Z", "2000-03-25T12:30:00Z", "0.790994623655913978"],
    ["2000-03-01T00:00:00Z", "2000-03-01T00:59:59Z", "0.001343712664277180"],
    ["2000-03-01T00:00:00Z", "2000-05-01T00:00:00Z", "1.000000000000000000"],
    ["2000-01-31T23:59:00Z", "2000-01-31T23:59:59Z", "0.000022028076463560"],
    ["2000-01-31T23:59:00Z", "2000-02-01T00:00:00Z", "0.000022401433691756"],
  ])("from %s has at %s the progress %s", (start, at, progress) => {
    expect(formatDec18(progressOf(month(start), { height: 2n, seconds: seconds(at) }))).toBe(progress);
  });

  it("ends with the first block of the next one", () => {
    const one = month("2000-01-01T00:00:00Z");
    const at = (time: string) => hasEnded(one, { height: 2n, seconds: seconds(time) });
    expect([at("2000-01-31T23:59:59Z"), at("2000-02-01T00:00:00Z")]).toEqual([false, true]);
    expect(blocksOf(one, { height: 101n, seconds: 0n })).toBe(100n);
  });
});

describe("a period of blocks", () => {
  it.each([
    [100n, 101n, 151n, "0.500000000000000000"],
    [100n, 101n, 201n, "1.000000000000000000"],
    [100_000n, 1n, 100_500n, "1.000000000000000000"],
    [100_000n, 1n, 100_000n, "0.999990000000000000"],
  ])("of %d from %d has at %d the progress %s", (length, start, height, progress) => {
    expect(formatDec18(progressOf(blocks(length, start), { height, seconds: 0n }))).toBe(progress);
  });

  it("is another one with another length", () => {
    const type = (blocksPerPeriod: bigint) =>
      ({ $case: "blockBasedPaymentScheduleType", value: { blocksPerPeriod } }) as const;
    expect([isOfType(blocks(1n, 1n), type(1n)), isOfType(blocks(1n, 1n), type(10n))]).toEqual([true, false]);
    expect(isOfType(month("2000-01-01T00:00:00Z"), type(1n))).toBe(false);
  });
});
