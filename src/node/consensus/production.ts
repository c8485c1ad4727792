import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { onAbort } from "../../base/on-abort.ts";
import { NodeError } from "../errors.ts";
import type { Engine, ProducedBlock } from "./engine.ts";

/** Decides when blocks are made. */
export interface Production {
  /** Makes a block at once and then one every block time, until the signal fires. Rejects on a fault of the machine. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly halt: () => void;
  readonly resume: () => void;
  readonly isHalted: () => boolean;
  /** Makes one block now, halted or not. Throws `NodeError` `no-quorum`. */
  readonly produceNow: () => ProducedBlock;
}

/** What production needs. */
export interface ProductionDeps {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Runs before each timed block, as a validator's vote extension would; may take its time, must not reject save by abort. */
  readonly beforeBlock: (signal: AbortSignal) => Promise<void>;
  readonly onBlock: (produced: ProducedBlock) => void;
}

/** Creates the production of blocks, at most one every `blockTimeMs` counted from the end of the last one. */
export function createProduction(blockTimeMs: number, deps: ProductionDeps): Production {
  let halted = false;
  let stuck = false;
  let failure: { readonly fault: unknown } | undefined;
  let wake: (() => void) | undefined;
  /** A fault of the machine in a block that was ordered from outside must end `run` too, halted or not. */
  const produceOrFail = (): ProducedBlock => {
    try {
      return deps.engine.produce();
    } catch (fault) {
      if (!isNoQuorum(fault)) {
        failure = { fault };
        wake?.();
      }
      throw fault;
    }
  };
  const produceNow = (): ProducedBlock => {
    const produced = produceOrFail();
    stuck = false;
    deps.onBlock(produced);
    return produced;
  };
  const tryProduce = (): void => {
    try {
      produceNow();
    } catch (fault) {
      if (!isNoQuorum(fault)) throw fault;
      if (!stuck) deps.logger.warn("chain stands still", { reason: errorText(fault) });
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
      if (failure !== undefined) throw failure.fault;
      await deps.beforeBlock(signal);
      signal.throwIfAborted();
      if (!halted) tryProduce();
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

function isNoQuorum(fault: unknown): boolean {
  return fault instanceof NodeError && fault.facts.code === "no-quorum";
}
