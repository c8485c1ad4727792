import { describe, expect, it } from "vitest";
import { startWorld } from "./sim-world.ts";

/** Longest call of one step: to the remote chain. */
const STEP_MS = 15;
const SIMULATION_MS = 10;

describe("a cycle", () => {
  it("simulates after two steps of reads, for any number of due queries", async () => {
    const world = await startWorld(3, 1);
    world.setTraffic(false);
    await world.run(20);
    const simulatedMs: number[] = [];
    const blocksMs: number[] = [];
    const { simulate } = world.local.window;
    // The worker uses this sender object.
    Object.assign(world.local.window, {
      simulate: (...request: Parameters<typeof simulate>) => {
        simulatedMs.push(world.clock.nowMs());
        return simulate(...request);
      },
    });
    const { tick } = world.local;
    Object.assign(world.local, {
      tick: () => {
        blocksMs.push(world.clock.nowMs());
        tick();
      },
    });
    await world.run(10);
    const delays = blocksMs.slice(0, -1).map((blockMs) => {
      const first = simulatedMs.find((ms) => ms >= blockMs) ?? Number.NaN;
      return first - blockMs;
    });
    expect(delays).toHaveLength(9);
    // The next cycle starts with the block that includes the results of the last one.
    for (const delay of delays) expect(delay).toBeLessThanOrEqual(2 * STEP_MS + SIMULATION_MS);
    expect(await world.stop()).toEqual([]);
  });
});
