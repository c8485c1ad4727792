import { describe, expect, it } from "vitest";
import { createGate } from "../../../src/relayer/gate/create-gate.ts";
import type { LeadershipStatus } from "../../../src/relayer/gate/leadership.ts";
import { createReserve, createSpending, type SpendingLimits } from "../../../src/relayer/gate/spending.ts";
import type { RelayerStore } from "../../../src/relayer/state/store.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { openTestStore } from "../../support/relayer-store.ts";

const SIGNAL = new AbortController().signal;
const DAY_MS = 86_400_000;

interface World {
  role: LeadershipStatus["role"];
  balance: bigint | Error;
  /** By so much the chain's time differs. */
  stepMs: number;
}

async function openGateTest(
  limits: Partial<SpendingLimits> & { readonly reserve?: bigint } = {},
  given: { readonly store?: RelayerStore; readonly clock?: ManualClock } = {},
) {
  const clock = given.clock ?? createManualClock(10 * DAY_MS);
  const store = given.store ?? (await openTestStore(undefined));
  const world: World = { role: "leader", balance: 1_000n, stepMs: 0 };
  const all = { dailyFee: undefined, dailyGasPerOwner: undefined, ...limits };
  const spending = createSpending(all, {
    payer: "payer",
    chainId: "local-1",
    store,
    localTimeMs: () => clock.nowMs() + world.stepMs,
    clock,
  });
  await spending.load();
  let reads = 0;
  const gate = createGate({
    leadership: {
      leads: () => world.role === "leader",
      status: () => ({ role: world.role, holder: "other-host/7", error: undefined, progress: undefined }),
    },
    spending,
    limits: all,
    reserve: createReserve(limits.reserve ?? 0n, {
      clock,
      readBalance: async () => {
        reads += 1;
        if (world.balance instanceof Error) throw world.balance;
        return world.balance;
      },
    }),
    store,
    clock,
  });
  const admit = (
    fee: bigint,
    gas: Readonly<Record<string, bigint>> = { alice: 100n },
    feeByRule?: Readonly<Record<string, bigint>>,
  ) => {
    const gasByOwner = new Map(Object.entries(gas));
    const total = [...gasByOwner.values()].reduce((a, b) => a + b, 0n);
    const urgent = feeByRule === undefined ? {} : { feeByRule: new Map(Object.entries(feeByRule)) };
    return gate.admit({ fee, gas: total, gasByOwner, ...urgent }, SIGNAL);
  };
  return { gate, admit, world, clock, store, spending, reads: () => reads };
}

