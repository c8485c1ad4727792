import { type BoundedQueue, createBoundedQueue } from "../../base/bounded-queue.ts";
import type { ChainNotice } from "./subscription.ts";

/** Notices on their way to one reader. */
export interface NoticeQueue {
  /** Adds a notice; when the queue is full, one `missed` takes the place of everything dropped until there is room. */
  readonly offer: (notice: ChainNotice) => void;
  readonly next: (signal: AbortSignal) => Promise<ChainNotice>;
  /** Notices dropped since the start. */
  readonly dropped: () => number;
}

/** Creates a queue of at most `capacity` notices and one `missed` at its end. */
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
    queue.offer({ kind: "missed", reason: "more events arrived than could be handled" });
  };
  return { offer, next: queue.take, dropped: () => dropped };
}
