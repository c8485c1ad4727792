import { onAbort } from "../../../src/base/abort.ts";
import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { createNoticeQueue } from "../../../src/client/events/notice-queue.ts";
import type { ChainNotice } from "../../../src/client/events/subscription.ts";
import { createTurnstile } from "../../../src/client/tx/mutex.ts";

const signal = new AbortController().signal;

describe("watching a signal", () => {
  it("takes one listener for any number of watchers, and tells each once", () => {
    const stop = new AbortController();
    const told: number[] = [];
    const forget = Array.from({ length: 500 }, (_value, index) =>
      onAbort(stop.signal, () => told.push(index)),
    );
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
    for (const one of forget.slice(1)) one();
    stop.abort(new Error("stop"));
    expect(told).toEqual([0]);
    onAbort(stop.signal, (reason) => told.push(reason.message.length));
    expect(told).toEqual([0, 4]);
  });
});

describe("a turnstile", () => {
  it("lets one through at a time, in order, also past those who fail or leave", async () => {
    const turnstile = createTurnstile();
    const log: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      log.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} out`);
      if (name === "b") throw new Error("b failed");
    };
    const stop = new AbortController();
    const all = [
      turnstile(work("a"), signal),
      turnstile(work("b"), signal),
      turnstile(work("c"), stop.signal),
      turnstile(work("d"), signal),
    ];
    stop.abort(new Error("c left"));
    const ends = await Promise.allSettled(all);
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(log).toEqual(["a in", "a out", "b in", "b out", "d in", "d out"]);
  });
});

describe("the queue of notices", () => {
  const block = (height: bigint): ChainNotice => ({ kind: "block", height, timeNs: 0n });

  it("holds its capacity and one gap, and marks every gap anew", async () => {
    const queue = createNoticeQueue(2);
    for (let height = 1n; height <= 5n; height++) queue.offer(block(height));
    expect(queue.dropped()).toBe(3);
    const seen = [await queue.next(signal), await queue.next(signal)];
    queue.offer(block(6n));
    queue.offer(block(7n));
    for (let left = 3; left > 0; left--) seen.push(await queue.next(signal));
    expect(seen.map((notice) => (notice.kind === "block" ? notice.height : notice.kind))).toEqual([
      1n,
      2n,
      "missed",
      6n,
      "missed",
    ]);
  });
});
