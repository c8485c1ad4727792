import { describe, expect, it } from "vitest";
import { createWakeSignal } from "../../../src/platform/base/waits.ts";

const { signal } = new AbortController();

describe("WakeSignal", () => {
  it("wakes all waiting callers once and rejects for an aborted one", async () => {
    const wakeSignal = createWakeSignal();
    const stop = new AbortController();
    const waits = [wakeSignal.next(signal), wakeSignal.next(signal), wakeSignal.next(stop.signal)];
    stop.abort(new Error("stop"));
    wakeSignal.wake();
    const ends = await Promise.allSettled(waits);
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  });

  it("forgets a call of wake without waiting callers", async () => {
    const wakeSignal = createWakeSignal();
    wakeSignal.wake();
    let isAwake = false;
    const next = wakeSignal.next(signal).then(() => (isAwake = true));
    await Promise.resolve();
    expect(isAwake).toBe(false);
    wakeSignal.wake();
    await next;
  });

  it("rejects at once when the signal is aborted already", async () => {
    const reason = new Error("stopped");
    await expect(createWakeSignal().next(AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it("does not wake a caller twice that waits again while it is woken", async () => {
    const wakeSignal = createWakeSignal();
    let wakes = 0;
    const twice = wakeSignal
      .next(signal)
      .then(() => {
        wakes += 1;
        return wakeSignal.next(signal);
      })
      .then(() => (wakes += 1));
    wakeSignal.wake();
    await new Promise((resolve) => setImmediate(resolve));
    expect(wakes).toBe(1);
    wakeSignal.wake();
    await twice;
  });
});
