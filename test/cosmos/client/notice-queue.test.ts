import { describe, expect, it } from "vitest";
import { createNoticeQueue, type ChainNotice } from "../../../src/cosmos/client/events/subscription.ts";

const signal = new AbortController().signal;

describe("a notice queue", () => {
  const block = (height: bigint): ChainNotice => ({ kind: "block", height, timeNs: 0n });

  it("holds its capacity and one missed notice for each gap", async () => {
    const queue = createNoticeQueue(2);
    for (let height = 1n; height <= 5n; height++) queue.offer(block(height));
    const taken = [await queue.next(signal), await queue.next(signal)];
    queue.offer(block(6n));
    queue.offer(block(7n));
    for (let left = 3; left > 0; left--) taken.push(await queue.next(signal));
    expect(taken.map((notice) => (notice.kind === "block" ? notice.height : notice.kind))).toEqual([
      1n,
      2n,
      "missed",
      6n,
      "missed",
    ]);
  });
});
