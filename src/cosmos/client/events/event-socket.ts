import { abortReason, onAbort } from "../../../platform/base/abort.ts";
import { Buffer } from "node:buffer";
import WebSocket from "ws";
import { isRecord } from "../../../platform/base/json.ts";
import type { ParsedEndpoint } from "../endpoints/endpoint.ts";
import { ClientError } from "../errors.ts";

/** An open WebSocket connection. */
export interface EventSocket {
  readonly send: (text: string) => void;
  readonly ping: () => void;
  /** Closes the connection without a closing handshake. `onClosed` is called afterwards. */
  readonly terminate: () => void;
}

/** Callbacks of a connection. None is called after `onClosed`. */
export interface EventSocketListener {
  readonly onText: (text: string) => void;
  /** A ping or pong frame arrived. */
  readonly onHeartbeat: () => void;
  readonly onClosed: (reason: string) => void;
}

/** Opens a connection. Rejects with `unreachable` or the signal's reason. An abort also closes an open connection. */
export type OpenEventSocket = (listener: EventSocketListener, signal: AbortSignal) => Promise<EventSocket>;

/** Creates a function that opens connections to an endpoint's `/websocket`. A frame above `maxFrameBytes` closes them. */
export function createEventSocketOpener(
  endpoint: ParsedEndpoint,
  options: { readonly connectTimeoutMs: number; readonly maxFrameBytes: number },
): OpenEventSocket {
  return (listener, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(abortReason(signal));
        return;
      }
      const socket = new WebSocket(endpoint.webSocketUrl, {
        headers: endpoint.headers,
        handshakeTimeout: options.connectTimeoutMs,
        maxPayload: options.maxFrameBytes,
        perMessageDeflate: false,
        followRedirects: false,
      });
      let reason = "closed by the node";
      const unwatch = onAbort(signal, () => socket.terminate());
      socket.on("open", () =>
        resolve({
          send: (text) => socket.send(text),
          ping: () => socket.ping(),
          terminate: () => socket.terminate(),
        }),
      );
      socket.on("message", (data) => listener.onText(toText(data)));
      socket.on("ping", listener.onHeartbeat);
      socket.on("pong", listener.onHeartbeat);
      socket.on("error", (error) => {
        // `close` always follows `error`, so the reason is only stored here.
        reason = reasonOf(error);
      });
      socket.on("close", () => {
        unwatch();
        reject(signal.aborted ? abortReason(signal) : unreachable(endpoint.name, reason));
        listener.onClosed(reason);
      });
    });
}

function toText(data: WebSocket.RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8");
  return Buffer.isBuffer(data) ? data.toString("utf8") : Buffer.from(data).toString("utf8");
}

/** Returns the error's code or the HTTP status. Other messages of `ws` may contain the URL and with it a secret. */
function reasonOf(error: Error): string {
  if (isRecord(error) && typeof error["code"] === "string") return error["code"];
  const status = /^Unexpected server response: (\d{3})$/.exec(error.message);
  return status === null ? "connection failed" : `HTTP status ${status[1]}`;
}

function unreachable(endpoint: string, reason: string): ClientError {
  return new ClientError(
    { code: "unreachable", endpoint, reason },
    `the event stream of ${endpoint} is unreachable (${reason})`,
  );
}