describe("the gate", () => {
  it("admits without limits and reads no balance", async () => {
    const { gate, admit, reads } = await openGateTest();
    expect(await admit(5n)).toMatchObject({ admitted: true });
    expect(reads()).toBe(0);
    expect(gate.status()).toMatchObject({
      refusal: undefined,
      spending: { fee: 5n, gasByOwner: new Map([["alice", 100n]]) },
      store: { kind: "memory", pendingWrites: 0, droppedWrites: 0, error: undefined },
    });
  });

  it("keeps a day's fees when the time goes over midnight and back, and over a restart meanwhile", async () => {
    const { admit, world, clock, store, gate } = await openGateTest({ dailyFee: 10n });
    await admit(8n);
    world.stepMs = DAY_MS;
    expect(await admit(9n)).toMatchObject({ admitted: true });
    world.stepMs = 0;
    expect(await admit(3n)).toMatchObject({ admitted: false });
    expect(gate.status().spending.fee).toBe(8n);
    const next = await openGateTest({ dailyFee: 10n }, { store, clock });
    next.world.stepMs = DAY_MS;
    expect(await next.admit(2n)).toMatchObject({ admitted: false });
    next.world.stepMs = 0;
    expect(await next.admit(3n)).toMatchObject({ admitted: false });
    expect(await next.admit(2n)).toMatchObject({ admitted: true });
  });

  it("adds up the fees of the last day, without those that nobody paid", async () => {
    const { gate, admit, clock } = await openGateTest();
    const lastDay = () => gate.status().spending.lastDay;
    expect(lastDay()).toEqual({ fee: 0n, ms: 600_000 });
    await admit(5n);
    const free = await admit(7n);
    if (free.admitted) free.release();
    await clock.advance(DAY_MS / 2);
    await admit(11n);
    expect(lastDay()).toEqual({ fee: 16n, ms: DAY_MS / 2 });
    await clock.advance(DAY_MS / 2 + 60_000);
    expect(lastDay()).toEqual({ fee: 11n, ms: DAY_MS });
    await clock.advance(DAY_MS);
    expect(lastDay()).toEqual({ fee: 0n, ms: DAY_MS });
  });

  it("refuses a standby at once, and names the process that has the lease", async () => {
    const { gate, admit, world, reads } = await openGateTest({ reserve: 1n });
    world.role = "standby";
    const refused = { admitted: false, reason: "this process is a standby: other-host/7 has the lease" };
    expect(await admit(5n)).toEqual(refused);
    expect(gate.status().refusal).toBe(refused.reason);
    expect(gate.status().spending.fee).toBe(0n);
    expect(reads()).toBe(0);
  });

  it("shows a refusal no longer than its cause lasts, also when nothing is due after it", async () => {
    const { gate, admit, world, clock, store } = await openGateTest({ dailyFee: 10n, reserve: 1n });
    world.role = "unknown";
    await admit(5n);
    expect(gate.status().refusal).toMatch(/^unknown which process submits/);
    world.role = "leader";
    expect(gate.status().refusal).toBeUndefined();
    let isFull = true;
    store.queue.push(async () => {
      if (isFull) throw new Error("database or disk is full");
    });
    const refused = admit(5n);
    await clock.advance(2_000);
    await refused;
    expect(gate.status().refusal).toMatch(/^the store is too slow/);
    isFull = false;
    await clock.advance(2_000);
    await store.queue.flushed(SIGNAL);
    expect(gate.status().refusal).toBeUndefined();
    await admit(5n);
    await admit(6n);
    expect(gate.status().refusal).toMatch(/^spending.daily_fee is used up/);
    await clock.advance(DAY_MS);
    expect(gate.status().refusal).toBeUndefined();
  });

  it("refuses while nobody knows which process has the lease", async () => {
    const { admit, world } = await openGateTest();
    world.role = "unknown";
    const reason = "unknown which process submits: the lease has not been read yet";
    expect(await admit(5n)).toEqual({ admitted: false, reason });
  });

  it("refuses while this process reads what the one before it did", async () => {
    const { admit, world } = await openGateTest();
    world.role = "starting";
    expect(await admit(5n)).toEqual({
      admitted: false,
      reason: "this process does not submit yet: it is reading the previous process's transactions",
    });
  });

  it("refuses when the lease was lost while the store was writing, and counts nothing", async () => {
    const { admit, world, gate, store } = await openGateTest();
    store.queue.push(async () => {
      world.role = "standby";
    });
    expect(await admit(5n)).toMatchObject({ admitted: false });
    expect(gate.status().spending.fee).toBe(0n);
  });

  it("admits only after all earlier writes are durable", async () => {
    const { admit, store } = await openGateTest();
    const order: string[] = [];
    store.queue.push(async () => void order.push("written"));
    await admit(5n);
    order.push("admitted");
    expect(order).toEqual(["written", "admitted"]);
  });

  it("refuses while the store cannot write, says why, and admits when it can", async () => {
    const { admit, clock, store, gate } = await openGateTest();
    let isFull = true;
    store.queue.push(async () => {
      if (isFull) throw new Error("database or disk is full");
    });
    const refused = admit(5n);
    await clock.advance(2_000);
    expect(await refused).toEqual({
      admitted: false,
      reason: "the store is too slow or not writable: database or disk is full",
    });
    expect(gate.status()).toMatchObject({
      store: { error: "database or disk is full" },
      spending: { fee: 0n },
    });
    isFull = false;
    await store.queue.flushed(SIGNAL);
    expect(await admit(5n)).toMatchObject({ admitted: true });
    expect(gate.status().store).toMatchObject({ error: undefined, pendingWrites: 0 });
  });

  it("keeps to the daily fee, over a restart too, until the next day", async () => {
    const first = await openGateTest({ dailyFee: 10n });
    expect(await first.admit(7n)).toMatchObject({ admitted: true });
    const second = await openGateTest({ dailyFee: 10n }, { store: first.store, clock: first.clock });
    const refused = await second.admit(4n);
    expect(refused).toEqual({
      admitted: false,
      reason: "spending.daily_fee is used up: 7 of 10 were spent today (UTC), and the transaction costs 4",
    });
    expect(await second.admit(3n)).toMatchObject({ admitted: true });
    await first.clock.advance(DAY_MS);
    expect(await second.admit(10n)).toMatchObject({ admitted: true });
  });

  it("takes back what a refused transaction did not cost, once", async () => {
    const { admit, gate, store, clock } = await openGateTest({ dailyFee: 10n });
    const admission = await admit(7n);
    if (!admission.admitted) throw new Error("not admitted");
    admission.release();
    admission.release();
    expect(gate.status().spending).toMatchObject({ fee: 0n, gasByOwner: new Map([["alice", 0n]]) });
    await store.queue.flushed(SIGNAL);
    const second = await openGateTest({ dailyFee: 10n }, { store, clock });
    expect(second.gate.status().spending).toMatchObject({ fee: 0n, gasByOwner: new Map([["alice", 0n]]) });
    expect(await admit(10n)).toMatchObject({ admitted: true });
  });

  it("counts no other day, and forgets days after eight", async () => {
    const { admit, store, clock } = await openGateTest();
    const days = async (): Promise<readonly unknown[]> => {
      await store.queue.flushed(SIGNAL);
      const rows = await store.session.run("SELECT DISTINCT day FROM spending ORDER BY day", []);
      return rows.map(({ day }) => Number(day));
    };
    await admit(7n);
    const yesterday = await openGateTest({}, { store, clock: createManualClock(9 * DAY_MS) });
    expect(yesterday.gate.status().spending.fee).toBe(0n);
    await clock.advance(8 * DAY_MS);
    const later = await openGateTest({}, { store, clock });
    expect(later.gate.status().spending.fee).toBe(0n);
    await later.admit(1n);
    expect(await days()).toEqual([10, 18]);
    await clock.advance(DAY_MS);
    await later.admit(1n);
    expect(await days()).toEqual([18, 19]);
  });

  it("names the owners whose gas of the day is used up, and admits the others", async () => {
    const first = await openGateTest({ dailyGasPerOwner: 250n });
    await first.admit(1n, { alice: 200n, bob: 10n });
    const second = await openGateTest({ dailyGasPerOwner: 250n }, { store: first.store, clock: first.clock });
    expect(await second.admit(1n, { alice: 100n, bob: 10n })).toEqual({
      admitted: false,
      owners: ["alice"],
      reason: "spending.daily_gas_per_owner of 250 is used up for today (UTC): alice used 200",
    });
    expect(await second.admit(1n, { bob: 240n })).toMatchObject({ admitted: true });
    expect(await second.admit(1n, { bob: 1n })).toMatchObject({ owners: ["bob"] });
  });

  it("counts urgent results for the budget of their rule alone, over a restart too, until the next day", async () => {
    const limits = { dailyFee: 100n, dailyFeeByRule: new Map([["vault", 50n]]) };
    const first = await openGateTest(limits);
    expect(await first.admit(90n, {}, { vault: 30n })).toMatchObject({ admitted: true });
    expect(first.gate.status().spending).toMatchObject({ fee: 90n, feeByRule: new Map([["vault", 30n]]) });
    const second = await openGateTest(limits, { store: first.store, clock: first.clock });
    expect(await second.admit(21n, {}, { vault: 21n })).toEqual({
      admitted: false,
      rules: ["vault"],
      reason: "urgency: daily_fee of vault is used up for today (UTC)",
    });
    // All others are sent, so this is no reason why nothing is.
    expect(second.gate.status().refusal).toBeUndefined();
    expect(await second.admit(60n, {}, { vault: 20n })).toMatchObject({ admitted: true });
    expect(await second.admit(1n)).toMatchObject({
      reason: expect.stringContaining("100 of 100 were spent"),
    });
    await first.clock.advance(DAY_MS);
    const taken = await second.admit(50n, {}, { vault: 50n });
    expect(await second.admit(1n, {}, { vault: 1n })).toMatchObject({ rules: ["vault"] });
    if (taken.admitted) taken.release();
    expect(await second.admit(1n, {}, { vault: 1n })).toMatchObject({ admitted: true });
    expect(second.gate.status().spending.feeByRule).toEqual(new Map([["vault", 1n]]));
  });

  it("keeps the reserve, and pays again when somebody sends coins", async () => {
    const { admit, world, clock, reads, gate } = await openGateTest({ reserve: 990n });
    expect(await admit(6n)).toMatchObject({ admitted: true });
    expect(await admit(6n)).toEqual({
      admitted: false,
      reason: "balance 994 minus fee 6 is below spending.reserve 990; send coins to the account",
    });
    expect(gate.status().reserve).toEqual({ reserve: 990n, balance: 994n, readAtMs: 10 * DAY_MS });
    expect(await admit(4n)).toMatchObject({ admitted: true });
    world.balance = 2_000n;
    await clock.advance(5_000);
    expect(await admit(6n)).toMatchObject({ admitted: true });
    expect(reads()).toBe(2);
  });

  it("reads the balance again after half a minute: somebody else may have spent it", async () => {
    const { admit, world, clock, reads } = await openGateTest({ reserve: 100n });
    expect(await admit(1n)).toMatchObject({ admitted: true });
    world.balance = 50n;
    await clock.advance(30_000);
    expect(await admit(1n)).toMatchObject({ admitted: true });
    expect(reads()).toBe(1);
    await clock.advance(1);
    expect(await admit(1n)).toMatchObject({ admitted: false });
    expect(reads()).toBe(2);
  });

  it("pays nothing above a reserve while the balance is unknown, or has been for long", async () => {
    const { admit, world, clock } = await openGateTest({ reserve: 1n });
    world.balance = new Error("no endpoint");
    expect(await admit(1n)).toMatchObject({
      admitted: false,
      reason: "cannot check spending.reserve, because the balance is unknown: no endpoint",
    });
    world.balance = 100n;
    await clock.advance(5_000);
    expect(await admit(1n)).toMatchObject({ admitted: true });
    world.balance = new Error("no endpoint");
    await clock.advance(200_000);
    expect(await admit(1n)).toMatchObject({ admitted: true });
    await clock.advance(200_000);
    expect(await admit(1n)).toMatchObject({ admitted: false });
  });
});
