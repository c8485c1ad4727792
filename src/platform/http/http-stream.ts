import { Buffer } from "node:buffer";
import type { ServerResponse } from "node:http";
import { requestSignal } from "./http-request.ts";
import type { SendBudget } from "./send-budget.ts";

/**
 * A body that is written over time, such as server-sent events. The server ends the reply when `run` settles. `signal` aborts
 * when the client disconnects or the server closes.
 */
export interface HttpStream {
  readonly run: (write: WriteChunk, signal: AbortSignal) => Promise<void>;
}

/**
 * Writes a part of the body. Resolves when the client has taken it, so a slow client has at most one part unsent. Rejects
 * when the connection is gone.
 */
type WriteChunk = (text: string) => Promise<void>;

/** What {@link sendStream} needs of its server. */
interface StreamContext {
  readonly budget: SendBudget;
  /** Aborts when the server begins to close. */
  readonly closing: AbortSignal;
  /** The server cuts a client that takes nothing for this time. A stream must write more often. */
  readonly stalledMs: number;
}

/** Runs a stream after the head of its reply was written, and ends the reply. Never rejects. */
export async function sendStream(
  outgoing: ServerResponse,
  stream: HttpStream,
  { budget, closing, stalledMs }: StreamContext,
): Promise<void> {
  if (outgoing.req.method === "HEAD") {
    outgoing.end();
    return;
  }
  const { socket } = outgoing;
  outgoing.flushHeaders();
  // Node restarts this timer when the client takes bytes, and cuts the connection at its end.
  socket?.setTimeout(stalledMs);
  const signal = requestSignal(outgoing, closing);
  const write: WriteChunk = async (text) => {
    signal.throwIfAborted();
    if (outgoing.write(text)) return;
    const release = budget.hold(Buffer.byteLength(text), () => socket?.destroy());
    await drained(outgoing).finally(release);
  };
  try {
    await stream.run(write, signal);
    outgoing.end();
  } catch {
    // The client is gone, or the server closes. A client that is still there sees that the stream broke.
    outgoing.destroy();
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const onDrain = (): void => {
      outgoing.off("close", onClose);
      resolve();
    };
    const onClose = (): void => {
      outgoing.off("drain", onDrain);
      reject(new Error("the client has disconnected"));
    };
    outgoing.once("drain", onDrain);
    outgoing.once("close", onClose);
  });
}
