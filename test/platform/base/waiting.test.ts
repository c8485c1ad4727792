import { DeadlineError, withDeadline } from "../../../src/platform/base/abort.ts";
import { describe, expect, it } from "vitest";
import { backoffMs, createBoundedQueue } from "../../../src/platform/base/waits.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { supervise } from "../../../src/platform/base/service.ts";

const never = new AbortController().signal;
const forever = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

describe("backoffMs", () => {
  it("doubles its ceiling, stays within the cap, and never falls below the floor", () => {
    const options = { minMs: 10, baseMs: 100, maxMs: 1_000 };
    expect([0, 1, 2, 3, 4, 99].map((attempt) => backoffMs(attempt, options, () => 1))).toEqual([
      100, 200, 400, 800, 1_000, 1_000,
    ]);
    expect(backoffMs(5, options, () => 0)).toBe(10);
  });
});

describe("withDeadline", () => {
  it("rejects at the deadline even when the work ignores its signal", async () => {
    const work = withDeadline("reading", 5, never, () => new Promise(() => {}));
    await expect(work).rejects.toBeInstanceOf(DeadlineError);
    await expect(work).rejects.toMatchObject({ facts: { what: "reading", afterMs: 5 } });
  });

  it("rejects with the reason of an abort, before and during the work", async () => {
    const reason = new Error("stopped");
    await expect(withDeadline("x", 1_000, AbortSignal.abort(reason), async () => 1)).rejects.toBe(reason);
    const stop = new AbortController();
    const work = withDeadline("x", 1_000, stop.signal, () => new Promise(() => {}));
    stop.abort(reason);
    await expect(work).rejects.toBe(reason);
  });

  it("returns the result", async () => {
    expect(await withDeadline("x", 1_000, never, async () => 7)).toBe(7);
  });
});

describe("BoundedQueue", () => {
  it("drops and counts beyond its capacity, and keeps order", async () => {
    const queue = createBoundedQueue<number>(2);
    expect([queue.offer(1), queue.offer(2), queue.offer(3)]).toEqual([true, true, false]);
    expect(queue.dropped()).toBe(1);
    expect([await queue.take(never), await queue.take(never)]).toEqual([1, 2]);
  });

  it("wakes waiting callers in order and rejects for an aborted one", async () => {
    const queue = createBoundedQueue<string>(1);
    const stop = new AbortController();
    const aborted = queue.take(stop.signal);
    stop.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    const taken = queue.take(never);
    const takenNext = queue.take(never);
    queue.offer("a");
    expect(await taken).toBe("a");
    queue.offer("b");
    expect(await takenNext).toBe("b");
    expect(queue.size()).toBe(0);
  });
});

describe("supervise", () => {
  it("stops all services and returns no error when asked to stop", async () => {
    const stop = new AbortController();
    const done = supervise(
      [
        { name: "a", run: forever },
        { name: "b", run: forever },
      ],
      stop.signal,
      silentLogger,
    );
    stop.abort(new Error("bye"));
    expect(await done).toEqual([]);
  });

  it("stops the other services at the first error and returns all errors", async () => {
    const error = new Error("broken");
    const errors = await supervise(
      [
        { name: "a", run: forever },
        { name: "b", run: async () => Promise.reject(error) },
        { name: "c", run: async (signal) => forever(signal).then(() => Promise.reject(new Error("late"))) },
      ],
      never,
      silentLogger,
    );
    expect(errors.map((entry) => entry.service)).toEqual(["b", "c"]);
    expect(errors[0]?.error).toBe(error);
  });

  it("treats an early return as an error", async () => {
    const errors = await supervise([{ name: "a", run: async () => {} }], never, silentLogger);
    expect(errors).toHaveLength(1);
  });
});
