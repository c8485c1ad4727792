import { connect } from "node:net";
import { request } from "undici";
import { raceAbort } from "../../../platform/base/abort.ts";
import type { Clock } from "../../../platform/base/clock.ts";

/** A response of the sidecar with its complete body. */
export interface SidecarResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
}

/** Access to the sidecar's port. */
export interface SidecarTransport {
  /** Rejects with an error of code `ECONNREFUSED` when nothing listens. */
  readonly get: (url: URL, signal: AbortSignal) => Promise<SidecarResponse>;
  /** Whether a connection to the host of the URL can be opened now. */
  readonly connects: (url: URL, signal: AbortSignal) => Promise<boolean>;
}

/** Connection to the sidecar that behaves as the gRPC client of a real node. */
export interface SidecarConnection {
  /**
   * Waits until the sidecar is connected and sends the request. Only `requestSignal` bounds the wait. `lifeSignal` ends
   * the attempts to connect, which go on between requests.
   */
  readonly get: (
    path: string,
    requestSignal: AbortSignal,
    lifeSignal: AbortSignal,
  ) => Promise<SidecarResponse>;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 120_000;
const PAUSE_FACTOR = 1.6;

/**
 * Creates a connection. A refused connection is tried again with the pauses of gRPC: 1 s, 1.6 s, 2.56 s, … up to 2 min,
 * measured from attempt to attempt. So a node goes on failing for a while after its sidecar is back, and longer after a
 * long outage. gRPC varies each pause by a fifth; here they are exact, so that a rehearsal repeats.
 */
export function createSidecarConnection(
  address: string,
  transport: SidecarTransport,
  clock: Clock,
): SidecarConnection {
  let reconnecting: Promise<void> | undefined;
  const reconnect = async (signal: AbortSignal): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * PAUSE_FACTOR, LONGEST_PAUSE_MS)) {
      await clock.sleep(pauseMs, signal);
      if (await transport.connects(new URL(address), signal)) return;
    }
  };
  const startReconnecting = (signal: AbortSignal): Promise<void> => {
    const attempt = reconnect(signal).finally(() => {
      reconnecting = undefined;
    });
    // Without a request, nobody waits for the attempts; they end when the signal aborts.
    attempt.catch(() => {});
    return attempt;
  };
  return {
    get: async (path, requestSignal, lifeSignal) => {
      for (;;) {
        if (reconnecting !== undefined) await raceAbort(reconnecting, requestSignal);
        try {
          return await transport.get(new URL(path, address), requestSignal);
        } catch (error) {
          if (!isRefused(error)) throw error;
          reconnecting ??= startReconnecting(lifeSignal);
        }
      }
    },
  };
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
}

const MAX_BODY_BYTES = 1_048_576;

/** The transport over TCP and HTTP. */
export const httpTransport: SidecarTransport = {
  get: async (url, signal) => {
    const { statusCode, headers, body } = await request(url, { signal });
    let text = "";
    // The body is read in any case. An unread body would keep the connection busy.
    for await (const chunk of body.setEncoding("utf8")) {
      text += String(chunk);
      if (text.length > MAX_BODY_BYTES) throw new Error("the response of the sidecar is too long");
    }
    const contentType = headers["content-type"];
    return {
      status: statusCode,
      contentType: Array.isArray(contentType) ? contentType[0] : contentType,
      text,
    };
  },
  connects: (url, signal) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: url.hostname, port: Number(url.port), signal });
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", (error) => {
        if (signal.aborted) reject(error);
        else resolve(false);
      });
    }),
};
