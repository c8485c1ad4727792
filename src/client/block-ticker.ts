import { onAbort } from "../base/on-abort.ts";

/** Wakes those who wait for the next block, so that they need not poll often. */
export interface BlockTicker {
  /** A block was seen. */
  readonly notify: () => void;
  /** Resolves at the next block; rejects with the signal's reason. */
  readonly next: (signal: AbortSignal) => Promise<void>;
}

/** Creates a ticker; the owner of a subscription feeds it. */
export function createBlockTicker(): BlockTicker {
  const waiting = new Set<() => void>();
  const notify = (): void => {
    for (const wake of waiting) wake();
  };
  const next = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      let forget = notWatchedYet;
      const wake = (): void => {
        waiting.delete(wake);
        forget();
        resolve();
      };
      waiting.add(wake);
      forget = onAbort(signal, (reason) => {
        waiting.delete(wake);
        reject(reason);
      });
    });
  return { notify, next };
}

function notWatchedYet(): void {}
