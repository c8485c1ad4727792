import type { BlockSteps, Engine, ProducedBlock } from "./engine.ts";

/** Makes blocks and publishes each one after it is on disk. Errors of the engine pass through unchanged. */
export interface BlockMaker {
  /** Makes a block without a pause. A block that is open in `makeInSteps` is finished first. */
  readonly makeNow: () => ProducedBlock;
  /**
   * Makes a block in three steps with pauses between them: execute, write, publish. The process answers requests during
   * the pauses; without them, a large block would delay every request until it is complete.
   */
  readonly makeInSteps: () => Promise<void>;
}

export interface BlockMakerDeps {
  readonly engine: Pick<Engine, "produce">;
  /** Lets the event loop handle other work. */
  readonly pause: () => Promise<void>;
  /** Called with every block, in order of height. */
  readonly onBlock: (produced: ProducedBlock) => void;
}

/** Creates a block maker over an engine. */
export function createBlockMaker({ engine, pause, onBlock }: BlockMakerDeps): BlockMaker {
  let open: { readonly steps: BlockSteps } | undefined;
  // Blocks that are on disk and not published. `makeNow` may add a second one during the last pause of `makeInSteps`;
  // the queue keeps listeners in order of height.
  const unpublished: ProducedBlock[] = [];
  /** Runs one step. Returns the block after the last step, otherwise undefined. */
  const advance = (steps: BlockSteps): ProducedBlock | undefined => {
    const step = steps.next();
    if (step.done !== true) return undefined;
    unpublished.push(step.value);
    return step.value;
  };
  const finish = (steps: BlockSteps): ProducedBlock => {
    for (;;) {
      const produced = advance(steps);
      if (produced !== undefined) return produced;
    }
  };
  const finishOpen = (): void => {
    const unfinished = open;
    open = undefined;
    if (unfinished !== undefined) finish(unfinished.steps);
  };
  /** Runs the next step of the open block. Returns false when no block is open afterwards. */
  const advanceOpen = (): boolean => {
    try {
      if (open !== undefined && advance(open.steps) !== undefined) open = undefined;
    } catch (error) {
      // A generator that threw reports `done` without a block, so it must never be advanced again.
      open = undefined;
      throw error;
    }
    return open !== undefined;
  };
  const publish = (): void => {
    for (let next = unpublished.shift(); next !== undefined; next = unpublished.shift()) onBlock(next);
  };
  return {
    makeNow: () => {
      finishOpen();
      const produced = finish(engine.produce());
      publish();
      return produced;
    },
    makeInSteps: async () => {
      open = { steps: engine.produce() };
      while (advanceOpen()) await pause();
      await pause();
      publish();
    },
  };
}
