import { describe, expect, it } from "vitest";
import { createMutex } from "../../../src/platform/base/waits.ts";

const signal = new AbortController().signal;

describe("a mutex", () => {
  it("runs one piece of work at a time, in order, also after a failure or an abort", async () => {
    const mutex = createMutex();
    const log: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      log.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} out`);
      if (name === "b") throw new Error("b failed");
    };
    const stop = new AbortController();
    const all = [
      mutex.runExclusive(work("a"), signal),
      mutex.runExclusive(work("b"), signal),
      mutex.runExclusive(work("c"), stop.signal),
      mutex.runExclusive(work("d"), signal),
    ];
    stop.abort(new Error("c aborted"));
    const results = await Promise.allSettled(all);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(log).toEqual(["a in", "a out", "b in", "b out", "d in", "d out"]);
  });
});
