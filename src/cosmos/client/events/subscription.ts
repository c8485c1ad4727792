import type { WaitSignal } from "../../../platform/base/abort.ts";
import type { TextEvent } from "../../comet/rpc-blocks.ts";
import { createBoundedQueue } from "../../../platform/base/waits.ts";

/**
 * A notice from a subscription. `connected` arrives after each connection, once all queries are subscribed. `missed` means that
 * events may have been lost, so the reader must read the chain's state again.
 */
export type ChainNotice =
  | { readonly kind: "connected" }
  | { readonly kind: "missed"; readonly reason: string }
  | { readonly kind: "block"; readonly height: bigint; readonly timeNs: bigint }
  | {
      readonly kind: "tx";
      readonly height: bigint;
      readonly hash: Uint8Array;
      readonly code: number;
      readonly events: readonly TextEvent[];
    }
  | { readonly kind: "block-events"; readonly height: bigint; readonly events: readonly TextEvent[] };

/** Follows a chain and reconnects after every failure. */
export interface ChainSubscription {
  /** Runs until the signal aborts. Connection errors are handled internally and do not end the subscription. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Removes the oldest notice, waiting for one if the queue is empty. Supports a single reader. */
  readonly next: (signal: WaitSignal) => Promise<ChainNotice>;
  readonly isConnected: () => boolean;
}

/** Creates a queue of notices for one reader. While it holds `capacity` notices, others are dropped: one `missed` represents them. */
export function createNoticeQueue(capacity: number) {
  const queue = createBoundedQueue<ChainNotice>(capacity + 1);
  let isGapMarked = false;
  const offer = (notice: ChainNotice): void => {
    if (queue.size() < capacity) {
      isGapMarked = false;
      queue.offer(notice);
      return;
    }
    if (isGapMarked) return;
    isGapMarked = true;
    queue.offer({ kind: "missed", reason: "the reader was too slow, events were dropped" });
  };
  return { offer, next: queue.take };
}
