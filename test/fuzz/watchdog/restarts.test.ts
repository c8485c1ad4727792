import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../support/manual-clock.ts";
import { createReceiver, type Rig, rigConfig, startRig } from "../../support/watchdog/rig.ts";
import { REWARD_CONDITIONS } from "../../../src/watchdog/conditions/reward-conditions.ts";
import { createWorld, type WorldFault } from "../../support/watchdog/world.ts";

type Step =
  | { readonly kind: "wait"; readonly seconds: number }
  | { readonly kind: "restart-node" }
  | { readonly kind: "restart-watchdog"; readonly downSeconds: number }
  | { readonly kind: "toggle"; readonly fault: WorldFault };

const FAULTS: readonly WorldFault[] = [
  "no-prices",
  "sidecar-down",
  "blind-node",
  "blind-prices",
  "html-node",
];
const fault = fc.constantFrom(...FAULTS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), seconds: fc.integer({ min: 1, max: 400 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "restart-node" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("restart-watchdog" as const),
      downSeconds: fc.integer({ min: 0, max: 900 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("toggle" as const), fault }) },
);

/** Runs the steps, then ten minutes without faults. Returns the counts, the actual counts, the notifications and the alerts. */
async function play(steps: readonly Step[]) {
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-fuzz-"));
  const clock = createManualClock(Date.UTC(2026, 10, 30, 23, 30));
  const world = createWorld(clock);
  const receiver = createReceiver();
  const defaults = rigConfig({}).alerts;
  // A low success rate lasts until the end of the month; alerts of it do not end with the fault.
  const rules = defaults.rules.filter(({ condition }) => !REWARD_CONDITIONS.includes(condition));
  const config = rigConfig({ stateDir: folder, alerts: { ...defaults, rules } });
  let rig: Rig = await startRig(config, clock, world, receiver);
  try {
    for (const one of steps) {
      if (one.kind === "wait") await clock.advance(one.seconds * 1000);
      else if (one.kind === "restart-node") world.restartNode();
      else if (one.kind === "toggle") world.set(one.fault, !world.has(one.fault));
      else {
        expect(await rig.stop()).toBeUndefined();
        await clock.advance(one.downSeconds * 1000);
        rig = await startRig(config, clock, world, receiver);
      }
      // Gauges are computed when somebody reads them.
      await rig.registry.metrics();
    }
    for (const one of FAULTS) world.set(one, false);
    // Longer than the window of failed calls, and the time for which an alert must be clear.
    await clock.advance(600_000);
    const counted = { good: 0n, bad: 0n, unknown: 0n };
    for (const { counts } of rig.watchdog.status().months) {
      counted.good += counts.good;
      counted.bad += counts.bad;
      counted.unknown += counts.unknown;
    }
    const { alerts } = rig.watchdog.status();
    return { counted, actual: world.actualAtScrape(), sent: receiver.alerts, alerts };
  } finally {
    await rig.stop();
    rmSync(folder, { recursive: true });
  }
}

describe("a watchdog over restarts of node, sidecar and itself", () => {
  it("counts every block once, and notifies once of each alert and once of its end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { counted, actual, sent, alerts } = await play(steps);
        expect(counted.good + counted.bad + counted.unknown).toBe(actual.height);
        expect(counted.good <= actual.good && counted.bad <= actual.bad).toBe(true);
        if (!steps.some(({ kind }) => kind === "restart-node"))
          expect(counted).toEqual({ good: actual.good, bad: actual.bad, unknown: 0n });
        expect(
          alerts.filter(({ state, rule }) => state?.phase === "firing" && rule.severity === "critical"),
        ).toEqual([]);
        for (const name of new Set(sent.map(({ alert }) => alert))) {
          const kinds = sent.filter(({ alert }) => alert === name).map(({ kind }) => kind);
          expect(kinds).toEqual(kinds.map((_kind, index) => (index % 2 === 0 ? "firing" : "resolved")));
          expect(kinds.length % 2).toBe(0);
        }
        expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length);
      }),
      { numRuns: 20, seed: 20_261_121 },
    );
  }, 120_000);
});
