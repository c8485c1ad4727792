import { expect, it } from "vitest";
import {
  type Pending,
  pendingBetween,
  replaced,
  type Sorted,
  sortedFrom,
} from "../../../../src/localnet/chain/store/cache-store.ts";

import fc from "fast-check";

const write = (text: string, value = 0): Pending => ({
  text,
  key: Buffer.from(text, "latin1"),
  value: Uint8Array.of(value),
});
const textsOf = (sorted: Sorted): readonly string[] => sorted.flat().map(({ text }) => text);

it("pending writes keep every key in order over many parts, and older states as they were", () => {
  // Three digits, so that the order of texts is that of numbers; 800 of them need several parts.
  const names = fc.uniqueArray(fc.integer({ min: 100, max: 999 }), { minLength: 600, maxLength: 800 });
  fc.assert(
    fc.property(names, fc.integer({ min: 0, max: 500 }), (numbers, early) => {
      let sorted: Sorted = sortedFrom([]);
      let before: Sorted = sorted;
      for (const [index, number] of numbers.entries()) {
        if (index === early) before = sorted;
        sorted = replaced(sorted, write(`${number}`));
      }
      const expected = (list: readonly number[]): readonly string[] =>
        list.toSorted((a, b) => a - b).map(String);
      expect(textsOf(sorted)).toEqual(expected(numbers));
      expect(textsOf(before)).toEqual(expected(numbers.slice(0, early)));
      expect(Math.max(...sorted.map((part) => part.length))).toBeLessThanOrEqual(256);
    }),
    { numRuns: 20 },
  );
});

it("a later write of a key takes its place", () => {
  const sorted = replaced(replaced(sortedFrom([write("a"), write("c")]), write("b", 1)), write("b", 2));
  expect(sorted.flat().map(({ text, value }) => [text, value?.[0]])).toEqual([
    ["a", 0],
    ["b", 2],
    ["c", 0],
  ]);
});

it("a range has its writes in both directions, over the edges of parts", () => {
  const sorted = sortedFrom(Array.from({ length: 900 }, (_, index) => write(`${index + 100}`)));
  const read = (start: string | undefined, end: string | undefined, direction: 1 | -1): readonly string[] => {
    const next = pendingBetween(sorted, { start, end }, direction);
    const found: string[] = [];
    for (let own = next?.(); own !== undefined; own = next?.()) found.push(own.text);
    return found;
  };
  const all = Array.from({ length: 900 }, (_, index) => `${index + 100}`);
  for (const [start, end] of [
    [undefined, undefined],
    ["228", "484"],
    ["227", "229"],
    ["355", "356"],
    ["0", "100"],
    ["9990", undefined],
  ] as const) {
    const inside = all.filter((text) => text >= (start ?? "") && (end === undefined || text < end));
    expect(read(start, end, 1)).toEqual(inside);
    expect(read(start, end, -1)).toEqual(inside.toReversed());
  }
});
