import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { errorText } from "../../../platform/base/errors.ts";
import { isRecord } from "../../../platform/base/json.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import { refuseUpgrade, type SendBudget } from "../../../platform/http/http-connections.ts";
import { goJsonParse } from "../base/go-decoding.ts";
import { BusyError } from "../base/work-queue.ts";
import * as jsonRpc from "./json-rpc.ts";
import { type CallTurn, type RpcContext, RpcError, toRpcError } from "./method.ts";
import type { ClientSubscriptions, Subscriptions } from "./subscriptions.ts";

export interface WebSocketOptions {
  readonly maxMessageBytes: number;
  /** Maximum number of open connections. The server rejects further connections with status 503. */
  readonly maxConnections: number;
  /** Maximum number of unsent bytes before the node stops sending notifications to a client. */
  readonly maxBufferedBytes: number;
  /**
   * Maximum number of unanswered requests per client. The server disconnects a client that exceeds the limit. Only requests that
   * arrive together can exceed the limit, because the server stops reading from the client much earlier.
   */
  readonly maxPendingRequests: number;
  /**
   * Maximum number of unanswered requests from all clients (about 300 bytes each). Above this limit, the server disconnects the
   * client with the most requests.
   */
  readonly maxPendingInTotal: number;
  readonly pingIntervalMs: number;
  /** Time after which the server closes a connection if it receives nothing from the client, not even a pong. */
  readonly readTimeoutMs: number;
}

/** CometBFT's default timeouts, with a ping after 9/10 of the read timeout, and limits that suit a local node. */
export const DEFAULT_WEBSOCKET: WebSocketOptions = {
  maxMessageBytes: 1_048_576,
  maxConnections: 900,
  maxBufferedBytes: 16_777_216,
  // Allow more messages than a single chunk read by Node.js can contain. A chunk of 64 KiB can contain about 11,000 messages of
  // minimum size.
  maxPendingRequests: 12_000,
  maxPendingInTotal: 100_000,
  pingIntervalMs: 27_000,
  readTimeoutMs: 30_000,
};

