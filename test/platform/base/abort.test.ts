import { getEventListeners } from "node:events";
import {
  withTimeout,
  pause,
  onAbort,
  waitAtMost,
  type WaitSignal,
} from "../../../src/platform/base/abort.ts";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../support/manual-clock.ts";

const never = (signal: WaitSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    onAbort(signal, reject);
  });

describe("withTimeout", () => {
  it("returns the result and leaves no pending sleep", async () => {
    const clock = createManualClock(0);
    expect(await withTimeout(10, clock, new AbortController().signal, async () => 7)).toBe(7);
    await clock.advance(0);
    expect(clock.sleeping()).toBe(0);
  });

  it("returns undefined when the time is over and aborts the work", async () => {
    const clock = createManualClock(0);
    const waiting = withTimeout(10, clock, new AbortController().signal, never);
    await clock.advance(10);
    expect(await waiting).toBeUndefined();
  });

  it("throws the error of the work and the reason of the signal", async () => {
    const clock = createManualClock(0);
    const stop = new AbortController();
    const broken = withTimeout(10, clock, stop.signal, async () => {
      throw new Error("broken");
    });
    await expect(broken).rejects.toThrow("broken");
    const waiting = withTimeout(10, clock, stop.signal, never);
    stop.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
  });
});

describe("waitAtMost", () => {
  it("returns the result and leaves no pending sleep", async () => {
    const clock = createManualClock(0);
    expect(await waitAtMost(10, clock, new AbortController().signal, async () => 7)).toBe(7);
    await clock.advance(0);
    expect(clock.sleeping()).toBe(0);
  });

  it("aborts its signal once when the time is over, and returns undefined", async () => {
    const clock = createManualClock(0);
    const aborted: WaitSignal[] = [];
    const waiting = waitAtMost(10, clock, new AbortController().signal, (signal) => {
      onAbort(signal, () => aborted.push({ ...signal }));
      return never(signal);
    });
    await clock.advance(10);
    expect(await waiting).toBeUndefined();
    expect(aborted).toMatchObject([{ aborted: true, reason: new Error("the time is over") }]);
  });

  it("throws the reason of the outer signal, which its own then has too", async () => {
    const clock = createManualClock(0);
    const stop = new AbortController();
    let own: WaitSignal | undefined;
    const waiting = waitAtMost(10, clock, stop.signal, (signal) => {
      own = signal;
      return never(signal);
    });
    stop.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
    expect(own).toMatchObject({ aborted: true, reason: stop.signal.reason });
  });
});

describe("pause", () => {
  it("ends after the delay or at the abort, without an error", async () => {
    const clock = createManualClock(0);
    const stop = new AbortController();
    const first = pause(10, clock, stop.signal);
    await clock.advance(10);
    await first;
    const second = pause(1_000, clock, stop.signal);
    stop.abort(new Error("stop"));
    await second;
    await pause(1_000, clock, stop.signal);
    expect(clock.nowMs()).toBe(10);
  });
});

describe("onAbort", () => {
  it("uses one listener for any number of callbacks and calls each once", () => {
    const stop = new AbortController();
    const called: number[] = [];
    const unwatch = Array.from({ length: 500 }, (_value, index) =>
      onAbort(stop.signal, () => called.push(index)),
    );
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
    for (const remove of unwatch.slice(1)) remove();
    stop.abort(new Error("stop"));
    expect(called).toEqual([0]);
    onAbort(stop.signal, (reason) => called.push(reason.message.length));
    expect(called).toEqual([0, 4]);
  });
});
