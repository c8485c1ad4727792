import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { createLeadership } from "../../../src/relayer/gate/leadership.ts";
import type { LeaseAttempt } from "../../../src/platform/storage/lease.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const TTL_MS = 4_000;

const taken: LeaseAttempt = {
  acquired: false,
  holder: "other",
  name: "lease",
  isOwnName: true,
  expiresInMs: 1,
};

interface World {
  attempt: LeaseAttempt | Error;
  prepare: () => Promise<void>;
  /** What the process sees of the chain, ms. */
  sinceBlockMs: number | undefined;
  /** Since when its broadcasts fail, ms. */
  muteSinceMs: number | undefined;
  /** Time that the database takes. */
  acquireMs: number;
  acquisitions: number;
}

/** A leadership over a lease whose next attempts the test decides. */
function openLeadership(initial: Partial<World> = {}, hasLease = true) {
  const clock = createManualClock(0);
  const calls: string[] = [];
  const world: World = {
    attempt: { acquired: true, epoch: 1n },
    prepare: async () => {},
    sinceBlockMs: 500,
    muteSinceMs: undefined,
    acquireMs: 0,
    acquisitions: 0,
    ...initial,
  };
  const lease = {
    acquire: async () => {
      world.acquisitions += 1;
      if (world.acquireMs > 0) await clock.sleep(world.acquireMs, new AbortController().signal);
      if (world.attempt instanceof Error) throw world.attempt;
      return world.attempt;
    },
    fence: async () => {},
    release: async () => void calls.push("release"),
  };
  const leadership = createLeadership({
    lease: hasLease ? { lease, ttlMs: TTL_MS, holder: "me" } : undefined,
    prepare: async () => {
      calls.push("prepare");
      await world.prepare();
    },
    fitness: {
      sinceBlockMs: () => world.sinceBlockMs,
      blockMs: () => 1_000,
      muteMs: () => clock.monotonicMs() - (world.muteSinceMs ?? clock.monotonicMs()),
      beginTerm: () => {
        world.muteSinceMs = undefined;
      },
    },
    onLead: () => calls.push("lead"),
    onLoss: () => calls.push("loss"),
    clock,
    random: () => 0,
    logger: silentLogger,
  });
  const stop = new AbortController();
  const done = leadership.service.run(stop.signal);
  return { leadership, world, calls, clock, stop: () => (stop.abort(new Error("over")), done) };
}

describe("a leader that cannot lead", () => {
  it("gives the lease up when it has seen no block for two lifetimes, and takes it again when it sees them", async () => {
    const { leadership, world, calls, clock, stop } = openLeadership();
    await clock.advance(0);
    world.sinceBlockMs = 2 * TTL_MS;
    await clock.advance(TTL_MS);
    expect(leadership.leads()).toBe(true);
    world.sinceBlockMs = 2 * TTL_MS + 1;
    await clock.advance(TTL_MS / 4);
    expect(leadership.status()).toMatchObject({
      role: "standby",
      error: "it has not seen a local block for 8 s",
    });
    expect(calls).toEqual(["prepare", "lead", "loss", "release"]);
    const { acquisitions } = world;
    await clock.advance(10 * TTL_MS);
    expect(world.acquisitions).toBe(acquisitions);
    [world.sinceBlockMs, world.attempt] = [0, { acquired: true, epoch: 3n }];
    await clock.advance(TTL_MS / 4);
    expect(leadership.leads()).toBe(true);
    expect(calls.slice(4)).toEqual(["prepare", "lead"]);
    await stop();
  });

  it("gives it up when its transactions reach no node, and leaves it to others for a while", async () => {
    const { leadership, world, clock, stop } = openLeadership();
    await clock.advance(0);
    world.muteSinceMs = 0;
    await clock.advance(2 * TTL_MS);
    expect(leadership.leads()).toBe(true);
    await clock.advance(TTL_MS / 2);
    const error = "its transactions have not reached any node for 9 s";
    expect(leadership.status()).toMatchObject({ role: "standby", error });
    await clock.advance(5 * TTL_MS);
    expect(leadership.leads()).toBe(false);
    // Nobody has taken it: it tries again.
    await clock.advance(TTL_MS);
    expect(leadership.leads()).toBe(true);
    await stop();
  });

  it("keeps it although its transactions reached no node in an earlier term, however long nothing is sent in this one", async () => {
    const { leadership, world, clock, stop } = openLeadership({ attempt: taken });
    world.muteSinceMs = 0;
    await clock.advance(5 * TTL_MS);
    let ready = (): void => {};
    world.prepare = () =>
      new Promise((resolve) => {
        ready = resolve;
      });
    world.attempt = { acquired: true, epoch: 2n };
    await clock.advance(4 * TTL_MS);
    expect(leadership.status().role).toBe("starting");
    ready();
    await clock.advance(4 * TTL_MS);
    expect(leadership.leads()).toBe(true);
    await stop();
  });

  it("does not take the lease before it has seen a block, and needs none without a lease", async () => {
    const { leadership, world, clock, stop } = openLeadership({ sinceBlockMs: undefined });
    await clock.advance(4 * TTL_MS);
    expect([leadership.status().role, world.acquisitions]).toEqual(["standby", 0]);
    await stop();
    const only = openLeadership({ sinceBlockMs: 600_000, muteSinceMs: 0 }, false);
    await only.clock.advance(20 * TTL_MS);
    expect(only.leadership.leads()).toBe(true);
    await only.stop();
  });
});

