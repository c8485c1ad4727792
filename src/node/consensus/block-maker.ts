import type { BlockSteps, Engine, ProducedBlock } from "./engine.ts";

/** Makes blocks, and tells of them once they are written. An error leaves as the engine throws it. */
export interface BlockMaker {
  /** Makes a block in one go; one that is being made in steps is ended before. */
  readonly makeNow: () => ProducedBlock;
  /**
   * Makes a block in steps: executed, written, told. In between the process answers requests, which would otherwise wait
   * for all of a large block.
   */
  readonly makeInSteps: () => Promise<void>;
}

/** What making blocks needs. */
export interface BlockMakerDeps {
  readonly engine: Pick<Engine, "produce">;
  /** Lets the process do what else there is to do. */
  readonly pause: () => Promise<void>;
  /** Hears of every block, in order. */
  readonly onBlock: (produced: ProducedBlock) => void;
}

/** Creates a maker of blocks. */
export function createBlockMaker({ engine, pause, onBlock }: BlockMakerDeps): BlockMaker {
  let open: { readonly steps: BlockSteps } | undefined;
  const untold: ProducedBlock[] = [];
  /** The block, when that was its last step. */
  const advance = (steps: BlockSteps): ProducedBlock | undefined => {
    const step = steps.next();
    if (step.done !== true) return undefined;
    untold.push(step.value);
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
  /** The next step of the open block; false when there is none any more, as an ordered block has ended it. */
  const goOn = (): boolean => {
    try {
      if (open !== undefined && advance(open.steps) !== undefined) open = undefined;
    } catch (error) {
      open = undefined;
      throw error;
    }
    return open !== undefined;
  };
  const tell = (): void => {
    for (let next = untold.shift(); next !== undefined; next = untold.shift()) onBlock(next);
  };
  return {
    makeNow: () => {
      finishOpen();
      const produced = finish(engine.produce());
      tell();
      return produced;
    },
    makeInSteps: async () => {
      open = { steps: engine.produce() };
      while (goOn()) await pause();
      await pause();
      tell();
    },
  };
}
