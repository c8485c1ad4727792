import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { errorText } from "../../base/errors.ts";
import { isRecord, type JsonObject } from "../../base/json.ts";
import type { Logger } from "../../base/logger.ts";
import { goJsonParse } from "./go-decoding.ts";
import {
  handleRequest,
  errorResponse,
  NO_ID,
  parseRequest,
  resultResponse,
  type RpcId,
  type RpcRequest,
  WEBSOCKET_METHODS,
} from "./json-rpc.ts";
import type { RpcContext } from "./method.ts";
import { RpcError, toRpcError } from "./rpc-error.ts";
import type { ClientSubscriptions, Subscriptions } from "./subscriptions.ts";

/** Bounds of the WebSockets. */
export interface WebSocketOptions {
  readonly maxMessageBytes: number;
  /** Open connections. The server refuses a further one with 503. */
  readonly maxConnections: number;
  /** Unsent bytes above which the node sends a client neither responses nor notifications. */
  readonly maxBufferedBytes: number;
  /** Unanswered requests of one client. The server cuts a client that exceeds them. */
  readonly maxPendingRequests: number;
  readonly pingIntervalMs: number;
  /** The server cuts a connection on which nothing arrives for this time, not even a pong. */
  readonly readTimeoutMs: number;
}

/** CometBFT's times (a ping after 9/10 of the read timeout), and bounds for a local node. */
export const DEFAULT_WEBSOCKET: WebSocketOptions = {
  maxMessageBytes: 1_048_576,
  maxConnections: 900,
  maxBufferedBytes: 16_777_216,
  maxPendingRequests: 1_000,
  pingIntervalMs: 27_000,
  readTimeoutMs: 30_000,
};

