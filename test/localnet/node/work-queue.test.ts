import { describe, expect, it } from "vitest";
import {
  BusyError,
  createWorkQueue,
  MAX_WAITING_REQUESTS,
  type QueuedCall,
} from "../../../src/localnet/node/base/work-queue.ts";
import { createDeferred } from "../../../src/platform/process/deferred.ts";

const STAYS = { isGone: () => false, budget: { untilCapacity: () => undefined } };

/** A queue whose calls take the time that they name, and a log of what ran. */
function createLoggedQueue() {
  const log: string[] = [];
  const clock = { nowMs: 0 };
  /** Ends the wait for capacity. */
  const expired = createDeferred<void>();
  const queue = createWorkQueue({
    monotonicMs: () => clock.nowMs,
    rest: async (ms) => log.push(`rest ${ms}`),
    expire: (ms) => {
      log.push(`expire after ${ms}`);
      return expired.promise;
    },
  });
  const call = (name: string, ms: number) => (): string => {
    clock.nowMs += ms;
    log.push(name);
    return name;
  };
  /** Occupies the queue until the returned function is called. */
  const hold = async (): Promise<() => Promise<unknown>> => {
    const running = createDeferred<string>();
    const held = queue.run([() => running.promise], STAYS);
    await Promise.resolve();
    return () => {
      running.resolve("");
      return held;
    };
  };
  return { queue, log, clock, call, hold, expire: expired.resolve };
}

describe("the queue of requests", () => {
  it("runs request by request, and pauses after ten milliseconds of work", async () => {
    const { queue, log, call } = createLoggedQueue();
    const results = await Promise.all([
      queue.run([call("a1", 49), call("a2", 4), call("a3", 4)], STAYS),
      queue.run([call("b1", 4)], STAYS),
    ]);
    expect(results).toEqual([["a1", "a2", "a3"], ["b1"]]);
    expect(log).toEqual(["a1", "rest 0", "a2", "a3", "b1", "rest 0"]);
  });

  it("rests as long as a call that takes fifty milliseconds, so that others get into the queue", async () => {
    const { queue, log, call } = createLoggedQueue();
    await queue.run([call("slow", 50)], STAYS);
    expect(log).toEqual(["slow", "rest 50"]);
  });

  it("lets a long call pause between its parts", async () => {
    const { queue, log, call } = createLoggedQueue();
    const long: QueuedCall<string> = async (pause) => {
      for (const part of ["1", "2", "3"]) {
        call(part, 6)();
        await pause();
      }
      return "done";
    };
    expect(await queue.run([long], STAYS)).toEqual(["done"]);
    expect(log).toEqual(["1", "2", "rest 0", "3"]);
  });

  it("rests as long as it worked and runs the newest request first while requests wait long", async () => {
    const { queue, log, clock, call, hold } = createLoggedQueue();
    const release = await hold();
    const done = [
      queue.run([call("old", 30)], STAYS),
      queue.run([call("older than half a second", 30)], STAYS),
    ];
    clock.nowMs += 501;
    done.push(queue.run([call("new", 30)], STAYS));
    await release();
    await Promise.all(done);
    expect(log).toEqual([
      "rest 501",
      "new",
      "rest 30",
      "older than half a second",
      "rest 30",
      "old",
      "rest 0",
    ]);
  });

  it("refuses the oldest request when too many wait, and each after five seconds", async () => {
    const { queue, log, clock, call, hold } = createLoggedQueue();
    const release = await hold();
    const first = queue.run([call("first", 1)], STAYS);
    const others = Array.from({ length: MAX_WAITING_REQUESTS }, () => queue.run([call("other", 0)], STAYS));
    await expect(first).rejects.toThrow(BusyError);
    clock.nowMs += 5_001;
    const last = queue.run([call("last", 1)], STAYS);
    // It takes the place of another.
    await expect(others[0]).rejects.toThrow(BusyError);
    const refused = Promise.allSettled(others);
    await release();
    expect(await last).toEqual(["last"]);
    expect((await refused).map(({ status }) => status)).toEqual(others.map(() => "rejected"));
    expect(log.filter((entry) => !entry.startsWith("rest"))).toEqual(["last"]);
  });

  it("runs no call of a client that is gone", async () => {
    const { queue, log, call } = createLoggedQueue();
    let isGone = false;
    const leave = (): string => {
      isGone = true;
      return "two";
    };
    const left = queue.run([call("one", 1), leave, call("three", 1)], { ...STAYS, isGone: () => isGone });
    const other = queue.run([call("other", 1)], STAYS);
    await expect(left).rejects.toThrow("the client has disconnected");
    expect(await other).toEqual(["other"]);
    expect(log).toEqual(["one", "other"]);
  });

  it("starts a request when there is capacity for its response", async () => {
    const { queue, log, call } = createLoggedQueue();
    const capacity = createDeferred<void>();
    const full = { isGone: () => false, budget: { untilCapacity: () => capacity.promise } };
    const waiting = queue.run([call("a", 1)], full);
    await Promise.resolve();
    expect(log).toEqual(["expire after 2000"]);
    capacity.resolve();
    expect(await waiting).toEqual(["a"]);
  });

  it("refuses a request for whose response there is no capacity in time, and goes on with the next", async () => {
    const { queue, log, call, expire } = createLoggedQueue();
    const never = { isGone: () => false, budget: { untilCapacity: () => createDeferred<void>().promise } };
    const refused = expect(queue.run([call("a", 1)], never)).rejects.toBeInstanceOf(BusyError);
    const next = queue.run([call("next", 1)], STAYS);
    expire();
    await refused;
    expect(await next).toEqual(["next"]);
    expect(log).toEqual(["expire after 2000", "next"]);
  });

  it("goes on after a call that fails", async () => {
    const { queue, call } = createLoggedQueue();
    const failing = queue.run<string>(
      [
        () => {
          throw new Error("no such page");
        },
      ],
      STAYS,
    );
    const next = queue.run([call("next", 1)], STAYS);
    await expect(failing).rejects.toThrow("no such page");
    expect(await next).toEqual(["next"]);
  });
});
