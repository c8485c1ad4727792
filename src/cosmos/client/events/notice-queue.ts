import { type BoundedQueue, createBoundedQueue } from "../../../platform/base/waits.ts";
import type { ChainNotice } from "./subscription.ts";

/** Bounded queue of notices for one reader. */
export interface NoticeQueue {
  /** Adds a notice. While the queue is full, notices are dropped, and one `missed` at the end stands for all of them. */
  readonly offer: (notice: ChainNotice) => void;
  readonly next: (signal: AbortSignal) => Promise<ChainNotice>;
  /** Number of notices dropped since creation. */
  readonly dropped: () => number;
}

/** Creates a queue for `capacity` notices and one additional `missed`. */
export function createNoticeQueue(capacity: number): NoticeQueue {
  const queue: BoundedQueue<ChainNotice> = createBoundedQueue(capacity + 1);
  let dropped = 0;
  let isGapMarked = false;
  const offer = (notice: ChainNotice): void => {
    if (queue.size() < capacity) {
      isGapMarked = false;
      queue.offer(notice);
      return;
    }
    dropped += 1;
    if (isGapMarked) return;
    isGapMarked = true;
    queue.offer({ kind: "missed", reason: "the reader was too slow, events were dropped" });
  };
  return { offer, next: queue.take, dropped: () => dropped };
}