describe("leadership", () => {
  it("prepares, leads, and renews before the lease expires", async () => {
    const { leadership, world, calls, clock, stop } = openLeadership();
    expect(leadership.leads()).toBe(false);
    await clock.advance(0);
    expect(leadership.leads()).toBe(true);
    await clock.advance(10 * TTL_MS);
    expect(leadership.leads()).toBe(true);
    expect(calls).toEqual(["prepare", "lead"]);
    expect(world.acquisitions).toBeGreaterThanOrEqual(20);
    expect(leadership.status()).toEqual({
      role: "leader",
      holder: "me",
      error: undefined,
      progress: undefined,
    });
    await stop();
  });

  it("follows while another process has the lease, and leads after it", async () => {
    const { leadership, world, calls, clock, stop } = openLeadership({ attempt: taken });
    await clock.advance(TTL_MS * 5);
    expect(leadership.status()).toEqual({
      role: "standby",
      holder: "other",
      error: undefined,
      progress: undefined,
    });
    expect(calls).toEqual([]);
    world.attempt = { acquired: true, epoch: 8n };
    await clock.advance(TTL_MS / 4);
    expect(leadership.leads()).toBe(true);
    expect(calls).toEqual(["prepare", "lead"]);
    await stop();
  });

  it("does not know who has the lease before it was read, and after it was not read for its lifetime", async () => {
    const { leadership, world, clock, stop } = openLeadership({ attempt: new Error("connection refused") });
    expect(leadership.status()).toEqual({
      role: "unknown",
      holder: undefined,
      error: undefined,
      progress: undefined,
    });
    await clock.advance(0);
    expect(leadership.status().error).toBe("cannot read the lease: connection refused");
    world.attempt = taken;
    await clock.advance(TTL_MS / 4);
    expect(leadership.status()).toEqual({
      role: "standby",
      holder: "other",
      error: undefined,
      progress: undefined,
    });
    world.attempt = new Error("connection refused");
    await clock.advance(TTL_MS - 1);
    expect(leadership.status().role).toBe("standby");
    await clock.advance(1);
    expect(leadership.status()).toMatchObject({
      role: "unknown",
      error: "cannot read the lease: connection refused",
    });
    world.attempt = taken;
    await clock.advance(TTL_MS / 4);
    expect(leadership.status().role).toBe("standby");
    await stop();
  });

  it("stops leading when the lease cannot be renewed for its lifetime, before it expires elsewhere", async () => {
    const { leadership, world, clock, stop } = openLeadership();
    await clock.advance(0);
    world.attempt = new Error("connection refused");
    await clock.advance(TTL_MS - 1);
    expect(leadership.leads()).toBe(true);
    await clock.advance(1);
    expect(leadership.leads()).toBe(false);
    expect(leadership.status()).toMatchObject({ role: "unknown", error: expect.stringContaining("refused") });
    // Nobody else had the lease, so everything that this process knows is still true.
    world.attempt = { acquired: true, epoch: 1n };
    await clock.advance(TTL_MS);
    expect(leadership.status()).toMatchObject({ role: "leader", error: undefined });
    await stop();
  });

  it("counts the lifetime of the lease from before its request: the database may begin to count then", async () => {
    const { leadership, world, clock, stop } = openLeadership({ acquireMs: 500 });
    await clock.advance(500);
    expect(leadership.leads()).toBe(true);
    world.attempt = new Error("connection refused");
    await clock.advance(TTL_MS - 501);
    expect(leadership.leads()).toBe(true);
    await clock.advance(1);
    expect(leadership.leads()).toBe(false);
    await stop();
  });

  it("gives the lease up on request, and does not lead from then on", async () => {
    const { leadership, calls, clock, stop } = openLeadership();
    await clock.advance(0);
    await stop();
    const released = leadership.release();
    expect(leadership.leads()).toBe(false);
    await released;
    expect(calls).toEqual(["prepare", "lead", "release"]);
  });

  it("stops at once when another process has the lease, and prepares again before it leads again", async () => {
    const { leadership, world, calls, clock, stop } = openLeadership();
    await clock.advance(0);
    world.attempt = taken;
    await clock.advance(TTL_MS / 4);
    expect(leadership.leads()).toBe(false);
    world.attempt = { acquired: true, epoch: 3n };
    await clock.advance(TTL_MS / 4);
    expect(leadership.leads()).toBe(true);
    expect(calls).toEqual(["prepare", "lead", "loss", "prepare", "lead"]);
    await stop();
  });

  it("does not lead when the lease was lost during the preparation", async () => {
    const { leadership, world, calls, clock, stop } = openLeadership();
    let ready = (): void => {};
    world.prepare = () =>
      new Promise((resolve) => {
        ready = resolve;
      });
    await clock.advance(0);
    expect(leadership.status().role).toBe("starting");
    world.attempt = taken;
    await clock.advance(TTL_MS);
    ready();
    await clock.advance(0);
    expect(leadership.leads()).toBe(false);
    expect(calls).toEqual(["prepare", "loss"]);
    await stop();
  });

  it("tries the preparation again after an error, and says which", async () => {
    const { leadership, world, clock, stop } = openLeadership(
      {
        prepare: async () => {
          throw new Error("the chain is away");
        },
      },
      false,
    );
    await clock.advance(0);
    expect(leadership.status()).toEqual({
      role: "starting",
      holder: undefined,
      error: "the chain is away",
    });
    world.prepare = async () => {};
    await clock.advance(20_000);
    expect(leadership.status()).toEqual({
      role: "leader",
      holder: undefined,
      error: undefined,
      progress: undefined,
    });
    await stop();
  });

  it("names an instance with another signer that serves the same connection", async () => {
    const attempt = { ...taken, isOwnName: false, name: "local-1/neutron1other" };
    const { leadership, clock, stop } = openLeadership({ attempt });
    await clock.advance(0);
    expect(leadership.status().error).toBe(
      "another instance with a different signer serves one of this process's connections: it has the lease local-1/neutron1other",
    );
    await stop();
  });
});
