import { describe, expect, it } from "vitest";
import { createHeightSignal } from "../../../src/relayer/registry/height-signal.ts";
import { createManualClock } from "../../support/manual-clock.ts";

describe("the height signal", () => {
  it("wakes who waits at every news, higher or lower, and at once who missed it", async () => {
    const heights: bigint[] = [];
    const clock = createManualClock(0);
    const signal = new AbortController().signal;
    const height = createHeightSignal(clock, (now) => heights.push(now));
    const seen = height.version();
    const waiting = [height.changed(seen, 1_000, signal), height.changed(seen, 1_000, signal)];
    height.set(9n);
    await Promise.all(waiting);
    await height.changed(seen, 1_000, signal);
    const again = height.changed(height.version(), 1_000, signal);
    height.set(2n);
    await again;
    const touched = height.changed(height.version(), 1_000, signal);
    height.touch();
    await touched;
    expect([height.now(), heights]).toEqual([2n, [9n, 2n]]);
  });

  it("wakes by itself after the longest wait, and rejects when it is aborted", async () => {
    const clock = createManualClock(0);
    const stop = new AbortController();
    const height = createHeightSignal(clock, () => {});
    const waiting = height.changed(0, 1_000, stop.signal);
    await clock.advance(1_000);
    await waiting;
    const stopped = height.changed(0, 1_000, stop.signal);
    stop.abort(new Error("stop"));
    await expect(stopped).rejects.toThrow("stop");
    await expect(height.changed(0, 1_000, stop.signal)).rejects.toThrow("stop");
  });
});
