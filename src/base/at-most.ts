import type { Clock } from "./clock.ts";
import { onAbort } from "./on-abort.ts";

/**
 * The outcome of `work`, or undefined when `delayMs` pass first: then the signal that `work` was given has fired, and its
 * rejection with that signal's reason is swallowed. Everything else that it throws is thrown.
 */
export async function atMost<T>(
  delayMs: number,
  clock: Pick<Clock, "sleep">,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const stop = new AbortController();
  const forget = onAbort(signal, (reason) => stop.abort(reason));
  const over = new Error("the time is up");
  clock.sleep(delayMs, stop.signal).then(
    () => stop.abort(over),
    () => {},
  );
  try {
    return await work(stop.signal);
  } catch (error) {
    if (error === over) return undefined;
    throw error;
  } finally {
    forget();
    stop.abort(new Error("the wait is over"));
  }
}

/** Waits `delayMs`, or until the signal fires; never rejects. Any number of pauses share one listener on the signal. */
export async function pause(
  delayMs: number,
  clock: Pick<Clock, "sleep">,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  await atMost(delayMs, clock, signal, rejectOnAbort).catch(() => undefined);
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    onAbort(signal, reject);
  });
}
