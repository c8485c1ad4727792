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
  /** Maximum number of open connections. Further connections are rejected with 503. */
  readonly maxConnections: number;
  /** Maximum number of unsent bytes before the node stops sending notifications to a client. */
  readonly maxBufferedBytes: number;
  /**
   * Maximum number of unanswered requests per client. A client that exceeds the limit is disconnected. Only requests that arrive
   * together can exceed the limit, because the server stops reading much earlier.
   */
  readonly maxPendingRequests: number;
  /**
   * Maximum number of all unanswered requests (about 300 bytes each). Above this limit, the client with the most requests is
   * disconnected.
   */
  readonly maxPendingInTotal: number;
  readonly pingIntervalMs: number;
  /** Time after which the server closes a connection that has received nothing, not even a pong. */
  readonly readTimeoutMs: number;
}

/** CometBFT's timeouts (a ping after 9/10 of the read timeout), with limits that suit a local node. */
export const DEFAULT_WEBSOCKET: WebSocketOptions = {
  maxMessageBytes: 1_048_576,
  maxConnections: 900,
  maxBufferedBytes: 16_777_216,
  // Node reads chunks of 64 KiB, which contain about 11,000 messages of minimum size.
  maxPendingRequests: 12_000,
  maxPendingInTotal: 100_000,
  pingIntervalMs: 27_000,
  readTimeoutMs: 30_000,
};

export interface WebSocketDeps {
  readonly context: RpcContext;
  readonly subscriptions: Subscriptions;
  /** Limits the unsent bytes of all clients in total. */
  readonly budget: SendBudget;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** If a client has more unsent bytes than this, its notifications remain in the event log, which all clients share. */
const MAX_BUFFERED_NOTIFICATION_BYTES = 262_144;

/** If a client has more unsent bytes than this, the node ignores its pings. */
const MAX_BYTES_BEFORE_PONG = 1_048_576;

/** Maximum number of unanswered messages before the node stops reading from a client. */
const PAUSE_AT = 16;

/** If a client has more unsent bytes than this, the node stops responding to its messages. */
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
    // Otherwise, `ws` would buffer unlimited pongs for a client that sends pings but reads nothing.
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
      // With `binary: false`, bytes are sent as text.
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
  // Stay at or above the high-water mark, because with fewer unsent bytes the socket emits no `drain`.
  const bound = Math.min(options.maxBufferedBytes, MAX_BUFFERED_NOTIFICATION_BYTES);
  const readyBytes = Math.max(socket.writableHighWaterMark, bound);
  const isReady = (): boolean => client.readyState === client.OPEN && client.bufferedAmount <= readyBytes;
  const subscriptions = deps.subscriptions.client({ isReady, send });
  // The socket has sent all data, so the client is reading.
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
      // Pongs from a paused client do not arrive, so restart its timeout.
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

/** Extra time for a pong. If a long block delays the event loop, the timer could fire before an arrived pong is read. */
const LATE_MS = 500;

/** Sends pings, and closes the connection if nothing is received. `extend` restarts the timeout. */
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

/** Returns the response to a message. Undefined for a notification. */
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
  /** Handles a message; an error disconnects the client. */
  readonly handle: (data: RawData) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Unanswered messages from one client. */
interface PendingMessages {
  /** Messages waiting while another message is handled. */
  readonly waiting: RawData[];
  readonly cut: () => void;
}

/** Limits unanswered messages, per client and in total. */
type PendingBound = ReturnType<typeof createPendingBound>;

/** Creates limits that disconnect a client with too many messages, without affecting other clients. */
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
  // The last full count, plus all messages since. Count again only when the sum exceeds the limit.
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
 * Handles a client's messages one at a time, like CometBFT, because an unsubscribe must not overtake its subscribe. A slow call,
 * such as broadcast_tx_commit, therefore delays the client's later calls. The node stops reading a client's messages while many are
 * waiting, and handles none while the client does not read its responses. Returns a function that drops all messages.
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
        // Let other clients run, because this loop never yields as long as the socket accepts every response immediately.
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
    // Messages that arrived in the same chunk are delivered even after the client has been disconnected or paused.
    if (client.readyState !== client.OPEN) return;
    pending.add(messages, data);
    if (waiting.length >= PAUSE_AT) client.pause();
    if (isRunning) return;
    isRunning = true;
    void run();
  });
  return () => pending.drop(messages);
}

/** Resolves once the client has read enough of its responses, or is disconnected. */
async function drained(client: WebSocket): Promise<void> {
  while (client.readyState === client.OPEN && client.bufferedAmount > MAX_UNSENT_BYTES) {
    await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
  }
}
