import { onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { NodeError } from "../errors.ts";
import { type BlockMakerDeps, createBlockMaker } from "./block-maker.ts";
import type { ProducedBlock } from "./engine.ts";

/** Decides when blocks are made. */
export interface Production {
  /** Makes a block at once and then one every block time, until the signal fires. Rejects on an error of the machine. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly halt: () => void;
  readonly resume: () => void;
  readonly isHalted: () => boolean;
  /** Makes one block now, halted or not. Throws `NodeError` `no-quorum`. */
  readonly produceNow: () => ProducedBlock;
}

/** What production needs. */
export interface ProductionDeps extends BlockMakerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs before each timed block, as a validator's vote extension would; may take its time, must not reject save by abort. */
  readonly beforeBlock: (signal: AbortSignal) => Promise<void>;
}

/** Creates the production of blocks, at most one every `blockTimeMs` counted from the end of the last one. */
export function createProduction(blockTimeMs: number, deps: ProductionDeps): Production {
  let halted = false;
  let stuck = false;
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  const maker = createBlockMaker(deps);
  /** An error of the machine in a block that was ordered from outside must end `run` too, halted or not. */
  const noteFailure = (error: unknown): void => {
    if (isNoQuorum(error)) return;
    failure = { error };
    wake?.();
  };
  const produceNow = (): ProducedBlock => {
    try {
      const produced = maker.makeNow();
      stuck = false;
      return produced;
    } catch (error) {
      noteFailure(error);
      throw error;
    }
  };
  const tryProduce = async (): Promise<void> => {
    try {
      await maker.makeInSteps();
      stuck = false;
    } catch (error) {
      if (!isNoQuorum(error)) throw error;
      if (!stuck) deps.logger.warn("chain stands still", { reason: errorText(error) });
      stuck = true;
    }
  };
  const resumed = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const stopWatching = onAbort(signal, reject);
      wake = () => {
        stopWatching();
        resolve();
      };
    });
  const run = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      if (halted) await resumed(signal);
      if (failure !== undefined) throw failure.error;
      await deps.beforeBlock(signal);
      signal.throwIfAborted();
      if (!halted) await tryProduce();
      await deps.clock.sleep(blockTimeMs, signal);
    }
  };
  return {
    run,
    produceNow,
    halt: () => {
      halted = true;
    },
    resume: () => {
      halted = false;
      wake?.();
    },
    isHalted: () => halted,
  };
}

function isNoQuorum(error: unknown): boolean {
  return error instanceof NodeError && error.facts.code === "no-quorum";
}
