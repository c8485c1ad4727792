import { describe, expect, it } from "vitest";
import { mapLimit } from "../../../src/platform/base/waits.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("mapLimit", () => {
  it("keeps the order and the limit", async () => {
    let running = 0;
    let most = 0;
    const doubled = await mapLimit([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      most = Math.max(most, ++running);
      for (let turns = 0; turns < item % 3; turns++) await turn();
      running -= 1;
      return item * 2;
    });
    expect(doubled).toEqual([2, 4, 6, 8, 10, 12, 14]);
    expect(most).toBe(3);
    expect(await mapLimit([], 3, async (item: number) => item)).toEqual([]);
  });

  it("rejects with the first error and starts no further call", async () => {
    const begun: number[] = [];
    const mapped = mapLimit([1, 2, 3, 4, 5], 2, async (item) => {
      begun.push(item);
      await turn();
      if (item === 2) throw new Error("two");
    });
    await expect(mapped).rejects.toThrow("two");
    await turn();
    await turn();
    expect(begun.length).toBeLessThanOrEqual(4);
  });
});
