import { describe, expect, it } from "vitest";
import { createChainClock, mineBlocks } from "../../../../src/localnet/control/chain-clock.ts";
import { DAY_MS, isoTime } from "../../../../src/platform/base/time.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

const START = Date.parse("2026-11-28T12:00:00Z");

function open() {
  const machine = createManualClock(START);
  return { machine, clock: createChainClock(machine) };
}

describe("the clock of the chains", () => {
  it("is the machine's clock at first", async () => {
    const { machine, clock } = open();
    await machine.advance(1_500);
    expect([clock.nowMs(), clock.monotonicMs(), clock.rate()]).toEqual([
      START + 1_500,
      machine.monotonicMs(),
      1,
    ]);
  });

  it("goes on from where it was moved to", async () => {
    const { machine, clock } = open();
    clock.set(START + 30 * DAY_MS);
    await machine.advance(2_000);
    expect(isoTime(clock.nowMs())).toBe("2026-12-28T12:00:02.000Z");
  });

  it("passes at its rate, and stops at 0, without a jump at a change", async () => {
    const { machine, clock } = open();
    clock.setRate(86_400);
    await machine.advance(10_000);
    clock.setRate(0);
    await machine.advance(10_000);
    expect(isoTime(clock.nowMs())).toBe("2026-12-08T12:00:00.000Z");
    clock.setRate(1);
    await machine.advance(1_000);
    expect(isoTime(clock.nowMs())).toBe("2026-12-08T12:00:01.000Z");
  });

  it("refuses what no chain can follow, and stays as it was", () => {
    const { clock } = open();
    for (const refused of [
      () => clock.set(START - 1),
      () => clock.set(START + 101 * 365.25 * DAY_MS),
      () => clock.setRate(-1),
      () => clock.setRate(Number.NaN),
      () => clock.setRate(10_000_001),
    ])
      expect(refused).toThrowError(expect.objectContaining({ facts: { code: "bad-time" } }));
    expect([clock.nowMs(), clock.rate()]).toEqual([START, 1]);
  });

  it("continues from a later block, and ignores an earlier one", () => {
    const { clock } = open();
    clock.continueFrom(START - DAY_MS);
    expect(clock.nowMs()).toBe(START);
    clock.continueFrom(START + DAY_MS);
    expect(clock.nowMs()).toBe(START + DAY_MS);
  });
});

it("blocks without an interval leave a clock alone that ticks", async () => {
  let now = START;
  // Each reading is later than the one before.
  const clock = createChainClock({ ...createManualClock(START), nowMs: () => (now += 1) });
  let made = 0;
  await mineBlocks([], clock, {
    count: 3,
    everyMs: 0,
    beforeEach: () => {
      made += 1;
      return Promise.resolve();
    },
  });
  expect(made).toBe(3);
});