export interface WebSocketDeps {
  readonly context: RpcContext;
  readonly subscriptions: Subscriptions;
  /** Limits the total number of unsent bytes for all clients. */
  readonly budget: SendBudget;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Number of a client's unsent bytes above which its notifications remain in the event log, which all clients share. */
const MAX_BUFFERED_NOTIFICATION_BYTES = 262_144;

/** Number of a client's unsent bytes above which the node ignores the client's pings. */
const MAX_BYTES_BEFORE_PONG = 1_048_576;

/** Maximum number of unanswered messages before the node stops reading from a client. */
const PAUSE_AT = 16;

/** Number of a client's unsent bytes above which the node stops handling the client's messages. */
const MAX_UNSENT_BYTES = 1_048_576;

/** Time between checks of a client's unsent bytes. */
const DRAIN_POLL_MS = 20;

/** Sends messages, each encoded as JSON, in a single write. */
type Send = (messages: readonly (string | Uint8Array)[]) => void;

/** Creates the WebSocket RPC, with all methods and subscriptions. */
export function createWebSocketRpc(options: WebSocketOptions, deps: WebSocketDeps) {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: options.maxMessageBytes,
    perMessageDeflate: false,
    // Don't let `ws` send pongs, because it would buffer unlimited pongs for a client that sends pings but reads nothing.
    autoPong: false,
  });
  const pending = createPendingBound(options);
  return {
    /** Handles an HTTP upgrade on `/websocket`, and rejects all other paths. */
    upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const path = request.url?.split("?")[0];
      if (path !== "/websocket") return refuseUpgrade(socket, "404 Not Found");
      if (server.clients.size >= options.maxConnections) {
        return refuseUpgrade(socket, "503 Service Unavailable");
      }
      server.handleUpgrade(request, socket, head, (client) => {
        const send = createSend(client, socket, deps.budget);
        serveClient({ client, socket, send, pending }, options, deps);
      });
    },
    close: () => {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

/** Creates a function that sends messages to a client and charges its unsent bytes to the budget. */
function createSend(client: WebSocket, socket: Duplex, budget: SendBudget): Send {
  return (messages) => {
    if (client.readyState !== client.OPEN) return;
    let release: (() => void) | undefined;
    let bytes = 0;
    socket.cork();
    for (const [index, message] of messages.entries()) {
      bytes += message.length;
      const onSent = index === messages.length - 1 ? (): void => release?.() : undefined;
      // Set `binary: false` to send the bytes in a text frame.
      client.send(message, { binary: false }, onSent);
    }
    socket.uncork();
    if (client.bufferedAmount > 0) release = budget.hold(bytes, () => client.terminate());
  };
}

interface Connection {
  readonly client: WebSocket;
  readonly socket: Duplex;
  readonly send: Send;
  readonly pending: PendingBound;
}

function serveClient(
  { client, socket, send, pending }: Connection,
  options: WebSocketOptions,
  deps: WebSocketDeps,
): void {
  // Use at least the socket's high-water mark, because a socket emits `drain` only if its unsent bytes have reached this mark.
  const bound = Math.min(options.maxBufferedBytes, MAX_BUFFERED_NOTIFICATION_BYTES);
  const readyBytes = Math.max(socket.writableHighWaterMark, bound);
  const isReady = (): boolean => client.readyState === client.OPEN && client.bufferedAmount <= readyBytes;
  const subscriptions = deps.subscriptions.client({ isReady, send });
  // Resume notifications once the socket has sent all data, which means that the client is reading.
  socket.on("drain", subscriptions.resume);
  const liveness = watchLiveness(client, options);
  const dropMessages = serveMessages({
    client,
    budget: deps.budget,
    pending,
    handle: async (data) => {
      const response = await handleMessage(
        data,
        subscriptions,
        deps,
        () => client.readyState !== client.OPEN,
      );
      if (response !== undefined) send([response]);
      // Restart the timeout, because no pongs arrive from a paused client.
      liveness.extend();
    },
    onError: (error) => deps.logger.error("websocket request failed", { error }),
  });
  // Send no pongs to a client that reads nothing.
  client.on("ping", (data) => client.bufferedAmount < MAX_BYTES_BEFORE_PONG && client.pong(data));
  client.on("error", (error) => deps.logger.debug("websocket failed", { error: errorText(error) }));
  client.on("close", () => {
    liveness.stop();
    dropMessages();
    subscriptions.drop();
  });
}

/** Extra time for a pong, because after a long block the timer could fire before the event loop reads an arrived pong. */
const LATE_MS = 500;

/** Sends pings, and closes the connection if no data arrives within the read timeout, which `extend` restarts. */
function watchLiveness(
  client: WebSocket,
  options: WebSocketOptions,
): { readonly extend: () => void; readonly stop: () => void } {
  const cut = (): void => client.terminate();
  const expire = (): void => {
    deadline = setTimeout(cut, LATE_MS);
  };
  let deadline = setTimeout(expire, options.readTimeoutMs);
  const extend = (): void => {
    clearTimeout(deadline);
    deadline = setTimeout(expire, options.readTimeoutMs);
  };
  let ping = setTimeout(sendPing, options.pingIntervalMs);
  function sendPing(): void {
    client.ping();
    ping = setTimeout(sendPing, options.pingIntervalMs);
  }
  client.on("message", extend);
  client.on("ping", extend);
  client.on("pong", extend);
  const stop = (): void => {
    clearTimeout(deadline);
    clearTimeout(ping);
  };
  return { extend, stop };
}

/** Returns the response to a message, or undefined if the message is a notification. */
async function handleMessage(
  data: RawData,
  subscriptions: ClientSubscriptions,
  deps: WebSocketDeps,
  isGone: () => boolean,
): Promise<string | undefined> {
  let request: jsonRpc.RpcRequest;
  try {
    request = jsonRpc.parseRequest(goJsonParse(toText(data)));
  } catch (error) {
    return jsonRpc.errorResponse(
      undefined,
      new RpcError("parse", `error unmarshaling request: ${errorText(error)}`),
    );
  }
  const { id, method, params } = request;
  if (id === undefined) return undefined;
  if (jsonRpc.WEBSOCKET_METHODS.has(method)) return subscribe({ id, method, params }, subscriptions);
  const call = (turn: CallTurn) =>
    jsonRpc.handleRequest({ id, method, params }, deps.context, turn, "internal");
  const { budget, context, signal } = deps;
  if (!jsonRpc.isQueued(method)) return call(jsonRpc.turnOf(signal));
  try {
    const [response] = await context.router.queue.run([(pause) => call({ signal, pause })], {
      isGone,
      budget,
    });
    return response;
  } catch (thrown) {
    if (thrown instanceof BusyError) return jsonRpc.errorResponse(id, new RpcError("server", thrown.message));
    if (isGone()) return undefined;
    throw thrown;
  }
}

function toText(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8");
  return Buffer.from(data instanceof ArrayBuffer ? new Uint8Array(data) : data).toString("utf8");
}

function subscribe(
  { id, method, params }: jsonRpc.RpcRequest & { readonly id: jsonRpc.RpcId },
  subscriptions: ClientSubscriptions,
): string {
  try {
    if (method === "unsubscribe_all") subscriptions.unsubscribeAll();
    else if (method === "subscribe") subscriptions.subscribe(id, readQueryParameter(params));
    else subscriptions.unsubscribe(readQueryParameter(params));
    return jsonRpc.resultResponse(id, {});
  } catch (thrown) {
    return jsonRpc.errorResponse(id, toRpcError(thrown));
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

interface MessageQueueOptions {
  readonly client: WebSocket;
  readonly budget: SendBudget;
  readonly pending: PendingBound;
  /** Handles a message. If `handle` rejects, the client is disconnected. */
  readonly handle: (data: RawData) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** One client's unanswered messages, with a function that disconnects the client. */
interface PendingMessages {
  /** Messages that have arrived while another message is being handled. */
  readonly waiting: RawData[];
  readonly cut: () => void;
}

/** Limits unanswered messages, per client and in total. */
type PendingBound = ReturnType<typeof createPendingBound>;

/** Creates the limits, which disconnect a client with too many unanswered messages without affecting other clients. */
function createPendingBound(limits: Pick<WebSocketOptions, "maxPendingRequests" | "maxPendingInTotal">) {
  const clients = new Set<PendingMessages>();
  const drop = (of: PendingMessages): void => {
    clients.delete(of);
    of.waiting.length = 0;
  };
  const cut = (of: PendingMessages): void => {
    drop(of);
    of.cut();
  };
  const total = (): number => [...clients].reduce((sum, { waiting }) => sum + waiting.length, 0);
  // Estimate the total as the last full count plus all messages since, and count again only if the estimate exceeds the limit.
  let counted = 0;
  let sinceCount = 0;
  return {
    drop,
    /**
     * Adds a message. Disconnects a client with too many messages or, if the total is too high, the client with the most messages.
     */
    add: (of: PendingMessages, data: RawData) => {
      clients.add(of);
      of.waiting.push(data);
      sinceCount += 1;
      if (of.waiting.length > limits.maxPendingRequests) return cut(of);
      if (counted + sinceCount <= limits.maxPendingInTotal) return;
      [counted, sinceCount] = [total(), 0];
      if (counted <= limits.maxPendingInTotal) return;
      const [most] = [...clients].toSorted((a, b) => b.waiting.length - a.waiting.length);
      if (most === undefined) return;
      counted -= most.waiting.length;
      cut(most);
    },
  };
}

/**
 * Handles a client's messages one at a time, like CometBFT, because an unsubscribe must not overtake its subscribe. A slow call, such as
 * broadcast_tx_commit, therefore delays the client's later calls. The node stops reading from a client with many pending messages, and
 * handles no messages while the client does not read responses. Returns a function that drops the client's queued messages.
 */
function serveMessages(options: MessageQueueOptions): () => void {
  const { client, pending } = options;
  const messages: PendingMessages = { waiting: [], cut: () => client.terminate() };
  const { waiting } = messages;
  let isRunning = false;
  const run = async (): Promise<void> => {
    try {
      for (let data = waiting.shift(); data !== undefined; data = waiting.shift()) {
        await options.budget.untilCapacity();
        await options.handle(data);
        await drained(client);
        // Let other clients run, because this loop would not yield while the socket accepts every response immediately.
        if (waiting.length > 0) await new Promise((resolve) => setImmediate(resolve));
        else if (client.isPaused) client.resume();
      }
    } catch (error) {
      options.onError(error);
      client.terminate();
    } finally {
      isRunning = false;
    }
  };
  client.on("message", (data) => {
    // Ignore messages after a disconnect, because `ws` still delivers messages that arrived in the same chunk.
    if (client.readyState !== client.OPEN) return;
    pending.add(messages, data);
    if (waiting.length >= PAUSE_AT) client.pause();
    if (isRunning) return;
    isRunning = true;
    void run();
  });
  return () => pending.drop(messages);
}

/** Resolves once at most {@link MAX_UNSENT_BYTES} remain unsent, or the client is disconnected. */
async function drained(client: WebSocket): Promise<void> {
  while (client.readyState === client.OPEN && client.bufferedAmount > MAX_UNSENT_BYTES) {
    await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
  }
}
