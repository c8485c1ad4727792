import { Buffer } from "node:buffer";
import WebSocket from "ws";
import { abortReason, onAbort, withDeadline } from "../../../platform/base/abort.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { isRecord, type JsonObject } from "../../../platform/base/json.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import { ClientError, closedError, requireChain } from "../../client-error.ts";
import {
  followRedirect,
  proxyOf,
  trustedCertificates,
  tunnelThrough,
} from "../../../platform/http/remote.ts";
import { createDeferred, type Deferred } from "../../../platform/process/deferred.ts";
import type { ParsedEndpoint } from "../endpoint.ts";
import { decodeStatus } from "../rpc-response.ts";
import { type ChainNotice, type DecodedEvent, decodeEventFrame, type EventFrame } from "./subscription.ts";

export interface EventSessionOptions {
  readonly endpoint: string;
  /** Expected chain id, or undefined to accept any chain. */
  readonly chainId: string | undefined;
  /** Queries to subscribe to, in CometBFT's query language. */
  readonly queries: readonly string[];
  readonly deadlineMs: number;
  readonly pingIntervalMs: number;
  /** Maximum time without any frame, including pongs. Must exceed `pingIntervalMs`. */
  readonly readDeadlineMs: number;
  /** Maximum time without an event, in ms. Must exceed the block time. */
  readonly eventDeadlineMs: number;
}

interface EventSessionDeps {
  readonly open: OpenEventSocket;
  /** Called before each ping. Returns the name of a better endpoint to end the session, or undefined to continue the session. */
  readonly findBetter: () => string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once all queries have been subscribed. */
  readonly onReady: () => void;
  readonly onNotice: (notice: ChainNotice) => void;
  /** Called when events may have been lost, because the node cancelled a subscription or an event could not be decoded. */
  readonly onGap: (reason: string) => void;
}

/**
 * Connects, checks the chain id, subscribes, and follows events until the connection ends. Resolves with the name of a better
 * endpoint if the session ends because this endpoint was found. Rejects with the reason if the connection ends for any other
 * reason.
 */
export async function runEventSession(
  options: EventSessionOptions,
  deps: EventSessionDeps,
  signal: AbortSignal,
): Promise<string> {
  const session = new AbortController();
  const unwatch = onAbort(signal, (reason) => session.abort(reason));
  const exchange = createFrameExchange(options, deps, session);
  let socket: EventSocket | undefined;
  try {
    socket = await deps.open(exchange.listener, session.signal);
    await exchange.start(socket);
    for (;;) {
      await deps.clock.sleep(options.pingIntervalMs, session.signal);
      exchange.checkDeadlines();
      const better = deps.findBetter();
      if (better !== undefined) return better;
      socket.ping();
    }
  } finally {
    unwatch();
    session.abort(closedError());
    socket?.terminate();
  }
}

type EventSocket = Pick<WebSocket, "send" | "ping" | "terminate">;

/** Callbacks that receive a connection's messages and its end. No callback runs after `onClosed`. */
interface EventSocketListener {
  readonly onText: (text: string) => void;
  /** Called when a ping or pong frame arrives. */
  readonly onHeartbeat: () => void;
  readonly onClosed: (reason: string) => void;
}

/**
 * Opens a WebSocket connection. Rejects with `unreachable`, or with the signal's reason on abort. An abort also closes an open
 * connection.
 */
export type OpenEventSocket = (listener: EventSocketListener, signal: AbortSignal) => Promise<EventSocket>;

