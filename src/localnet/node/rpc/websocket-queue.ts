import type { RawData, WebSocket } from "ws";
import type { SendBudget } from "../../../platform/http/http-connections.ts";

export interface MessageQueueOptions {
  readonly client: WebSocket;
  readonly budget: SendBudget;
  readonly pending: PendingBound;
  /** Handles one message. An error cuts the client. */
  readonly handle: (data: RawData) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Bound of the unanswered messages of one client and of all clients. */
export interface PendingBound {
  readonly perClient: number;
  /** Counts a message. Returns false when all clients together have too many. */
  readonly add: () => boolean;
  readonly remove: (count: number) => void;
}

/** Unanswered messages above which the node stops reading from a client. */
const PAUSE_AT = 16;
/** Unsent bytes above which the node answers no further message of the client. */
const MAX_UNSENT_BYTES = 1_048_576;

/** Creates the counter of unanswered messages. */
export function createPendingBound(perClient: number, inTotal: number): PendingBound {
  let total = 0;
  return {
    perClient,
    add: () => {
      total += 1;
      return total <= inTotal;
    },
    remove: (count) => {
      total -= count;
    },
  };
}

/**
 * Handles the messages of a client one after the other, as CometBFT does: an unsubscribe must not overtake its subscribe.
 * A slow call, such as broadcast_tx_commit, therefore delays the client's later ones. The node reads no further messages
 * while some wait, or while the client does not read its responses. Returns a function that drops all messages.
 */
export function serveMessages(options: MessageQueueOptions): () => void {
  const { client, pending } = options;
  const queue: RawData[] = [];
  let isRunning = false;
  const run = async (): Promise<void> => {
    try {
      for (let data = queue.shift(); data !== undefined; data = queue.shift()) {
        await options.budget.untilCapacity();
        await options.handle(data);
        pending.remove(1);
        await drained(client);
        // Other clients get their turn. Without a pause, responses that the socket takes at once would not let them.
        if (queue.length > 0) await new Promise((resolve) => setImmediate(resolve));
        else if (client.isPaused) client.resume();
      }
    } catch (error) {
      pending.remove(1);
      options.onError(error);
      client.terminate();
    } finally {
      isRunning = false;
    }
  };
  client.on("message", (data) => {
    queue.push(data);
    // A paused client still delivers the messages that have arrived with the last one.
    if (!pending.add() || queue.length > pending.perClient) return client.terminate();
    if (queue.length >= PAUSE_AT) client.pause();
    if (isRunning) return;
    isRunning = true;
    void run();
  });
  return () => {
    pending.remove(queue.length);
    queue.length = 0;
  };
}

/** Resolves when the client has read enough of its responses, or is gone. */
async function drained(client: WebSocket): Promise<void> {
  while (client.readyState === client.OPEN && client.bufferedAmount > MAX_UNSENT_BYTES) {
    await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
  }
}

const DRAIN_POLL_MS = 20;
