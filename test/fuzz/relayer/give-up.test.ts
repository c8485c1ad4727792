import { describe, expect, it } from "vitest";
import { missingTransactions } from "./simulate.ts";
import type { RemoteFault } from "./sim-remote.ts";
import { type SimWorld, startWorld } from "./sim-world.ts";

const GIVE_UP_MS = 20_000;

/** Runs a world without KV queries whose remote chain has this fault for a while, and afterwards has none. */
async function worldAfter(fault: RemoteFault, faultySeconds: number): Promise<SimWorld> {
  const world = await startWorld(3, 1, { giveUpAfterMs: GIVE_UP_MS });
  for (const { id, type } of world.local.registered()) if (type === "kv") world.local.remove(id);
  await world.run(10);
  world.remotes[0]?.set(fault, true);
  await world.run(faultySeconds);
  world.remotes[0]?.set(fault, false);
  world.setTraffic(false);
  await world.run(60);
  expect(world.local.violations()).toEqual([]);
  return world;
}

describe("transactions of blocks whose results cannot be read", () => {
  it.each([
    ["limits requests", 3 * (GIVE_UP_MS / 1_000)],
    ["discards results", GIVE_UP_MS / 2_000],
  ] as const)(
    "are delivered, and no dead letters, when that is over: an endpoint that %s for %i s",
    async (fault, seconds) => {
      const world = await worldAfter(fault, seconds);
      expect(missingTransactions(world)).toEqual([]);
      expect(world.journal.deadLetters().filter(({ hash }) => !world.unprovable.has(hash))).toEqual([]);
      expect(await world.stop()).toEqual([]);
    },
  );

  it("are dead letters after queries.tx_give_up_after, with the setting of the node that is to be changed", async () => {
    const world = await worldAfter("discards results", 3 * (GIVE_UP_MS / 1_000));
    const letters = world.journal.deadLetters().filter(({ hash }) => !world.unprovable.has(hash));
    expect(letters.length).toBeGreaterThan(0);
    for (const { reason } of letters) expect(reason).toContain("not persisting abci responses");
    expect(await world.stop()).toEqual([]);
  });
});
