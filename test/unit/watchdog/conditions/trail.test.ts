import { expect, it } from "vitest";
import { alertsSchema } from "../../../../src/watchdog/conditions/alerts-config.ts";
import { judgeAll } from "../../../../src/watchdog/conditions/conditions.ts";
import { advanceTrail, EMPTY_TRAIL } from "../../../../src/watchdog/conditions/trail.ts";
import { healthyFrame, START_MS } from "../../../support/watchdog/frames.ts";

const { rules, majorPairs } = alertsSchema.parse({});

it("no condition is active at the first poll after an hour without polls", () => {
  let trail = EMPTY_TRAIL;
  for (const afterMs of [0, 10_000, 20_000, 3_600_000]) {
    const frame = healthyFrame(START_MS + afterMs);
    trail = advanceTrail(trail, frame.observation, 60_000);
    const active = [...judgeAll(rules, { ...frame, trail, majorPairs })].filter(
      ([, { kind }]) => kind === "active",
    );
    expect([afterMs, active]).toEqual([afterMs, []]);
  }
});
