import type { Clock } from "../../../platform/base/clock.ts";
import { errorText } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import { createWakeSignal } from "../../../platform/base/waits.ts";
import { NodeError } from "../base/errors.ts";
import type { BlockSteps, Engine, ProducedBlock } from "./engine.ts";

/** Controls when the node makes blocks: once per block time, on request, or not while halted. */
export type Production = ReturnType<typeof createProduction>;

export interface ProductionDeps extends BlockMakerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Runs before each timed block, at the time when a real validator would extend its vote. May delay the block. Rejects only if
   * `signal` aborts.
   */
  readonly beforeBlock: (signal: AbortSignal) => Promise<void>;
}

/** Minimum pause after a block, as a fraction of the block time, because the process also serves requests. */
const MIN_PAUSE = 0.25;

/**
 * Creates the block production. Timed blocks start `blockTimeMs` apart, or later if a block or `beforeBlock` is slow. The block
 * time is similar to CometBFT's `timeout_commit`, which starts with the votes for a block and includes the block's execution.
 */
export function createProduction(blockTimeMs: number, deps: ProductionDeps) {
  let halted = false;
  let hasQuorum = true;
  let failure: { readonly error: unknown } | undefined;
  const resumedOrFailed = createWakeSignal();
  const maker = createBlockMaker(deps);
  const now = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (!isNoQuorum(error)) {
        // Throw the error to the caller, and also make `run` reject, because the engine makes no more blocks after this error.
        failure = { error };
        resumedOrFailed.wake();
      }
      throw error;
    }
  };
  const produceNow = (): ProducedBlock => {
    const produced = now(maker.makeNow);
    hasQuorum = true;
    return produced;
  };
  const produceTimed = async (): Promise<void> => {
    try {
      await maker.makeInSteps();
      hasQuorum = true;
    } catch (error) {
      if (!isNoQuorum(error)) throw error;
      // Log only when the quorum is lost, not once per block time.
      if (hasQuorum) deps.logger.warn("no quorum, no blocks are made", { reason: errorText(error) });
      hasQuorum = false;
    }
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      if (failure !== undefined) throw failure.error;
      if (halted) {
        await resumedOrFailed.next(signal);
        continue;
      }
      await deps.beforeBlock(signal);
      signal.throwIfAborted();
      // Check `halted` again, because `halt` may have been called during `beforeBlock`.
      const startedMs = deps.clock.monotonicMs();
      if (!halted) await produceTimed();
      const leftMs = startedMs + blockTimeMs - deps.clock.monotonicMs();
      // A slow block delays all later blocks, so that no burst of blocks follows.
      await deps.clock.sleep(Math.max(leftMs, blockTimeMs * MIN_PAUSE), signal);
    }
  };
  return {
    /** Makes one block immediately, then one per block time until the signal aborts. Rejects on all errors except `no-quorum`. */
    run,
    /** Makes a block immediately, even on a halted chain. Throws `NodeError` `no-quorum`. */
    produceNow,
    /** Runs `work` while no block is open. If `work` throws, `run` rejects too, because the chain's state may be inconsistent. */
    between: (work: () => void): void =>
      now(() => {
        maker.settle();
        work();
      }),
    halt: () => {
      halted = true;
    },
    resume: () => {
      halted = false;
      resumedOrFailed.wake();
    },
    isHalted: (): boolean => halted,
    /** Runs the step `beforeBlock` without making a block. */
    vote: deps.beforeBlock,
  };
}

function isNoQuorum(error: unknown): boolean {
  return error instanceof NodeError && error.facts.code === "no-quorum";
}

interface BlockMakerDeps {
  readonly engine: Pick<Engine, "produce">;
  /** Resolves after the event loop has handled other events. */
  readonly pause: () => Promise<void>;
  /** Publishes a block. Called for each block on disk, in height order. */
  readonly onBlock: (produced: ProducedBlock) => void;
}

/** Makes blocks, and publishes each block once it is on disk. Errors from the engine propagate unchanged. */
export function createBlockMaker({ engine, pause, onBlock }: BlockMakerDeps) {
  let open: { readonly steps: BlockSteps } | undefined;
  // Blocks on disk that are not yet published, at most two, because `makeNow` may run in the last pause of `makeInSteps`.
  const unpublished: ProducedBlock[] = [];
  /** Runs a block's next step and returns the block after the last step, or undefined after any other step. */
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
  /** Runs the next step of the open block. Returns false if no block is open afterwards. */
  const advanceOpen = (): boolean => {
    try {
      if (open !== undefined && advance(open.steps) !== undefined) open = undefined;
    } catch (error) {
      // Discard a generator that threw, because it would then report `done` without a block.
      open = undefined;
      throw error;
    }
    return open !== undefined;
  };
  const publish = (): void => {
    for (let next = unpublished.shift(); next !== undefined; next = unpublished.shift()) onBlock(next);
  };
  return {
    /** Makes a block without pausing. First finishes any block that `makeInSteps` has started. */
    makeNow: (): ProducedBlock => {
      finishOpen();
      const produced = finish(engine.produce());
      publish();
      return produced;
    },
    /** Finishes the open block, if any, and publishes all blocks that are on disk. */
    settle: () => {
      finishOpen();
      publish();
    },
    /**
     * Makes a block in three steps (execute, write, publish). Between the steps, the process handles requests, which would
     * otherwise wait until a large block is complete.
     */
    makeInSteps: async () => {
      open = { steps: engine.produce() };
      while (advanceOpen()) await pause();
      await pause();
      publish();
    },
  };
}
