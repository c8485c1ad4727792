import { abortReason } from "./clock.ts";

const watchers = new WeakMap<AbortSignal, Set<(reason: Error) => void>>();

/**
 * Calls `callback` once with the reason when `signal` fires (at once when it has fired); returns how to stop watching.
 * Any number of watchers share one listener, so that hundreds of calls on one signal cost no warning and no scan.
 */
export function onAbort(signal: AbortSignal, callback: (reason: Error) => void): () => void {
  if (signal.aborted) {
    callback(abortReason(signal));
    return () => {};
  }
  const callbacks = watchers.get(signal) ?? watch(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
  };
}

/** Adds the one listener of this signal. */
function watch(signal: AbortSignal): Set<(reason: Error) => void> {
  const callbacks = new Set<(reason: Error) => void>();
  watchers.set(signal, callbacks);
  const fire = (): void => {
    watchers.delete(signal);
    for (const callback of callbacks) callback(abortReason(signal));
  };
  signal.addEventListener("abort", fire, { once: true });
  return callbacks;
}
