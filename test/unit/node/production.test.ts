import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/base/logger.ts";
import { createProduction, type ProductionDeps } from "../../../src/node/consensus/production.ts";
import { NodeError } from "../../../src/node/errors.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { producedBlock } from "../../support/produced-block.ts";

/** Production over an engine that always makes the same block, or throws what stands in `errors`. */
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
  it("makes a block at once, then one every block time", async () => {
    const { clock, made } = await setUp();
    expect(made()).toBe(1);
    await clock.advance(999);
    expect(made()).toBe(1);
    await clock.advance(1);
    expect(made()).toBe(2);
  });

  it("stands still while halted, makes single blocks on order, and goes on at once when resumed", async () => {
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

  it("waits for what comes before a block, and makes none when halted meanwhile", async () => {
    let go = (): void => expect.unreachable("not waiting");
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

  it("tries again while there is no quorum, and ends with any other error", async () => {
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

  it("ends when an ordered block breaks the machine, though halted", async () => {
    const { clock, errors, production, done } = await setUp();
    production.halt();
    await clock.advance(1000);
    errors.push(new Error("disk full"));
    expect(() => production.produceNow()).toThrow("disk full");
    await expect(done).rejects.toThrow("disk full");
  });

  it.each([false, true])("stops with the signal, halted: %s", async (halted) => {
    const { production, stop, done, clock } = await setUp();
    if (halted) production.halt();
    await clock.advance(1000);
    stop.abort(new Error("asked to"));
    await expect(done).rejects.toThrow("asked to");
    expect(clock.sleeping()).toBe(0);
  });
});
