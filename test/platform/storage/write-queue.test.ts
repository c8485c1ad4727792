import { describe, expect, it } from "vitest";
import { errorText } from "../../../src/platform/base/errors.ts";
import type { SqlDatabase, SqlSession } from "../../../src/platform/storage/sql-database.ts";
import { createWriteQueue } from "../../../src/platform/storage/write-queue.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const SIGNAL = new AbortController().signal;
const NO_SESSION: SqlSession = { run: async () => [] };

/** A database that records the writes of each committed transaction; `failures` transactions fail first. */
function openQueue(failures = 0, failure = "disk full") {
  const clock = createManualClock(0);
  const committed: string[][] = [];
  const errors: (string | undefined)[] = [];
  let current: string[] = [];
  let left = failures;
  const transaction: SqlDatabase["transaction"] = async (work) => {
    current = [];
    const result = await work(NO_SESSION);
    if (left-- > 0) throw new Error(failure);
    committed.push(current);
    return result;
  };
  const queue = createWriteQueue({
    database: { transaction },
    clock,
    random: () => 1,
    isFinal: (error) => errorText(error) === failure && failure === "lease lost",
    onError: (error) => errors.push(error),
  });
  const write = (name: string) => async () => void current.push(name);
  return { clock, queue, committed, errors, write };
}

describe("the write queue", () => {
  it("writes in order, the writes of one step in one transaction", async () => {
    const { queue, committed, write } = openQueue();
    for (const name of ["a", "b", "c"]) queue.push(write(name));
    await queue.flushed(SIGNAL);
    queue.offer(write("d"));
    await queue.flushed(SIGNAL);
    expect(committed).toEqual([["a", "b", "c"], ["d"]]);
    expect(queue.status()).toEqual({ pending: 0, dropped: 0, error: undefined });
  });

  it("repeats a failed transaction, keeps the order, and says when errors begin and end", async () => {
    const { clock, queue, committed, errors, write } = openQueue(3);
    queue.push(write("a"));
    await clock.advance(0);
    queue.push(write("b"));
    expect(queue.status()).toEqual({ pending: 2, dropped: 0, error: "disk full" });
    await clock.advance(10_000);
    await queue.flushed(SIGNAL);
    expect(committed).toEqual([["a", "b"]]);
    expect(errors).toEqual(["disk full", undefined]);
    expect(queue.status().error).toBeUndefined();
  });

  it("does not call a write durable before its commit", async () => {
    const { clock, queue, write } = openQueue(1);
    const stop = new AbortController();
    queue.push(write("a"));
    const flushed = queue.flushed(stop.signal).then(
      () => "durable",
      () => "aborted",
    );
    await clock.advance(0);
    stop.abort(new Error("deadline"));
    expect(await flushed).toBe("aborted");
  });

  it("drops offered writes while it is full, and never pushed ones", async () => {
    const { queue, committed, write } = openQueue();
    for (let index = 0; index < 205; index++) queue.offer(write(`${index}`));
    queue.push(write("last"));
    expect(queue.status()).toMatchObject({ pending: 201, dropped: 5 });
    await queue.flushed(SIGNAL);
    expect(committed.flat().at(-1)).toBe("last");
    expect(committed.flat()).toHaveLength(201);
  });

  it("limits the writes of one transaction", async () => {
    const { queue, committed, write } = openQueue();
    for (let index = 0; index < 1_200; index++) queue.push(write(`${index}`));
    await queue.flushed(SIGNAL);
    expect(committed.map((batch) => batch.length)).toEqual([500, 500, 200]);
  });

  it("drops an offered write that the database refuses for good, and writes all others", async () => {
    const { queue, committed, write } = openQueue();
    queue.push(write("a"));
    queue.offer(async () => {
      throw new RangeError("the integer has 65 bits");
    });
    queue.push(write("b"));
    await queue.flushed(SIGNAL);
    expect(committed.flat()).toEqual(["a", "b"]);
    expect(queue.status()).toEqual({ pending: 0, dropped: 1, error: undefined });
  });

  it("discards all writes when this process must not write any more, and lets nobody take them for durable", async () => {
    const { queue, committed, write } = openQueue(1, "lease lost");
    queue.push(write("a"));
    const waiting = queue.flushed(SIGNAL);
    queue.push(write("b"));
    await expect(waiting).rejects.toThrow("the store did not accept a write: lease lost");
    await expect(queue.flushed(SIGNAL)).rejects.toThrow("did not accept");
    queue.push(write("c"));
    await queue.flushed(SIGNAL);
    expect(committed).toEqual([["c"]]);
    queue.discard();
    await expect(queue.flushed(SIGNAL)).rejects.toThrow("it was discarded");
  });

  it("stops retrying when it is closed", async () => {
    const { clock, queue, write } = openQueue(1_000);
    queue.push(write("a"));
    await clock.advance(5_000);
    queue.stop();
    await clock.advance(0);
    expect(clock.sleeping()).toBe(0);
    expect(queue.status().pending).toBe(1);
  });
});
