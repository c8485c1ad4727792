import { describe, expect, it } from "vitest";
import { createDeferred } from "../../src/platform/process/deferred.ts";
import { areTooFew, reserveKvCycle } from "../../src/relayer/kv/kv-cycle.ts";
import type { ExpectedResult } from "../../src/relayer/result/proven-result.ts";
import { createRunningCycles } from "../../src/relayer/connection/worker.ts";
import { SAMPLE_SETTINGS, sampleState } from "./samples.ts";

const CLIENT = {
  clientId: "07-tendermint-0",
  chainId: "remote-1",
  latestHeight: { revision: 1n, height: 9n },
  trustingPeriodNs: 1n,
  trustLevel: { numerator: 1n, denominator: 3n },
};

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Cycles that end when the test says so. `log` has what happened. */
function setUp() {
  const log: string[] = [];
  const cycles = createRunningCycles(() => void log.push("end"));
  const start = (name: string, queries: number) => {
    const proof = createDeferred<void>();
    cycles.start(queries, async (turn) => {
      await proof.promise;
      await turn;
      log.push(name);
    });
    return proof;
  };
  return { cycles, log, start };
}

describe("cycles that run at the same time", () => {
  it("have their turn in the order of their start, whichever is ready first", async () => {
    const { cycles, log, start } = setUp();
    const [first, second] = [start("first", 100), start("second", 3)];
    expect([cycles.count(), cycles.queries()]).toEqual([2, 103]);
    second.resolve();
    await settle();
    expect(log).toEqual([]);
    first.resolve();
    await settle();
    expect(log).toEqual(["first", "end", "second", "end"]);
    expect([cycles.count(), cycles.queries()]).toEqual([0, 0]);
  });

  it("keep the order when one fails before the one in front of it ends", async () => {
    const { log, start } = setUp();
    const [first, second, third] = [start("first", 1), start("second", 1), start("third", 1)];
    second.reject(new Error("x is down"));
    third.resolve();
    await settle();
    expect(log).toEqual(["end"]);
    first.resolve();
    await settle();
    expect(log).toEqual(["end", "first", "end", "third", "end"]);
  });

  it("give their error once, after the count is lower", async () => {
    const { cycles, start } = setUp();
    expect(cycles.takeError()).toBeUndefined();
    const error = new Error("x is down");
    start("first", 1).reject(error);
    await settle();
    expect(cycles.count()).toBe(0);
    expect(cycles.takeError()).toBe(error);
    expect(cycles.takeError()).toBeUndefined();
  });

  it("that have started before their errors were forgotten give none, whenever they end", async () => {
    const { cycles, start } = setUp();
    const [early, late] = [start("early", 1), start("late", 1)];
    early.reject(new Error("x is down"));
    await settle();
    cycles.forgetErrors();
    expect(cycles.takeError()).toBeUndefined();
    late.reject(new Error("x is down"));
    await settle();
    expect([cycles.takeError(), cycles.count()]).toEqual([undefined, 0]);
    const error = new Error("y is down");
    start("next", 1).reject(error);
    await settle();
    expect(cycles.takeError()).toBe(error);
  });

  it("are over when the last one has ended, whether or not it failed", async () => {
    const { cycles, start } = setUp();
    let over = false;
    const [first, second] = [start("first", 1), start("second", 1)];
    const ended = cycles.ended().then(() => (over = true));
    second.resolve();
    await settle();
    expect(over).toBe(false);
    first.reject(new Error("x is down"));
    await ended;
    await createRunningCycles(() => {}).ended();
  });
});

it("waits for running cycles if less than a tenth of their queries is due", () => {
  expect([
    areTooFew(1, 0),
    areTooFew(1, 10),
    areTooFew(1, 11),
    areTooFew(10, 100),
    areTooFew(9, 100),
  ]).toEqual([false, false, true, false, true]);
});

it("reserves nothing for a query that waits for running cycles", () => {
  const due = [sampleState()];
  const at = { revision: 1n, height: 10n };
  const worker = {
    connectionId: "connection-0",
    localHeight: () => 50n,
    settings: SAMPLE_SETTINGS,
    submitter: {
      reserve: (_connection: string, results: readonly ExpectedResult[]) => ({ results, ids: [1] }),
    },
  };
  const demand = {
    view: { client: CLIENT, headerAt: { ...at, height: 11n }, stateAt: at },
    started: { wallMs: 0, monotonicMs: 0 },
    due,
    lookAhead: 0n,
  };
  expect(reserveKvCycle(worker, { ...demand, running: 10 })?.candidates).toEqual(due);
  expect(reserveKvCycle(worker, { ...demand, running: 11 })).toBeUndefined();
});
