import { expect, it } from "vitest";
import { createManualClock } from "../support/manual-clock.ts";
import { createReceiver, rigConfig, startRig } from "../support/watchdog/rig.ts";
import type { Ledger } from "../../src/watchdog/ledger/ledger.ts";
import { createMemoryState } from "../../src/watchdog/state/state-store.ts";
import { createWorld } from "../support/watchdog/world.ts";

const DAY = 86_400_000;

it.each([-30 * DAY, 40 * DAY])(
  "a machine whose clock is set by %d ms is an alert after ten minutes, is on the page, and changes no count",
  async (stepMs) => {
    const clock = createManualClock(Date.UTC(2026, 10, 21, 12));
    const world = createWorld(clock);
    let wrongMs = 0;
    const machine = { ...clock, nowMs: () => clock.nowMs() + wrongMs };
    const read: typeof world.read = async (...args) => ({
      ...(await world.read(...args)),
      clockMs: clock.nowMs(),
    });
    const rig = await startRig(rigConfig(), machine, { ...world, read }, createReceiver());
    const phase = (): string | undefined =>
      rig.watchdog.status().alerts.find(({ rule }) => rule.condition.name === "clock-not-believed")?.state
        ?.phase;
    const clockError = async (): Promise<unknown> => {
      const status: unknown = await (await fetch(`${rig.url}/api/status`)).json();
      return status;
    };
    await clock.advance(60_000);
    expect([phase(), await (await fetch(rig.url)).text()]).toEqual([
      undefined,
      expect.not.stringContaining("clock not believed"),
    ]);
    wrongMs = stepMs;
    await clock.advance(590_000);
    expect(phase()).toBe("pending");
    await clock.advance(30_000);
    const text = `it is ${Math.abs(stepMs) / DAY} d ${stepMs < 0 ? "behind" : "ahead of"} the clock of every source`;
    expect([phase(), await clockError()]).toEqual(["firing", expect.objectContaining({ clock_error: text })]);
    expect(await (await fetch(rig.url)).text()).toContain(`The clock of this machine: ${text}.`);
    wrongMs = 0;
    await clock.advance(120_000);
    expect([phase(), await clockError()]).toEqual([
      "resolved",
      expect.objectContaining({ clock_error: null }),
    ]);
    const { months } = rig.watchdog.status();
    expect(months.map(({ month, counts, hash }) => [month, counts, hash])).toEqual([
      ["2026-11", { good: world.actualAtScrape().good, bad: 0n, unknown: 0n }, undefined],
    ]);
    await rig.stop();
  },
);

/** A machine whose clock can be set, with a state that outlives the watchdog. */
function createMachine() {
  const clock = createManualClock(Date.UTC(2026, 10, 21, 12));
  const machine = { aheadMs: 0 };
  const store = createMemoryState();
  const world = { ...createWorld(clock), openState: () => store };
  const start = (): ReturnType<typeof startRig> => {
    const own = { ...clock, nowMs: () => clock.nowMs() + machine.aheadMs };
    return startRig(rigConfig({ stateDir: "/state" }), own, world, createReceiver());
  };
  return { clock, machine, store, world, start };
}

it("an alert that is pending does not fire early after a restart whose clock was set before it was believed", async () => {
  const { clock, machine, world, start } = createMachine();
  const phaseOf = (rig: Awaited<ReturnType<typeof startRig>>): string | undefined =>
    rig.watchdog.status().alerts.find(({ rule }) => rule.condition.name === "sidecar-down")?.state?.phase;
  const first = await start();
  await clock.advance(60_000);
  world.set("sidecar-down", true);
  await clock.advance(20_000);
  machine.aheadMs = 3_600_000;
  await clock.advance(10_000);
  await first.stop();
  const second = await start();
  expect([phaseOf(first), phaseOf(second)]).toEqual(["pending", "pending"]);
  await clock.advance(60_000);
  expect(phaseOf(second)).toBe("firing");
  await second.stop();
});

it("a clock behind the last poll is not believed, also when the ledger's last reading was dated earlier", async () => {
  const { clock, machine, store, start } = createMachine();
  const first = await start();
  await clock.advance(60_000);
  await first.stop();
  // As after a clock that was set forward and back while nothing showed the time.
  const state = store.load();
  const earlier = (ledger: Ledger): Ledger => {
    const { calls } = ledger.sources;
    if (calls.checkpoint === undefined) throw new Error("nothing was counted");
    const checkpoint = { ...calls.checkpoint, atMs: calls.checkpoint.atMs - 45 * DAY };
    return { ...ledger, sources: { ...ledger.sources, calls: { ...calls, checkpoint } } };
  };
  const ledgers = new Map([...state.ledgers].map(([name, ledger]) => [name, earlier(ledger)]));
  store.save({ ...state, ledgers });
  machine.aheadMs = -40 * DAY;
  const second = await start();
  await clock.advance(10_000);
  const status: unknown = await (await fetch(`${second.url}/api/status`)).json();
  expect(status).toMatchObject({
    clock_error: expect.stringMatching(/^it is at .* before the last poll or block/),
  });
  await second.stop();
});

it("a `Date` before the start of the page's own process is not the time", async () => {
  const clock = createManualClock(Date.UTC(2028, 1, 29, 23, 59));
  const world = createWorld(clock);
  const read: typeof world.read = async (...args) => ({
    ...(await world.read(...args)),
    clockMs: clock.nowMs() - 400 * DAY,
  });
  const node = { name: "node", node: "http://127.0.0.1:26660/metrics" };
  const validators = rigConfig().validators.map((one) => ({
    ...one,
    target: { ...one.target, nodes: [node] },
  }));
  const rig = await startRig(rigConfig({ validators }), clock, { read }, createReceiver());
  await clock.advance(90_000);
  const { months, alerts } = rig.watchdog.status();
  expect(months.map(({ month }) => month).toSorted()).toEqual(["2028-02", "2028-03"]);
  const skew = alerts.find(({ rule }) => rule.condition.name === "clock-skew");
  expect(skew?.state?.phase).toBeUndefined();
  await rig.stop();
});
