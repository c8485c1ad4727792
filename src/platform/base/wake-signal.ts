import { onAbort } from "./abort.ts";

/** Lets one part of the program wake all callers that wait for an event. Carries no value and remembers nothing. */
export interface WakeSignal {
  /** Resolves at the next `wake`; rejects with the reason when `signal` aborts first. Any number of callers may wait. */
  readonly next: (signal: AbortSignal) => Promise<void>;
  /** Wakes every waiting caller. A call when nobody waits has no effect. */
  readonly wake: () => void;
}

interface Caller {
  readonly resolve: () => void;
  unwatch?: () => void;
}

/** Creates a wake signal without waiting callers. */
export function createWakeSignal(): WakeSignal {
  const waiting = new Set<Caller>();
  return {
    next: (signal) =>
      new Promise((resolve, reject) => {
        const caller: Caller = { resolve };
        waiting.add(caller);
        caller.unwatch = onAbort(signal, (reason) => {
          waiting.delete(caller);
          reject(reason);
        });
      }),
    wake: () => {
      // A woken caller may wait again at once. One call must not wake it twice, so the set is emptied first.
      const woken = [...waiting];
      waiting.clear();
      for (const { unwatch, resolve } of woken) {
        unwatch?.();
        resolve();
      }
    },
  };
}
