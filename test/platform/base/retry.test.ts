import { describe, expect, it } from "vitest";
import { errorText } from "../../../src/platform/base/errors.ts";
import { retry, type RetryOptions } from "../../../src/platform/base/retry.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const BACKOFF = { minMs: 100, baseMs: 200, maxMs: 1_000 };

function world(more: Partial<RetryOptions> = {}) {
  const clock = createManualClock(0);
  const life = new AbortController();
  const options: RetryOptions = { backoff: BACKOFF, clock, random: () => 1, signal: life.signal, ...more };
  return { clock, life, options };
}

/** Work that fails with each of `errors`, and then returns "done". `atMs` has the time of each try. */
function failing(errors: readonly string[], clock: { readonly monotonicMs: () => number }) {
  const atMs: number[] = [];
  const work = async (): Promise<string> => {
    const error = errors[atMs.length];
    atMs.push(clock.monotonicMs());
    if (error !== undefined) throw new Error(error);
    return "done";
  };
  return { atMs, work };
}

describe("retry", () => {
  it("returns the first result without a pause", async () => {
    const { clock, options } = world();
    expect(await retry(failing([], clock).work, options)).toBe("done");
    expect(clock.sleeping()).toBe(0);
  });

  it("doubles the pause after each error, up to its maximum", async () => {
    const { clock, options } = world();
    const { atMs, work } = failing(["1", "2", "3", "4", "5"], clock);
    const done = retry(work, options);
    await clock.advance(10_000);
    expect(await done).toBe("done");
    expect(atMs).toEqual([0, 200, 600, 1_400, 2_400, 3_400]);
  });

  it("draws the pause between its minimum and its ceiling", async () => {
    const { clock, options } = world({ random: () => 0.5 });
    const { atMs, work } = failing(["1", "2"], clock);
    const done = retry(work, options);
    await clock.advance(10_000);
    await done;
    expect(atMs).toEqual([0, 150, 400]);
  });

  it("chooses the backoff by the error", async () => {
    const short = { minMs: 1, baseMs: 1, maxMs: 1 };
    const { clock, options } = world({
      backoff: (error) => (errorText(error).includes("short") ? short : BACKOFF),
    });
    const { atMs, work } = failing(["short", "long"], clock);
    const done = retry(work, options);
    await clock.advance(10_000);
    await done;
    expect(atMs).toEqual([0, 1, 401]);
  });

  it("reports each error before its pause, and does not count it yet", async () => {
    const tries = { failures: 0 };
    const seen: unknown[] = [];
    const { clock, options } = world({
      tries,
      onError: (error) => seen.push([errorText(error), tries.failures]),
    });
    const done = retry(failing(["a", "b"], clock).work, options);
    await clock.advance(10_000);
    await done;
    expect(seen).toEqual([
      ["a", 0],
      ["b", 1],
    ]);
    expect(tries.failures).toBe(2);
  });

  it("begins with the shortest pause again after work has made progress", async () => {
    const tries = { failures: 0 };
    const { clock, options } = world({ tries });
    const { atMs, work } = failing(["1", "2", "3"], clock);
    const done = retry(async () => {
      if (atMs.length === 2) tries.failures = 0;
      return await work();
    }, options);
    await clock.advance(10_000);
    await done;
    expect(atMs).toEqual([0, 200, 600, 800]);
  });

  it("ends a pause at the abort, and returns nothing", async () => {
    const { clock, life, options } = world();
    const { atMs, work } = failing(["a", "b"], clock);
    const done = retry(work, options);
    await clock.advance(100);
    life.abort();
    expect(await done).toBeUndefined();
    expect([atMs, clock.sleeping()]).toEqual([[0], 0]);
  });

  it("does not report an error after the abort", async () => {
    const seen: unknown[] = [];
    const { life, options } = world({ onError: (error) => seen.push(error) });
    const done = retry(async () => {
      life.abort();
      throw new Error("the call was aborted");
    }, options);
    expect(await done).toBeUndefined();
    expect(seen).toEqual([]);
  });

  it("does not begin after the abort", async () => {
    const { clock, life, options } = world();
    life.abort();
    const { atMs, work } = failing([], clock);
    expect(await retry(work, options)).toBeUndefined();
    expect(atMs).toEqual([]);
  });
});