export interface WebSocketDeps {
  readonly context: RpcContext;
  readonly subscriptions: Subscriptions;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** The RPC over WebSocket: all methods, and subscriptions. */
export interface WebSocketRpc {
  /** Handles an HTTP upgrade. Refuses paths other than `/websocket`. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Cuts all connections. */
  readonly close: () => void;
}

/**
 * Unsent bytes above which a client gets no further notifications. They wait in the event log, which all clients share, and
 * not in a buffer of each client.
 */
const MAX_BUFFERED_NOTIFICATION_BYTES = 262_144;

/** Sends a response to a client. */
type Send = (message: JsonObject) => void;

/** Creates the WebSocket side of the RPC port. */
export function createWebSocketRpc(options: WebSocketOptions, deps: WebSocketDeps): WebSocketRpc {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: options.maxMessageBytes,
    perMessageDeflate: false,
  });
  return {
    upgrade: (request, socket, head) => {
      const path = request.url?.split("?")[0];
      if (path !== "/websocket") return refuse(socket, "404 Not Found");
      if (server.clients.size >= options.maxConnections) return refuse(socket, "503 Service Unavailable");
      server.handleUpgrade(request, socket, head, (client) => serveClient(client, socket, options, deps));
    },
    close: () => {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

function refuse(socket: Duplex, status: string): void {
  // Node removes its own listeners before an upgrade. Without this one, a reset by the client would end the process.
  socket.on("error", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function serveClient(
  client: WebSocket,
  socket: Duplex,
  options: WebSocketOptions,
  deps: WebSocketDeps,
): void {
  const send: Send = (message) => {
    // `ws` buffers unsent messages without limit. Above this bound the node drops a response.
    if (client.readyState !== client.OPEN || client.bufferedAmount > options.maxBufferedBytes) return;
    client.send(JSON.stringify(message));
  };
  // Not below the high-water mark: with fewer unsent bytes, the socket emits no `drain`.
  const bound = Math.min(options.maxBufferedBytes, MAX_BUFFERED_NOTIFICATION_BYTES);
  const readyBytes = Math.max(socket.writableHighWaterMark, bound);
  const isReady = (): boolean => client.readyState === client.OPEN && client.bufferedAmount <= readyBytes;
  const subscriptions = deps.subscriptions.client({
    isReady,
    send: (messages) => {
      if (client.readyState !== client.OPEN) return;
      // One write for all messages. `binary: false` sends the bytes as text.
      socket.cork();
      for (const message of messages) client.send(message, { binary: false });
      socket.uncork();
    },
  });
  // The socket has passed on what the node wrote, so the client reads.
  socket.on("drain", subscriptions.resume);
  const stopWatching = watchLiveness(client, options);
  let pending = 0;
  let queue: Promise<void> = Promise.resolve();
  client.on("message", (data) => {
    pending += 1;
    if (pending > options.maxPendingRequests) {
      client.terminate();
      return;
    }
    // One after the other, as CometBFT does: an unsubscribe must not overtake its subscribe. A slow call, such as
    // broadcast_tx_commit, therefore delays the client's later ones, and the queue needs the bound above.
    queue = queue
      .then(() => handleMessage(data, send, subscriptions, deps))
      .catch((error: unknown) => {
        deps.logger.error("websocket request failed", { error });
        client.terminate();
      })
      .finally(() => {
        pending -= 1;
      });
  });
  client.on("error", (error) => deps.logger.debug("websocket failed", { error: errorText(error) }));
  client.on("close", () => {
    stopWatching();
    subscriptions.drop();
  });
}

/** Sends pings, and cuts the connection when nothing arrives. Returns a function that stops both timers. */
function watchLiveness(client: WebSocket, options: WebSocketOptions): () => void {
  const cut = (): void => client.terminate();
  let deadline = setTimeout(cut, options.readTimeoutMs);
  const extend = (): void => {
    clearTimeout(deadline);
    deadline = setTimeout(cut, options.readTimeoutMs);
  };
  let ping = setTimeout(sendPing, options.pingIntervalMs);
  function sendPing(): void {
    client.ping();
    ping = setTimeout(sendPing, options.pingIntervalMs);
  }
  client.on("message", extend);
  client.on("ping", extend);
  client.on("pong", extend);
  return () => {
    clearTimeout(deadline);
    clearTimeout(ping);
  };
}

async function handleMessage(
  data: RawData,
  send: Send,
  subscriptions: ClientSubscriptions,
  deps: WebSocketDeps,
): Promise<void> {
  let request: RpcRequest;
  try {
    request = parseRequest(goJsonParse(toText(data)));
  } catch (error) {
    send(errorResponse(NO_ID, new RpcError("parse", `error unmarshaling request: ${errorText(error)}`)));
    return;
  }
  const { id, method, params } = request;
  if (id === undefined) return;
  if (WEBSOCKET_METHODS.has(method)) send(subscribe({ id, method, params }, subscriptions));
  else send(await handleRequest({ id, method, params }, deps.context, deps.signal, "internal"));
}

function toText(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8");
  return Buffer.from(data instanceof ArrayBuffer ? new Uint8Array(data) : data).toString("utf8");
}

function subscribe(
  { id, method, params }: RpcRequest & { readonly id: RpcId },
  subscriptions: ClientSubscriptions,
): JsonObject {
  try {
    if (method === "unsubscribe_all") subscriptions.unsubscribeAll();
    else if (method === "subscribe") subscriptions.subscribe(id, readQueryParameter(params));
    else subscriptions.unsubscribe(readQueryParameter(params));
    return resultResponse(id, {});
  } catch (thrown) {
    const error = toRpcError(thrown);
    if (error === undefined) throw thrown;
    return errorResponse(id, error);
  }
}

function readQueryParameter(params: unknown): string {
  const query: unknown = Array.isArray(params) ? params[0] : isRecord(params) ? params.query : undefined;
  if (query === undefined || query === null) return "";
  if (typeof query === "string") return query;
  throw new RpcError(
    "internal",
    `error converting json params to arguments: json: cannot unmarshal ${typeof query} into Go value of type string`,
  );
}