/** Creates a function that connects to an endpoint's `/websocket`. A frame larger than `maxFrameBytes` closes the connection. */
export function createEventSocketOpener(
  endpoint: ParsedEndpoint,
  options: { readonly connectTimeoutMs: number; readonly maxFrameBytes: number },
): OpenEventSocket {
  const proxy = proxyOf(new URL(endpoint.origin), endpoint.network);
  const ca = trustedCertificates(endpoint.network);
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
        followRedirects: true,
        maxRedirects: 3,
        ...(ca === undefined ? {} : { ca: [...ca] }),
        ...(proxy === undefined
          ? {}
          : { createConnection: tunnelThrough(proxy, { ca, timeoutMs: options.connectTimeoutMs }) }),
      });
      let reason = "closed by the node";
      let redirect: string | undefined;
      socket.on("redirect", (url, request) => {
        const next = followRedirect(new URL(endpoint.webSocketUrl), url);
        if (typeof next !== "string") return;
        redirect = `it redirects to ${next}`;
        request.destroy();
      });
      const unwatch = onAbort(signal, () => socket.terminate());
      socket.on("open", () => resolve(socket));
      socket.on("message", (data) => listener.onText(toText(data)));
      socket.on("ping", listener.onHeartbeat);
      socket.on("pong", listener.onHeartbeat);
      socket.on("error", (error) => {
        // `close` always follows `error`, so the reason is only stored here.
        reason = redirect ?? reasonOf(error);
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

/** Returns the error's code or the HTTP status. Other messages from `ws` may contain the URL, which may include a secret. */
function reasonOf(error: Error): string {
  if (isRecord(error) && typeof error["code"] === "string") return error["code"];
  const status = /^Unexpected server response: (\d{3})$/.exec(error.message);
  return status === null ? "connection failed" : `HTTP status ${status[1]}`;
}

function unreachable(endpoint: string, reason: string): ClientError {
  return new ClientError(
    { code: "unreachable", endpoint, reason },
    `the event stream of ${endpoint} is unreachable or ended (${reason})`,
  );
}

/** Sends requests over one connection and handles all incoming frames. Aborts `session` once the connection is unusable. */
function createFrameExchange(options: EventSessionOptions, deps: EventSessionDeps, session: AbortController) {
  const requests = new Map<number, Deferred<unknown>>();
  const subscriptions = new Map<number, string>();
  let connection: EventSocket | undefined;
  let lastFrameMs = deps.clock.monotonicMs();
  let lastEventMs = lastFrameMs;
  const recordFrame = (): void => {
    lastFrameMs = deps.clock.monotonicMs();
  };

  const request = (id: number, method: string, params: JsonObject): Promise<unknown> =>
    withDeadline(`${method} over the event stream`, options.deadlineMs, session.signal, () => {
      const response = createDeferred<unknown>();
      requests.set(id, response);
      connection?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      return response.promise;
    }).finally(() => requests.delete(id));

  const subscribe = async (id: number, query: string): Promise<void> => {
    try {
      await request(id, "subscribe", { query });
    } catch (error) {
      // If the node still has this subscription, its events continue to arrive, so ignore this error.
      if (!isAlreadySubscribed(error)) throw error;
    }
    subscriptions.set(id, query);
  };

  /**
   * Subscribes again after the node has cancelled one subscription. A node cancels a subscription if the client reads too slowly,
   * but keeps the connection and the other subscriptions. If subscribing again fails, the session ends and the next endpoint is
   * used.
   */
  const renew = (id: number, reason: string): void => {
    const query = subscriptions.get(id);
    if (query === undefined) return;
    // A second cancellation during the renewal must not start a second renewal.
    subscriptions.delete(id);
    deps.logger.warn("node cancelled a subscription", { endpoint: options.endpoint, query, reason });
    subscribe(id, query).then(
      // Report the gap only after the subscription has been renewed. A reader that reads the state at this time misses no change,
      // because later changes arrive as events.
      () => deps.onGap(`the node cancelled a subscription: ${reason}`),
      (error: unknown) => session.abort(error),
    );
  };

  const handleEvent = (frame: DecodedEvent): void => {
    lastEventMs = deps.clock.monotonicMs();
    if (frame.kind === "notice") deps.onNotice(frame.notice);
    else if (frame.kind === "ignored") deps.logger.debug("event ignored", { reason: frame.reason });
    else deps.onGap(`an event could not be decoded: ${frame.error.message}`);
  };

  const handle = (frame: EventFrame): void => {
    const pending = requests.get(frame.id);
    if (frame.kind === "response") pending?.resolve(frame.result);
    else if (frame.kind !== "error") handleEvent(frame);
    else if (pending !== undefined) pending.reject(refused(options.endpoint, frame.rpcCode, frame.data));
    // An error frame without a pending request concerns the subscription that the request with this id created.
    else renew(frame.id, frame.data);
  };

  const listener: EventSocketListener = {
    onText: (text) => {
      recordFrame();
      try {
        handle(decodeEventFrame(text, options.endpoint));
      } catch (error) {
        // The frame is not JSON-RPC, so the peer is not a CometBFT node.
        session.abort(error);
      }
    },
    onHeartbeat: recordFrame,
    onClosed: (reason) => session.abort(unreachable(options.endpoint, reason)),
  };
  return {
    listener,
    /** Checks the chain id and subscribes to all queries. */
    start: async (socket: EventSocket): Promise<void> => {
      connection = socket;
      const { chainId } = decodeStatus(await request(0, "status", {}), options.endpoint);
      requireChain(options.endpoint, options.chainId, chainId);
      await Promise.all(options.queries.map((query, index) => subscribe(index + 1, query)));
      lastEventMs = deps.clock.monotonicMs();
      deps.onReady();
    },
    /**
     * Throws `timeout` if the connection or its subscriptions are dead.
     *
     * The deadline for frames and the deadline for events are both necessary. After a network failure, no close frame arrives, so
     * only missing pongs reveal the failure. A node that responds to pings may publish nothing, e.g. because it has stopped
     * syncing, so only missing events reveal this state. A subscription to block headers yields one event per block, so the
     * deadline for events must exceed the block time.
     */
    checkDeadlines: (): void => {
      const nowMs = deps.clock.monotonicMs();
      if (nowMs - lastFrameMs > options.readDeadlineMs)
        throw timeoutError(options.endpoint, "ping", options.readDeadlineMs);
      if (nowMs - lastEventMs > options.eventDeadlineMs)
        throw timeoutError(options.endpoint, "event", options.eventDeadlineMs);
    },
  };
}

function timeoutError(endpoint: string, method: "ping" | "event", afterMs: number): ClientError {
  return new ClientError(
    { code: "timeout", endpoint, method, afterMs },
    `the event stream of ${endpoint} received no ${method === "ping" ? "data" : "event"} for ${afterMs} ms`,
  );
}

function isAlreadySubscribed(error: unknown): boolean {
  return (
    error instanceof ClientError && error.facts.code === "rpc" && /already subscribed/.test(error.facts.data)
  );
}

function refused(endpoint: string, rpcCode: number, data: string): ClientError {
  return new ClientError(
    { code: "rpc", endpoint, method: "subscribe", rpcCode, data },
    `${endpoint} refused a subscription (${rpcCode}): ${data}`,
  );
}
