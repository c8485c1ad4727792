import { abortReason } from "./clock.ts";

/** First in, first out, never longer than `capacity`. */
export interface BoundedQueue<T> {
  /** Adds an item; false, and the item is dropped and counted, when the queue is full. */
  readonly offer: (item: T) => boolean;
  /** Takes the oldest item, waiting for one; rejects with the signal's reason on abort. One waiter at a time. */
  readonly take: (signal: AbortSignal) => Promise<T>;
  readonly size: () => number;
  /** Items dropped since the start. */
  readonly dropped: () => number;
}

/** Creates an empty queue of at most `capacity` items (at least 1). */
export function createBoundedQueue<T extends object | string | number | bigint>(
  capacity: number,
): BoundedQueue<T> {
  const items: T[] = [];
  let dropped = 0;
  let wake: (() => void) | undefined;
  const offer = (item: T): boolean => {
    if (items.length >= capacity) {
      dropped += 1;
      return false;
    }
    items.push(item);
    wake?.();
    return true;
  };
  const take = async (signal: AbortSignal): Promise<T> => {
    for (;;) {
      const [oldest] = items.splice(0, 1);
      if (oldest !== undefined) return oldest;
      await nextOffer(signal);
    }
  };
  const nextOffer = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortReason(signal));
        return;
      }
      if (wake !== undefined) {
        reject(new Error("two waiters on one queue"));
        return;
      }
      const onAbort = (): void => settle(() => reject(abortReason(signal)));
      const settle = (finish: () => void): void => {
        wake = undefined;
        signal.removeEventListener("abort", onAbort);
        finish();
      };
      wake = () => settle(resolve);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  return { offer, take, size: () => items.length, dropped: () => dropped };
}
