import { onAbort } from "./on-abort.ts";

/** The outcome of shared work for one of those who wait for it: rejects with the signal's reason when it fires first; the work goes on. */
export function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, reject);
    work.then(resolve, reject).finally(forget);
  });
}
