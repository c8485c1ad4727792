import { describe, expect, it } from "vitest";
import {
  BusyError,
  createSearchQueue,
  MAX_WAITING_SEARCHES,
} from "../../../src/localnet/node/base/search-queue.ts";
import { createDeferred } from "../../../src/platform/process/deferred.ts";

const STAYS = (): boolean => false;

/** A queue whose searches take the time that they name, and a log of what ran. */
function createLoggedQueue() {
  const log: string[] = [];
  let nowMs = 0;
  const queue = createSearchQueue({
    monotonicMs: () => nowMs,
    rest: async (ms) => log.push(`rest ${ms}`),
  });
  const search = (name: string, ms: number) => (): string => {
    nowMs += ms;
    log.push(name);
    return name;
  };
  return { queue, log, search };
}

describe("the queue of searches", () => {
  it("runs request by request, and rests after each call for as long as it took", async () => {
    const { queue, log, search } = createLoggedQueue();
    const results = await Promise.all([
      queue.run([search("a1", 300), search("a2", 20)], STAYS),
      queue.run([search("b1", 0)], STAYS),
    ]);
    expect(results).toEqual([["a1", "a2"], ["b1"]]);
    expect(log).toEqual(["a1", "rest 300", "a2", "rest 20", "b1", "rest 0"]);
  });

  it("refuses what exceeds the calls that may wait, and takes requests again later", async () => {
    const { queue, search } = createLoggedQueue();
    const running = createDeferred<string>();
    const first = queue.run([() => running.promise], STAYS);
    const waiting = queue.run(
      Array.from({ length: MAX_WAITING_SEARCHES }, (_, index) => search(`${index}`, 1)),
      STAYS,
    );
    await expect(queue.run([search("more", 1)], STAYS)).rejects.toThrow(BusyError);
    running.resolve("done");
    expect(await first).toEqual(["done"]);
    expect(await waiting).toHaveLength(MAX_WAITING_SEARCHES);
    expect(await queue.run([search("more", 1)], STAYS)).toEqual(["more"]);
  });

  it("runs no call of a client that is gone, and gives its place to another", async () => {
    const { queue, log, search } = createLoggedQueue();
    let isGone = false;
    const left = queue.run(
      [
        search("one", 1),
        () => {
          isGone = true;
          return "two";
        },
        search("three", 1),
      ],
      () => isGone,
    );
    const behind = Array.from({ length: MAX_WAITING_SEARCHES }, () => search("never", 1));
    const dropped = queue.run(behind, () => true);
    expect(await queue.run([search("other", 1)], STAYS)).toEqual(["other"]);
    await expect(left).rejects.toThrow("the client has disconnected");
    await expect(dropped).rejects.toThrow("the client has disconnected");
    expect(log.filter((entry) => !entry.startsWith("rest"))).toEqual(["one", "other"]);
  });

  it("goes on after a search that fails", async () => {
    const { queue, search } = createLoggedQueue();
    const failing = queue.run<string>(
      [
        () => {
          throw new Error("no such page");
        },
      ],
      STAYS,
    );
    const next = queue.run([search("next", 1)], STAYS);
    await expect(failing).rejects.toThrow("no such page");
    expect(await next).toEqual(["next"]);
  });
});
