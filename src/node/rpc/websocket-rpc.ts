import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { errorText } from "../../base/errors.ts";
import { isRecord, type JsonObject } from "../../base/json.ts";
import type { Logger } from "../../base/logger.ts";
import { goJsonParse } from "./go-decoding.ts";
import { WEBSOCKET_METHODS } from "./http-rpc.ts";
import {
  answerRequest,
  badAnswer,
  goodAnswer,
  parseRequest,
  type RpcId,
  type RpcRequest,
} from "./json-rpc.ts";
import type { RpcContext } from "./method.ts";
import { RpcError, toRpcError } from "./rpc-error.ts";
import type { ClientSubscriptions, Send, Subscriptions } from "./subscriptions.ts";

/** Bounds of a WebSocket. */
export interface WebSocketOptions {
  readonly maxMessageBytes: number;
  /** Connections at once; one more is refused with 503. */
  readonly maxConnections: number;
  /** Unsent bytes at which a client counts as too slow. */
  readonly maxBufferedBytes: number;
  /** Requests of one client that may wait for their answer; one more cuts it. */
  readonly maxPendingRequests: number;
  readonly pingIntervalMs: number;
  /** A connection that sends nothing for so long, not even a pong, is cut. */
  readonly readTimeoutMs: number;
}

/** CometBFT's times, and bounds that fit a laptop. */
export const DEFAULT_WEBSOCKET: WebSocketOptions = {
  maxMessageBytes: 1_048_576,
  maxConnections: 900,
  maxBufferedBytes: 16_777_216,
  maxPendingRequests: 1_000,
  pingIntervalMs: 27_000,
  readTimeoutMs: 30_000,
};

/** What a WebSocket face needs. */
export interface WebSocketDeps {
  readonly context: RpcContext;
  readonly subscriptions: Subscriptions;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** The RPC over WebSocket: all methods, and subscriptions. */
export interface WebSocketRpc {
  /** Takes an HTTP upgrade; paths other than /websocket are refused. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Cuts all connections. */
  readonly close: () => void;
}

/** Creates the WebSocket face. */
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
      server.handleUpgrade(request, socket, head, (client) => serveClient(client, options, deps));
    },
    close: () => {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function serveClient(client: WebSocket, options: WebSocketOptions, deps: WebSocketDeps): void {
  const send: Send = (message, isLastWord = false) => {
    if (client.readyState !== client.OPEN) return false;
    if (!isLastWord && client.bufferedAmount > options.maxBufferedBytes) return false;
    client.send(JSON.stringify(message));
    return true;
  };
  const subscriptions = deps.subscriptions.client(send);
  const stopWatching = watchLife(client, options);
  let pending = 0;
  let queue: Promise<void> = Promise.resolve();
  client.on("message", (data) => {
    pending += 1;
    if (pending > options.maxPendingRequests) {
      client.terminate();
      return;
    }
    // One after the other, as CometBFT does: an unsubscribe must not overtake its subscribe.
    queue = queue
      .then(() => answer(data, send, subscriptions, deps))
      .catch((error: unknown) => {
        deps.logger.error("websocket request failed", { error: errorText(error) });
        client.terminate();
      });
  });
  client.on("error", (error) => deps.logger.debug("websocket failed", { error: errorText(error) }));
  client.on("close", () => {
    stopWatching();
    subscriptions.drop();
  });
}

/** Pings, and cuts a connection from which nothing comes. Returns how to stop. */
function watchLife(client: WebSocket, options: WebSocketOptions): () => void {
  const cut = (): void => client.terminate();
  let deadline = setTimeout(cut, options.readTimeoutMs);
  const alive = (): void => {
    clearTimeout(deadline);
    deadline = setTimeout(cut, options.readTimeoutMs);
  };
  let ping = setTimeout(sendPing, options.pingIntervalMs);
  function sendPing(): void {
    client.ping();
    ping = setTimeout(sendPing, options.pingIntervalMs);
  }
  client.on("message", alive);
  client.on("ping", alive);
  client.on("pong", alive);
  return () => {
    clearTimeout(deadline);
    clearTimeout(ping);
  };
}

async function answer(
  data: RawData,
  send: Send,
  subscriptions: ClientSubscriptions,
  deps: WebSocketDeps,
): Promise<void> {
  let request: RpcRequest;
  try {
    request = parseRequest(goJsonParse(toText(data)));
  } catch (error) {
    send(badAnswer(-1, new RpcError("parse", `error unmarshaling request: ${errorText(error)}`)));
    return;
  }
  const { id, method, params } = request;
  if (id === undefined) return;
  if (WEBSOCKET_METHODS.has(method)) send(subscribe({ id, method, params }, subscriptions));
  else send(await answerRequest({ id, method, params }, deps.context, deps.signal, "internal"));
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
    return goodAnswer(id, {});
  } catch (thrown) {
    const error = toRpcError(thrown);
    if (error === undefined) throw thrown;
    return badAnswer(id, error);
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
