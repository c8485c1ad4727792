import { describe, expect, it } from "vitest";
import { createBlockMaker } from "../../../src/node/consensus/block-maker.ts";
import type { BlockSteps } from "../../../src/node/consensus/engine.ts";
import { producedBlock } from "../../support/produced-block.ts";

/** A maker over an engine whose blocks are numbered, with a record of what happens; a pause lasts until `go` is called. */
function setUp(errors: readonly number[] = []) {
  const log: string[] = [];
  const waiting: (() => void)[] = [];
  let height = 0;
  const produce = function* (): BlockSteps {
    const own = ++height;
    log.push(`execute ${own}`);
    yield;
    if (errors.includes(own)) throw new Error(`block ${own} is broken`);
    log.push(`write ${own}`);
    return producedBlock(BigInt(own));
  };
  const maker = createBlockMaker({
    engine: { produce },
    pause: () => new Promise((resolve) => waiting.push(resolve)),
    onBlock: ({ block }) => log.push(`tell ${block.header.height}`),
  });
  const go = async (): Promise<void> => {
    for (const resume of waiting.splice(0)) resume();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { maker, log, go };
}

describe("a maker of blocks", () => {
  it("pauses between executing, writing and telling", async () => {
    const { maker, log, go } = setUp();
    const made = maker.makeInSteps();
    expect(log).toEqual(["execute 1"]);
    await go();
    expect(log).toEqual(["execute 1", "write 1"]);
    await go();
    await made;
    expect(log).toEqual(["execute 1", "write 1", "tell 1"]);
  });

  it("makes an ordered block in one go", () => {
    const { maker, log } = setUp();
    expect(maker.makeNow().block.header.height).toBe(1n);
    expect(log).toEqual(["execute 1", "write 1", "tell 1"]);
  });

  it.each([0, 1])(
    "ends the open block before an ordered one, and tells in order, after %i pauses",
    async (pauses) => {
      const { maker, log, go } = setUp();
      const made = maker.makeInSteps();
      for (let pause = 0; pause < pauses; pause++) await go();
      expect(maker.makeNow().block.header.height).toBe(2n);
      const all = ["execute 1", "write 1", "execute 2", "write 2", "tell 1", "tell 2"];
      expect(log).toEqual(all);
      await go();
      await go();
      await made;
      expect(log).toEqual(all);
    },
  );

  it("gives the error of the open block to who orders the next one", async () => {
    const { maker, log, go } = setUp([1]);
    const made = maker.makeInSteps();
    expect(() => maker.makeNow()).toThrow("block 1 is broken");
    await go();
    await go();
    await made;
    expect(log).toEqual(["execute 1"]);
  });

  it("passes the error of a later step on, and can go on after it", async () => {
    const { maker, log, go } = setUp([1]);
    const made = maker.makeInSteps();
    made.catch(() => {});
    await go();
    await expect(made).rejects.toThrow("block 1 is broken");
    expect(maker.makeNow().block.header.height).toBe(2n);
    expect(log).toEqual(["execute 1", "execute 2", "write 2", "tell 2"]);
  });
});
