import { errorText } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { StoredBlock, StoredResults } from "./node-view.ts";

/** Called after a committed block. */
type BlockListener = (block: StoredBlock, results: StoredResults) => void;

/** Tells everybody who asked about new blocks. */
export interface BlockListeners {
  readonly add: (listener: BlockListener) => () => void;
  /** A listener that throws is logged; the others and the chain go on. */
  readonly notify: BlockListener;
}

/** Creates an empty list of listeners. */
export function createBlockListeners(logger: Logger): BlockListeners {
  const listeners = new Set<BlockListener>();
  return {
    add: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    notify: (block, results) => {
      for (const listener of listeners) {
        try {
          listener(block, results);
        } catch (error) {
          logger.error("block listener failed", { height: block.header.height, error: errorText(error) });
        }
      }
    },
  };
}
