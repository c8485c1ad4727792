import { abortReason } from "../../base/abort.ts";
import { Buffer } from "node:buffer";
import WebSocket from "ws";
import { isRecord } from "../../base/json.ts";
import type { ParsedEndpoint } from "../endpoints/endpoint.ts";
import { ClientError } from "../errors.ts";

/** An open connection that carries texts. */
export interface EventSocket {
  readonly send: (text: string) => void;
  readonly ping: () => void;
  /** Cuts the connection at once; `onClosed` is told. */
  readonly terminate: () => void;
}

/** What a connection tells. All are called from the event loop; after `onClosed` nothing follows. */
export interface EventSocketListener {
  readonly onText: (text: string) => void;
  /** any sign of life that is no text: a ping or a pong */
  readonly onSign: () => void;
  readonly onClosed: (reason: string) => void;
}

/** Opens a connection; rejects with `unreachable` or the signal's reason. */
export type OpenEventSocket = (listener: EventSocketListener, signal: AbortSignal) => Promise<EventSocket>;

/** How `ws` opens connections to one endpoint's `/websocket`. A frame above `maxFrameBytes` ends the connection. */
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
      const onStop = (): void => socket.terminate();
      signal.addEventListener("abort", onStop, { once: true });
      socket.on("open", () =>
        resolve({
          send: (text) => socket.send(text),
          ping: () => socket.ping(),
          terminate: () => socket.terminate(),
        }),
      );
      socket.on("message", (data) => listener.onText(toText(data)));
      socket.on("ping", listener.onSign);
      socket.on("pong", listener.onSign);
      socket.on("error", (error) => {
        reason = reasonOf(error);
      });
      socket.on("close", () => {
        signal.removeEventListener("abort", onStop);
        reject(signal.aborted ? abortReason(signal) : unreachable(endpoint.name, reason));
        listener.onClosed(reason);
      });
    });
}

function toText(data: WebSocket.RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8");
  return Buffer.isBuffer(data) ? data.toString("utf8") : Buffer.from(data).toString("utf8");
}

/** The machine code where there is one: messages of `ws` may quote the URL. */
function reasonOf(error: Error): string {
  if (isRecord(error) && typeof error["code"] === "string") return error["code"];
  const status = /^Unexpected server response: (\d{3})$/.exec(error.message);
  return status === null ? "connection failed" : `HTTP status ${status[1]}`;
}

function unreachable(endpoint: string, reason: string): ClientError {
  return new ClientError(
    { code: "unreachable", endpoint, reason },
    `the event stream of ${endpoint} cannot be reached (${reason})`,
  );
}
