import { describe, expect, it } from "vitest";
import { isRefreshDue } from "../../../src/relayer/connection/client-refresh.ts";
import { sampleReading } from "../../relayer/status-samples.ts";
import { type SimWorld, startWorld } from "./sim-world.ts";
import { missingTransactions, stale } from "./simulate.ts";

const consensusAge = (world: SimWorld, index: number): number => {
  const { reading } = world.status().connections[index]?.client ?? {};
  return (world.clock.nowMs() - (reading?.consensusTimeMs ?? 0)) / 1_000;
};

describe("the refresh of a light client", () => {
  it("is due after two thirds of the trusting period, while the client is active", () => {
    const reading = sampleReading({ consensusTimeMs: 0, expiresAtMs: 300 });
    expect([199, 200, 299, 300].map((nowMs) => isRefreshDue(reading, nowMs))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(isRefreshDue({ ...reading, status: "Frozen" }, 250)).toBe(false);
    expect(isRefreshDue(undefined, 250)).toBe(false);
  });

  it("happens in time although nothing is due, and only then", async () => {
    const world = await startWorld(31, 1);
    world.setTraffic(false);
    for (const { id } of world.local.registered()) world.local.remove(id);
    world.local.set("short-trust", true);
    await world.run(190);
    expect(world.local.node.transactions()).toBe(0);
    await world.run(50);
    expect(world.local.node.transactions()).toBe(1);
    expect(consensusAge(world, 0)).toBeLessThan(60);
    await world.run(200);
    expect(world.local.node.transactions()).toBe(2);
    expect(world.status().problems).toEqual([]);
    expect(world.local.violations()).toEqual([]);
    await world.stop();
  });

  it("of one connection does not need the other connection to rest", async () => {
    const world = await startWorld(32, 2);
    for (const { id, connectionId } of world.local.registered())
      if (connectionId === "connection-1") world.local.remove(id);
    world.local.set("short-trust", true);
    await world.run(250);
    expect(consensusAge(world, 1)).toBeLessThan(70);
    expect(world.log.filter(({ message }) => message.startsWith("light client refreshed"))).toHaveLength(1);
    expect(world.local.violations()).toEqual([]);
    await world.stop();
  });

  it("is tried again while it fails, with one try a minute", async () => {
    const world = await startWorld(33, 1);
    for (const { id } of world.local.registered()) world.local.remove(id);
    world.local.set("short-trust", true);
    await world.run(190);
    world.remotes[0]?.set("down", true);
    await world.run(60);
    const failures = world.log.filter(({ message }) => message === "light client could not be refreshed");
    expect(failures.length).toBeGreaterThan(0);
    expect(failures.length).toBeLessThan(3);
    world.remotes[0]?.set("down", false);
    await world.run(70);
    expect(world.local.node.transactions()).toBe(1);
    await world.stop();
  });
});

describe("when the remote validators change", () => {
  const rotate = (world: SimWorld, isOn: boolean): void => world.remotes[0]?.set("rotates validators", isOn);
  const headersOnTheWay = (world: SimWorld): number =>
    world.log.filter(({ message }) => message.startsWith("client updated through intermediate headers"))
      .length;

  it("a refresh updates the client through the headers on the way, in parts when there are many", async () => {
    const world = await startWorld(34, 1);
    world.setTraffic(false);
    for (const { id } of world.local.registered()) world.local.remove(id);
    world.local.set("short-trust", true);
    rotate(world, true);
    await world.run(30);
    rotate(world, false);
    await world.run(220);
    expect(consensusAge(world, 0)).toBeLessThan(90);
    expect(world.log.map(({ message }) => message)).not.toContain("light client could not be refreshed");
    rotate(world, true);
    await world.run(400);
    rotate(world, false);
    await world.run(1);
    expect(world.status().problems).toEqual([]);
    expect(world.local.violations()).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });

  it("while the remote chain cannot be reached, results flow again afterwards", async () => {
    const world = await startWorld(35, 1);
    await world.run(20);
    world.remotes[0]?.set("down", true);
    rotate(world, true);
    await world.run(30);
    world.remotes[0]?.set("down", false);
    rotate(world, false);
    await world.run(25);
    // What was sent in the last blocks is still on its way.
    world.setTraffic(false);
    await world.run(15);
    expect(headersOnTheWay(world)).toBeGreaterThan(0);
    expect(stale(world)).toEqual([]);
    expect(missingTransactions(world)).toEqual([]);
    expect(world.engine.workerErrors().get("connection-0")).toBeUndefined();
    expect(world.local.violations()).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });

  it("over more blocks than one path has headers, results flow again after a few cycles", async () => {
    const world = await startWorld(36, 1);
    await world.run(20);
    world.remotes[0]?.set("down", true);
    rotate(world, true);
    await world.run(90);
    world.remotes[0]?.set("down", false);
    rotate(world, false);
    await world.run(105);
    // What was sent in the last blocks is still on its way.
    world.setTraffic(false);
    await world.run(15);
    expect(headersOnTheWay(world)).toBeGreaterThan(2);
    expect(stale(world)).toEqual([]);
    expect(missingTransactions(world)).toEqual([]);
    expect(world.local.violations()).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });

  it("and the updates take long, no value is sent that was read before them", async () => {
    const world = await startWorld(39, 1);
    await world.run(20);
    world.remotes[0]?.set("down", true);
    rotate(world, true);
    await world.run(30);
    world.remotes[0]?.set("down", false);
    rotate(world, false);
    // The relayer uses this window. Nothing is final for it.
    const { window } = world.local;
    const { confirm } = window;
    Object.assign(window, { confirm: async () => [] });
    let known = world.attempts.length;
    const ages: number[] = [];
    const noteAges = (): void => {
      for (const { type, outcome, remoteHeight } of world.attempts.slice(known))
        if (type === "kv" && outcome === "included")
          ages.push(Number((world.remotes[0]?.height() ?? 0n) - remoteHeight));
      known = world.attempts.length;
    };
    await world.run(20, noteAges);
    expect(ages).toEqual([]);
    Object.assign(window, { confirm });
    await world.run(20, noteAges);
    expect(headersOnTheWay(world)).toBeGreaterThan(0);
    expect(ages.length).toBeGreaterThan(10);
    expect(Math.max(...ages)).toBeLessThan(12);
    expect(stale(world)).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });

  it("and the local node refuses the updates, they are sent again", async () => {
    const world = await startWorld(37, 1);
    await world.run(20);
    world.remotes[0]?.set("down", true);
    rotate(world, true);
    await world.run(30);
    rotate(world, false);
    world.remotes[0]?.set("down", false);
    world.local.set("refuses-some", true);
    await world.run(20);
    world.local.set("refuses-some", false);
    await world.run(60);
    expect(stale(world)).toEqual([]);
    expect(world.local.violations()).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });
});
