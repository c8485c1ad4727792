import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { StoredBlock, StoredResults } from "./node-view.ts";

type BlockListener = (block: StoredBlock, results: StoredResults) => void;

/** The listeners for new blocks. */
export interface BlockListeners {
  /** Adds a listener. Returns a function that removes it. */
  readonly add: (listener: BlockListener) => () => void;
  /** Calls all listeners in order of addition. Logs the error of a listener and continues with the next one. */
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
