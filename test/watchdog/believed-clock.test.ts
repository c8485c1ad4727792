import { describe, expect, it } from "vitest";
import { type BelievedClock, createBelievedClock } from "../../src/watchdog/polling/believed-clock.ts";

const TRUE_MS = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** What a poll can see of the time. */
interface Seen {
  readonly chain?: boolean;
  readonly sources?: boolean;
  readonly lastPollMs?: number;
}

/** A machine whose clock is `wrongMs` ahead of the time. The monotonic clock began at the boot. */
function machineAt(wrongMs: number): {
  readonly clock: BelievedClock;
  /** Steps the machine's clock. */
  readonly step: (ms: number) => void;
  /** Polls after `afterMs`. Returns by how much stored times are to be moved. */
  readonly poll: (seen?: Seen, afterMs?: number) => number;
  /** By how much the clock differs from the time. */
  readonly error: () => number;
} {
  let ahead = wrongMs;
  let sinceBoot = 5 * MINUTE;
  const now = (): number => TRUE_MS + sinceBoot;
  const clock = createBelievedClock({
    nowMs: () => now() + ahead,
    monotonicMs: () => sinceBoot,
    sleep: async () => {},
  });
  return {
    clock,
    step: (ms) => {
      ahead += ms;
    },
    poll: ({ chain = false, sources = false, lastPollMs } = {}, afterMs = 5000) => {
      sinceBoot += afterMs;
      return clock.compare({
        dates: sources ? [{ host: "node:26657", timeMs: now(), readMs: sinceBoot }] : [],
        chainMs: chain ? now() - 3000 : undefined,
        lastPollMs,
      });
    },
    error: () => clock.nowMs() - now(),
  };
}

/** Polls every minute. */
function pollFor(machine: ReturnType<typeof machineAt>, minutes: number, seen?: Seen): void {
  for (let minute = 0; minute < minutes; minute++) machine.poll(seen, MINUTE);
}

describe("the believed clock", () => {
  it.each([-30 * DAY, 40 * DAY, -60 * MINUTE])(
    "does not follow a step of %d ms while the watchdog runs",
    (ms) => {
      const machine = machineAt(0);
      machine.poll();
      machine.step(ms);
      expect([machine.poll(), machine.error()]).toEqual([0, 0]);
      expect(machine.clock.view().problem).toMatch(ms > 0 ? /set forward by 40 d/ : /set back by/);
      expect(machine.clock.view().believedSinceMs).toBeUndefined();
      machine.step(-ms);
      expect([machine.poll(), machine.error(), machine.clock.view().problem]).toEqual([0, 0, ""]);
    },
  );

  it("follows a step that nothing contradicts for a quarter of an hour, and says by how much times move", () => {
    const machine = machineAt(0);
    machine.poll();
    machine.step(60 * MINUTE);
    pollFor(machine, 15);
    expect(machine.error()).toBe(0);
    expect([machine.poll({}, MINUTE), machine.error()]).toEqual([60 * MINUTE, 60 * MINUTE]);
  });

  it("does not follow a step that the sources' clocks contradict, however long it lasts", () => {
    const machine = machineAt(0);
    machine.poll({ sources: true });
    machine.step(40 * DAY);
    pollFor(machine, 60, { sources: true });
    expect(machine.error()).toBe(0);
    expect(machine.clock.view().problem).toBe("it is 40 d ahead of the clock of every source");
  });

  it("follows a step to the chain's time at once", () => {
    const machine = machineAt(-30 * DAY);
    machine.poll();
    machine.step(30 * DAY);
    expect([machine.poll({ chain: true }), machine.error()]).toEqual([30 * DAY, 0]);
    expect(machine.clock.view().change).toBe("the clock of this machine was set forward by 30 d");
  });

  it("takes the sources' time when the machine starts with a wrong clock", () => {
    const machine = machineAt(-30 * DAY);
    machine.poll({ sources: true });
    expect(machine.error()).toBe(0);
    expect(machine.clock.view().problem).toBe("it is 30 d behind the clock of every source");
  });

  it("is not before the last stored poll", () => {
    const machine = machineAt(-30 * DAY);
    const lastPollMs = TRUE_MS;
    machine.poll({ lastPollMs });
    expect(machine.clock.nowMs()).toBe(lastPollMs);
    expect(machine.clock.view().problem).toMatch(/30 d before the last poll or block/);
  });

  it("is not before a block that was seen earlier, while the chain cannot be read", () => {
    const machine = machineAt(-10 * MINUTE);
    machine.poll({ lastPollMs: TRUE_MS + 5 * MINUTE });
    machine.poll({ chain: true });
    expect(Math.abs(machine.error())).toBeLessThan(MINUTE);
    // The clock has passed the stored poll by now, and is as wrong as before.
    pollFor(machine, 30);
    expect(Math.abs(machine.error())).toBeLessThan(MINUTE);
    expect(machine.clock.view().problem).toMatch(/10 min before the last poll or block/);
    machine.step(10 * MINUTE);
    machine.poll();
    expect([machine.error(), machine.clock.view().problem]).toEqual([0, ""]);
  });

  it("moves stored times of the future when the chain shows that they are wrong", () => {
    const machine = machineAt(0);
    expect(machine.poll({ chain: true, lastPollMs: TRUE_MS + 40 * DAY })).toBe(-40 * DAY + 5 * MINUTE + 5000);
    expect([machine.error(), machine.clock.view().problem]).toEqual([0, ""]);
  });

  it("does not listen to a source whose clock was never set", () => {
    const { clock } = machineAt(0);
    const readMs = 5 * MINUTE;
    clock.compare({
      dates: [{ host: "node:26657", timeMs: readMs, readMs }],
      chainMs: undefined,
      lastPollMs: undefined,
    });
    expect(clock.view().problem).toBe("");
    expect(clock.nowMs()).toBe(TRUE_MS + readMs);
  });

  it("follows drift without a word", () => {
    const machine = machineAt(0);
    machine.poll();
    for (let count = 0; count < 100; count++) {
      machine.step(500);
      expect(machine.poll()).toBe(0);
    }
    expect(machine.error()).toBe(50_000);
    expect(machine.clock.view()).toMatchObject({ problem: "", changes: 0 });
  });
});

it("has whole milliseconds, whatever fractions the monotonic clock and the witnesses have", () => {
  let sinceBoot = 1000.1875;
  const clock = createBelievedClock({
    nowMs: () => TRUE_MS - 3_600_000,
    monotonicMs: () => sinceBoot,
    sleep: async () => {},
  });
  const lastPollMs = TRUE_MS - 30_000;
  expect(Number.isInteger(clock.nowMs())).toBe(true);
  const date = { host: "node:26657", timeMs: TRUE_MS, readMs: sinceBoot };
  clock.compare({ dates: [date], chainMs: TRUE_MS - 3000.5, lastPollMs });
  sinceBoot += 5000.0313;
  const later = { host: "node:26657", timeMs: TRUE_MS + 7_200_000, readMs: sinceBoot };
  const moved = clock.compare({ dates: [later], chainMs: TRUE_MS + 7_200_000.25, lastPollMs });
  expect(moved).not.toBe(0);
  expect([clock.nowMs(), moved, clock.view().believedSinceMs ?? 0].map(Number.isInteger)).toEqual([
    true,
    true,
    true,
  ]);
});
