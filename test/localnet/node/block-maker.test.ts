import { describe, expect, it } from "vitest";
import { createBlockMaker } from "../../../src/localnet/node/consensus/production.ts";
import type { BlockSteps } from "../../../src/localnet/node/consensus/engine.ts";
import { producedBlock } from "../../support/produced-block.ts";

/** Creates a maker over an engine with numbered blocks, and a log of its steps. A pause lasts until `go` is called. */
function setUp(errors: readonly number[] = []) {
  const log: string[] = [];
  const paused: (() => void)[] = [];
  let height = 0;
  const produce = function* (): BlockSteps {
    const own = ++height;
    log.push(`execute ${own}`);
    yield;
    if (errors.includes(own)) throw new Error(`block ${own} failed`);
    log.push(`write ${own}`);
    return producedBlock(BigInt(own));
  };
  const maker = createBlockMaker({
    engine: { produce },
    pause: () => new Promise((resolve) => paused.push(resolve)),
    onBlock: ({ block }) => log.push(`publish ${block.header.height}`),
  });
  const go = async (): Promise<void> => {
    for (const resume of paused.splice(0)) resume();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { maker, log, go };
}

describe("a block maker", () => {
  it("pauses between executing, writing and publishing", async () => {
    const { maker, log, go } = setUp();
    const made = maker.makeInSteps();
    expect(log).toEqual(["execute 1"]);
    await go();
    expect(log).toEqual(["execute 1", "write 1"]);
    await go();
    await made;
    expect(log).toEqual(["execute 1", "write 1", "publish 1"]);
  });

  it("makes a manual block without a pause", () => {
    const { maker, log } = setUp();
    expect(maker.makeNow().block.header.height).toBe(1n);
    expect(log).toEqual(["execute 1", "write 1", "publish 1"]);
  });

  it.each([0, 1])(
    "finishes the open block before a manual one, and publishes in order, after %i pauses",
    async (pauses) => {
      const { maker, log, go } = setUp();
      const made = maker.makeInSteps();
      for (let pause = 0; pause < pauses; pause++) await go();
      expect(maker.makeNow().block.header.height).toBe(2n);
      const all = ["execute 1", "write 1", "execute 2", "write 2", "publish 1", "publish 2"];
      expect(log).toEqual(all);
      await go();
      await go();
      await made;
      expect(log).toEqual(all);
    },
  );

  it("throws the error of the open block from a manual one", async () => {
    const { maker, log, go } = setUp([1]);
    const made = maker.makeInSteps();
    expect(() => maker.makeNow()).toThrow("block 1 failed");
    await go();
    await go();
    await made;
    expect(log).toEqual(["execute 1"]);
  });

  it("rejects with the error of a later step, and can make the next block", async () => {
    const { maker, log, go } = setUp([1]);
    const made = maker.makeInSteps();
    made.catch(() => {});
    await go();
    await expect(made).rejects.toThrow("block 1 failed");
    expect(maker.makeNow().block.header.height).toBe(2n);
    expect(log).toEqual(["execute 1", "execute 2", "write 2", "publish 2"]);
  });
});
