import { createWakeSignal } from "./wake-signal.ts";

/** FIFO queue with at most `capacity` items. */
export interface BoundedQueue<T> {
  /** Adds an item. Returns false when the queue is full; the item is then dropped and counted. */
  readonly offer: (item: T) => boolean;
  /** Removes the oldest item; waits for one when the queue is empty. Rejects with the reason when the signal aborts. */
  readonly take: (signal: AbortSignal) => Promise<T>;
  readonly size: () => number;
  /** Number of items dropped since creation. */
  readonly dropped: () => number;
}

/** Creates an empty queue. `capacity` is at least 1. */
export function createBoundedQueue<T extends object | string | number | bigint>(
  capacity: number,
): BoundedQueue<T> {
  const items: T[] = [];
  const added = createWakeSignal();
  let dropped = 0;
  const offer = (item: T): boolean => {
    if (items.length >= capacity) {
      dropped += 1;
      return false;
    }
    items.push(item);
    added.wake();
    return true;
  };
  const take = async (signal: AbortSignal): Promise<T> => {
    for (;;) {
      const [oldest] = items.splice(0, 1);
      if (oldest !== undefined) return oldest;
      // Several callers may wait. All wake up; those that find the queue empty again go on waiting.
      await added.next(signal);
    }
  };
  return { offer, take, size: () => items.length, dropped: () => dropped };
}
