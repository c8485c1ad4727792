import { describe, expect, it } from "vitest";
import { createGasEstimates } from "../../src/relayer/submit/budgets.ts";

const item = (key: string, guess = 120_000n) => ({ key, guess });

describe("a gas book", () => {
  it("estimates by guess until something is learned", () => {
    const book = createGasEstimates();
    expect(book.estimate(item("1"))).toBe(120_000n);
    expect(book.known("1")).toBeUndefined();
    book.learn([item("1"), item("2")], 60_000n);
    expect([book.estimate(item("1")), book.estimate(item("2"))]).toEqual([30_000n, 30_000n]);
    expect(book.known("1")).toBe(30_000n);
  });

  it("gives the whole difference to first-timers, and leaves the known ones alone", () => {
    const book = createGasEstimates();
    book.learn([item("1")], 28_000n);
    book.learn([item("1"), item("2")], 28_000n + 93_000n);
    expect(book.estimate(item("1"))).toBe(28_000n);
    expect(Number(book.estimate(item("2")))).toBeCloseTo(93_000, -1);
  });

  it("separates queries whose company changes", () => {
    const book = createGasEstimates();
    const real: Readonly<Record<string, bigint>> = { a: 28_000n, b: 93_000n, c: 28_000n };
    const used = (keys: readonly string[]): bigint => keys.reduce((sum, key) => sum + (real[key] ?? 0n), 0n);
    for (let times = 0; times < 30; times++)
      for (const keys of [
        ["a", "b"],
        ["b", "c"],
        ["a", "c"],
      ])
        book.learn(
          keys.map((key) => item(key)),
          used(keys),
        );
    for (const key of ["a", "b", "c"])
      expect(Math.abs(Number(book.estimate(item(key)) - (real[key] ?? 0n)))).toBeLessThan(3_000);
  });

  it("adjusts a key once that several items share", () => {
    const book = createGasEstimates();
    book.learn([item("1"), item("1"), item("1")], 90_000n);
    expect(book.estimate(item("1"))).toBe(30_000n);
  });

  it("never estimates nothing", () => {
    const book = createGasEstimates();
    book.learn([item("1")], 500_000n);
    book.learn([item("1"), item("2")], 100n);
    expect(book.estimate(item("2"))).toBe(7_500n);
    for (let times = 0; times < 60; times++) book.learn([item("2")], 0n);
    expect(book.estimate(item("2"))).toBeGreaterThan(0n);
  });

  it("forgets the keys that are not kept", () => {
    const book = createGasEstimates();
    book.learn([item("1"), item("2")], 60_000n);
    book.keepOnly((key) => key === "2");
    expect([book.known("1"), book.known("2")]).toEqual([undefined, 30_000n]);
  });
});
