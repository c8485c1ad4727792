import { describe, expect, it } from "vitest";
import { startWorld } from "./sim-world.ts";

/** Longest of what a round reads in one step, ms: a call to the remote chain. */
const STEP_MS = 15;
const SIMULATION_MS = 10;

describe("a round", () => {
  it("simulates after two steps of reading, however many queries are due", async () => {
    const world = await startWorld(3, 1);
    world.setTraffic(false);
    await world.run(20);
    const simulatedMs: number[] = [];
    const blocksMs: number[] = [];
    const { simulate } = world.local.sender;
    // The worker holds this very sender, so what is watched here is what it calls.
    Object.assign(world.local.sender, {
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
    // One call tells the inclusion of the round before, which began with the block.
    for (const delay of delays) expect(delay).toBeLessThanOrEqual(2 * STEP_MS + SIMULATION_MS);
    expect(await world.stop()).toEqual([]);
  });
});
