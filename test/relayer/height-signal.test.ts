import { describe, expect, it } from "vitest";
import { createManualClock } from "../support/manual-clock.ts";
import { createHeightSignal } from "../../src/relayer/registry/registry.ts";

describe("the height signal", () => {
  it("wakes all waiters at a higher or lower height and at `wake`, and resolves at once for an old version", async () => {
    const heights: bigint[] = [];
    const clock = createManualClock(0);
    const signal = new AbortController().signal;
    const height = createHeightSignal(clock, (now) => heights.push(now));
    const first = height.version();
    const waiters = [height.changedSince(first, 1_000, signal), height.changedSince(first, 1_000, signal)];
    height.set(9n, 0n);
    await Promise.all(waiters);
    await height.changedSince(first, 1_000, signal);
    const lower = height.changedSince(height.version(), 1_000, signal);
    height.set(2n, 0n);
    await lower;
    const woken = height.changedSince(height.version(), 1_000, signal);
    height.wake();
    await woken;
    expect([height.now(), heights]).toEqual([2n, [9n, 2n]]);
  });

  it("resolves after the longest wait, and rejects on abort", async () => {
    const clock = createManualClock(0);
    const stop = new AbortController();
    const height = createHeightSignal(clock, () => {});
    const waiter = height.changedSince(0, 1_000, stop.signal);
    await clock.advance(1_000);
    await waiter;
    const aborted = height.changedSince(0, 1_000, stop.signal);
    stop.abort(new Error("stop"));
    await expect(aborted).rejects.toThrow("stop");
    await expect(height.changedSince(0, 1_000, stop.signal)).rejects.toThrow("stop");
    height.wake();
    await expect(height.changedSince(0, 1_000, stop.signal)).rejects.toThrow("stop");
  });
});
