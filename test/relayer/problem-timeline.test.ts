import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { coveredMs, createProblemTimeline } from "../../src/relayer/health/problem-timeline.ts";
import type { Problem } from "../../src/relayer/health/problems.ts";
import type { RelayerStore } from "../../src/relayer/state/store.ts";
import { openTestStore } from "../support/relayer-store.ts";

const SIGNAL = new AbortController().signal;
const START = 1_800_000_000_000;
const UNREACHABLE: Problem = { code: "remote-unreachable", connectionId: "connection-0", text: "down" };

let folder = "";
let store: RelayerStore;
let nowMs = START;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-timeline-"));
  nowMs = START;
  store = await openTestStore(folder);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const open = (account = "neutron1a") => {
  const timeline = createProblemTimeline({ chainId: "local-1", account, store, nowMs: () => nowMs });
  const run = (seconds: number, problems: readonly Problem[] = []) => {
    for (let second = 0; second < seconds; second++) {
      timeline.record(problems);
      nowMs += 1_000;
    }
  };
  const now = () => ({
    runs: timeline.runs().map(({ fromMs, untilMs }) => [fromMs - START, untilMs - START]),
    problems: timeline
      .problems()
      .map(({ code, connectionId, fromMs, untilMs, reason }) => [
        code,
        connectionId,
        fromMs - START,
        untilMs - START,
        reason,
      ]),
  });
  return { ...timeline, run, now };
};

describe("the time line of problems", () => {
  it("forgets nothing by a clock that is ahead of the chain", () => {
    const timeline = createProblemTimeline({
      chainId: "local-1",
      account: "neutron1a",
      store,
      nowMs: () => nowMs,
      localTimeMs: () => START,
    });
    timeline.record([]);
    nowMs += 4_000 * 24 * 3_600_000;
    timeline.record([]);
    expect(timeline.runs()).toHaveLength(2);
  });

  it("has no run in a pause of more than half a minute: nobody looked then", () => {
    const { run, now } = open();
    run(10);
    nowMs += 29_000;
    run(10);
    nowMs += 40_000;
    run(10);
    expect(now().runs).toEqual([
      [0, 48_000],
      [89_000, 98_000],
    ]);
  });

  it("has a problem while it is there, and one that returns soon is the same", () => {
    const { run, now } = open();
    run(10);
    run(5, [UNREACHABLE]);
    run(10);
    run(5, [{ ...UNREACHABLE, text: "still down" }]);
    run(20);
    run(1, [UNREACHABLE]);
    expect(now()).toEqual({
      runs: [[0, 50_000]],
      problems: [
        ["remote-unreachable", "connection-0", 10_000, 29_000, "still down"],
        ["remote-unreachable", "connection-0", 50_000, 50_000, "down"],
      ],
    });
  });

  it("survives a kill, and the time without a process is in no run", async () => {
    const first = open();
    first.run(40, [UNREACHABLE]);
    await store.queue.flushed(SIGNAL);
    // Killed: nothing is saved any more.
    nowMs += 600_000;
    const second = open();
    await second.load();
    second.run(3);
    const [before, after] = second.now().runs;
    expect(before?.[0]).toBe(0);
    // At most the interval of the writes is lost.
    expect(before?.[1]).toBeGreaterThanOrEqual(25_000);
    expect(before?.[1]).toBeLessThanOrEqual(40_000);
    expect(after).toEqual([640_000, 642_000]);
    expect(second.now().problems).toEqual([["remote-unreachable", "connection-0", 0, before?.[1], "down"]]);
  });

  it("an orderly end is exact, and another account has a time line of its own", async () => {
    const first = open();
    first.run(7, [UNREACHABLE]);
    first.save();
    await store.queue.flushed(SIGNAL);
    const second = open();
    await second.load();
    expect(second.now().runs).toEqual([[0, 6_000]]);
    const other = open("neutron1b");
    await other.load();
    expect(other.now()).toEqual({ runs: [], problems: [] });
  });

  it("a suspended process did not run", () => {
    const { run, now } = open();
    run(5, [UNREACHABLE]);
    nowMs += 3_600_000;
    run(2, [UNREACHABLE]);
    expect(now().runs).toEqual([
      [0, 4_000],
      [3_605_000, 3_606_000],
    ]);
    expect(now().problems.map(([, , from, until]) => [from, until])).toEqual([
      [0, 4_000],
      [3_605_000, 3_606_000],
    ]);
  });

  it("forgets what is older than a week, and the oldest of too many", async () => {
    const { run, now, load } = open();
    run(1, [UNREACHABLE]);
    nowMs += 9 * 86_400_000;
    run(1);
    expect(now().problems).toEqual([]);
    for (let time = 0; time < 2_500; time++) {
      run(1, [UNREACHABLE]);
      nowMs += 20_000;
    }
    expect(now().problems).toHaveLength(2_000);
    await store.queue.flushed(SIGNAL);
    await load();
    expect(now().problems.length).toBeLessThanOrEqual(2_001);
  });
});

describe("coveredMs", () => {
  it("counts overlapping spans once", () =>
    expect(
      coveredMs(
        [
          { fromMs: 0, untilMs: 10 },
          { fromMs: 5, untilMs: 20 },
          { fromMs: 30, untilMs: 99 },
        ],
        { fromMs: 8, untilMs: 40 },
      ),
    ).toBe(22));
});
