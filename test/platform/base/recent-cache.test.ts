import { describe, expect, it } from "vitest";
import { createRecentCache } from "../../../src/platform/base/caches.ts";

describe("createRecentCache", () => {
  it("loads a value once, and again when it was undefined", () => {
    const cache = createRecentCache<string, number>(2);
    const asked: string[] = [];
    const load = (key: string, value: number | undefined) => () => {
      asked.push(key);
      return value;
    };
    expect(cache.get("a", load("a", 1))).toBe(1);
    expect(cache.get("a", load("a", 2))).toBe(1);
    expect(cache.get("b", load("b", undefined))).toBeUndefined();
    expect(cache.get("b", load("b", 3))).toBe(3);
    expect(asked).toEqual(["a", "b", "b"]);
  });

  it("keeps the most recently used values, and at most twice its capacity", () => {
    const capacity = 8;
    const cache = createRecentCache<number, number>(capacity);
    for (let key = 0; key < 1_000; key++) {
      cache.put(key, key);
      expect(cache.get(-1, () => -1)).toBe(-1);
    }
    // From the newest on: finding an old value makes it a newer one.
    const kept = Array.from({ length: 1_000 }, (_, index) => 999 - index).filter((key) => {
      let found = true;
      cache.get(key, () => {
        found = false;
        return undefined;
      });
      return found;
    });
    expect(kept.length).toBeLessThanOrEqual(2 * capacity);
    expect(kept.slice(0, capacity - 1)).toEqual([999, 998, 997, 996, 995, 994, 993]);
  });

  it("returns the newest value of a key", () => {
    const cache = createRecentCache<string, number>(1);
    cache.put("a", 1);
    cache.put("b", 1);
    cache.put("a", 2);
    expect(cache.get("a", () => 9)).toBe(2);
  });
});
