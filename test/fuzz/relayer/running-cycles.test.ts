import { describe, expect, it } from "vitest";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import type { SimRemote } from "./sim-remote.ts";
import { type SimWorld, startWorld } from "./sim-world.ts";
import { stale } from "./simulate.ts";

/** A world whose cycles take longer than a block, so that each one starts while the one before it reads. */
async function distantWorld(): Promise<{ readonly world: SimWorld; readonly remote: SimRemote }> {
  const world = await startWorld(28, 1, { callMs: { local: 100, remote: 600 } });
  world.setTraffic(false);
  await world.run(20);
  const [remote] = world.remotes;
  if (remote === undefined) throw new Error("no remote chain");
  return { world, remote };
}

const down = (): ClientError =>
  new ClientError({ code: "unreachable", endpoint: "sim", reason: "down" }, "sim is unreachable");

const errorOf = ({ engine }: SimWorld): string | undefined => engine.workerErrors().get("connection-0");

describe("a cycle that fails while the next one reads", () => {
  it("is the error of the connection, which backs off, and its queries are read again", async () => {
    const { world, remote } = await distantWorld();
    let reads = 0;
    remote.beforeLightBlock = async () => {
      reads += 1;
      throw down();
    };
    await world.run(10);
    expect(errorOf(world)).toBe("sim is unreachable");
    expect(world.log.filter(({ message }) => message === "cycle failed")).toHaveLength(1);
    // Each try reads a block and a trusted one. Without backoff it would be tried in each block, and after each end of a cycle.
    expect(reads).toBeLessThanOrEqual(20);
    remote.beforeLightBlock = async () => {};
    await world.run(10);
    expect(errorOf(world)).toBeUndefined();
    expect(world.log.filter(({ message }) => message === "connection has recovered")).toHaveLength(1);
    expect(stale(world)).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });

  it("counts once when the next one fails for the same reason, after the pause too", async () => {
    const { world, remote } = await distantWorld();
    const starts: number[] = [];
    // Each cycle reads a block and a trusted one at the same time.
    remote.beforeLightBlock = async (signal) => {
      const nowMs = world.clock.nowMs();
      if (starts.at(-1) !== nowMs) starts.push(nowMs);
      const cycle = starts.length;
      if (cycle > 2) return;
      // The first one fails when the second one has started, and that one after the longest first pause.
      while (starts.length < 2) await world.clock.sleep(50, signal);
      if (cycle === 2) await world.clock.sleep(600, signal);
      throw down();
    };
    await world.run(20);
    const recovered = world.log.filter(({ message }) => message === "connection has recovered");
    expect(recovered.map(({ fields }) => fields["failures"])).toEqual([1]);
    expect(await world.stop()).toEqual([]);
  });
});

describe("a cycle that reads for longer than the one behind it", () => {
  it("comes first: no result is superseded, and no block without results costs more than the wait", async () => {
    const { world, remote } = await distantWorld();
    const before = world.attempts.length;
    let waits = 1;
    remote.beforeLightBlock = async (signal) => {
      if (waits-- > 0) await world.clock.sleep(3_000, signal);
    };
    await world.run(15);
    const outcomes = new Set(
      world.attempts.slice(before).flatMap(({ queryId, outcome }) => (queryId <= 16n ? [outcome] : [])),
    );
    expect(outcomes).toEqual(new Set(["included"]));
    expect(stale(world)).toEqual([]);
    expect(await world.stop()).toEqual([]);
  });
});

describe("cycles that read when the local chain is reset", () => {
  it("end, and neither sends its results, not even one that only waits for the other", async () => {
    const { world, remote } = await distantWorld();
    const reading = new Set<AbortSignal>();
    let waits = 1;
    remote.beforeLightBlock = async (signal) => {
      reading.add(signal);
      if (waits-- > 0) await world.clock.sleep(30_000, signal);
    };
    const proven = () => world.metrics.getSingleMetricAsString("relaywatch_relayer_results_proven_total");
    await world.run(1);
    const before = await proven();
    await world.run(8);
    expect(await proven()).toEqual(before);
    expect([...reading].map(({ aborted }) => aborted)).toEqual([false]);
    world.registry.reset();
    expect([...reading].map(({ aborted }) => aborted)).toEqual([true]);
    await world.run(1);
    expect(await proven()).toEqual(before);
    expect(errorOf(world)).toBeUndefined();
    expect(await world.stop()).toEqual([]);
  });
});

describe("the backoff of a connection", () => {
  it("counts no errors from before the local chain was reset", async () => {
    const world = await startWorld(14, 1);
    await world.run(5);
    world.remotes[0]?.set("down", true);
    const failures = (): readonly unknown[] =>
      world.log.flatMap(({ message, fields }) =>
        message === "cycle failed" && fields["type"] === "kv" ? [fields["failures"]] : [],
      );
    // Only the first error of a kind is a warning.
    await world.run(40);
    expect(failures()).toEqual([0]);
    world.registry.reset();
    await world.run(60);
    expect(failures()).toEqual([0, 0]);
    await world.stop();
  });
});
