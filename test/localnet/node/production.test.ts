import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { createProduction, type ProductionDeps } from "../../../src/localnet/node/consensus/production.ts";
import { NodeError } from "../../../src/localnet/node/base/errors.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { producedBlock } from "../../support/produced-block.ts";

/** Starts a production over an engine that makes the same block each time, or throws the next element of `errors`. */
async function setUp(overrides: Partial<ProductionDeps> = {}) {
  const clock = createManualClock(1_700_000_000_000);
  const errors: unknown[] = [];
  let made = 0;
  const production = createProduction(1000, {
    engine: {
      produce: function* () {
        const [error] = errors.splice(0, 1);
        if (error !== undefined) throw error;
        yield;
        return producedBlock(1n);
      },
    },
    clock,
    logger: silentLogger,
    beforeBlock: () => Promise.resolve(),
    pause: () => Promise.resolve(),
    onBlock: () => {
      made += 1;
    },
    ...overrides,
  });
  const stop = new AbortController();
  const done = production.run(stop.signal);
  done.catch(() => {});
  await clock.advance(0);
  return { production, clock, errors, stop, done, made: () => made };
}

describe("block production", () => {
  it("makes a block immediately, then one per block time", async () => {
    const { clock, made } = await setUp();
    expect(made()).toBe(1);
    await clock.advance(999);
    expect(made()).toBe(1);
    await clock.advance(1);
    expect(made()).toBe(2);
  });

  it.each([
    { takesMs: 300, pauseMs: 700, what: "the rest of the block time" },
    { takesMs: 749, pauseMs: 251, what: "the rest of the block time" },
    { takesMs: 900, pauseMs: 250, what: "a quarter of the block time" },
    { takesMs: 5_000, pauseMs: 250, what: "a quarter of the block time" },
  ])("pauses $what after a block that took $takesMs ms", async ({ takesMs, pauseMs }) => {
    let go = (): void => expect.unreachable("no block was made");
    const { clock, made } = await setUp({
      pause: () =>
        new Promise((resolve) => {
          go = resolve;
        }),
    });
    const finish = async (): Promise<void> => {
      for (let steps = 0; steps < 3; steps++) {
        go();
        await clock.advance(0);
      }
    };
    await clock.advance(takesMs);
    await finish();
    expect(made()).toBe(1);
    await clock.advance(pauseMs - 1);
    await finish();
    expect(made()).toBe(1);
    await clock.advance(1);
    await finish();
    expect(made()).toBe(2);
  });

  it("makes only manual blocks while halted, and a block immediately after resume", async () => {
    const { clock, production, made } = await setUp();
    production.halt();
    for (let second = 0; second < 5; second++) await clock.advance(1000);
    expect(made()).toBe(1);
    production.produceNow();
    expect(made()).toBe(2);
    expect(production.isHalted()).toBe(true);
    production.resume();
    await clock.advance(0);
    expect(made()).toBe(3);
  });

  it("runs beforeBlock first, and makes no block when halted during it", async () => {
    let go = (): void => expect.unreachable("beforeBlock was not called");
    const { production, made, clock } = await setUp({
      beforeBlock: () =>
        new Promise((resolve) => {
          go = resolve;
        }),
    });
    expect(made()).toBe(0);
    production.halt();
    go();
    await clock.advance(0);
    expect(made()).toBe(0);
  });

  it("retries without a quorum, and rejects with any other error", async () => {
    const { clock, errors, made, done } = await setUp();
    errors.push(new NodeError({ code: "no-quorum", height: 2n }, "no quorum"));
    await clock.advance(1000);
    expect(made()).toBe(1);
    await clock.advance(1000);
    expect(made()).toBe(2);
    errors.push(new Error("disk full"));
    await clock.advance(1000);
    await expect(done).rejects.toThrow("disk full");
  });

  it.each([
    ["while it waits for resume", 1000],
    ["in the pause before it notices the halt", 0],
  ])("rejects when a manual block fails on a halted chain, %s", async (_name, waitMs) => {
    const { clock, errors, production, done } = await setUp();
    production.halt();
    await clock.advance(waitMs);
    errors.push(new Error("disk full"));
    expect(() => production.produceNow()).toThrow("disk full");
    await clock.advance(1000);
    await expect(done).rejects.toThrow("disk full");
  });

  it.each([false, true])("stops with the signal, halted: %s", async (halted) => {
    const { production, stop, done, clock } = await setUp();
    if (halted) production.halt();
    await clock.advance(1000);
    stop.abort(new Error("stopped"));
    await expect(done).rejects.toThrow("stopped");
    expect(clock.sleeping()).toBe(0);
  });
});
