import { withDeadline } from "../../../platform/base/abort.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import type { JsonObject } from "../../../platform/base/json.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import { ClientError } from "../errors.ts";
import { decodeEventFrame, type EventFrame } from "./event-frame.ts";
import type { EventSocket, EventSocketListener } from "./event-socket.ts";
import { decodeStatus } from "../read/node-status.ts";
import type { ChainNotice } from "./subscription.ts";

export interface FrameExchangeOptions {
  readonly endpoint: string;
  /** Expected chain id. Undefined accepts every chain. */
  readonly chainId: string | undefined;
  /** Subscriptions, in CometBFT's query language. */
  readonly queries: readonly string[];
  /** Deadline of each request over the connection. */
  readonly deadlineMs: number;
}

export interface FrameExchangeDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly logger: Logger;
  /** All queries are subscribed. */
  readonly onReady: () => void;
  readonly onNotice: (notice: ChainNotice) => void;
  /** Events may be lost: the node cancelled a subscription, or an event could not be decoded. */
  readonly onGap: (reason: string) => void;
}

/** Sends requests over one connection and handles all frames that arrive. */
export interface FrameExchange {
  readonly listener: EventSocketListener;
  /** Checks the chain id and subscribes all queries. */
  readonly start: (socket: EventSocket) => Promise<void>;
  /** Time of the last frame of any kind, monotonic. */
  readonly lastFrameMs: () => number;
  /** Time of the last event, or of the subscription when there was none; monotonic. */
  readonly lastEventMs: () => number;
}

interface PendingRequest {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Creates an exchange. It aborts `session` when the connection is no longer usable. */
export function createFrameExchange(
  options: FrameExchangeOptions,
  deps: FrameExchangeDeps,
  session: AbortController,
): FrameExchange {
  const requests = new Map<number, PendingRequest>();
  const subscriptions = new Map<number, string>();
  let connection: EventSocket | undefined;
  let lastFrameMs = deps.clock.monotonicMs();
  let lastEventMs = lastFrameMs;
  const recordFrame = (): void => {
    lastFrameMs = deps.clock.monotonicMs();
  };

  const request = (id: number, method: string, params: JsonObject): Promise<unknown> =>
    withDeadline(`${method} over the event stream`, options.deadlineMs, session.signal, () => {
      const response = new Promise<unknown>((resolve, reject) => requests.set(id, { resolve, reject }));
      connection?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      return response;
    }).finally(() => requests.delete(id));

  const subscribe = async (id: number, query: string): Promise<void> => {
    try {
      await request(id, "subscribe", { query });
    } catch (error) {
      // The node still has this subscription, so its events arrive.
      if (!isAlreadySubscribed(error)) throw error;
    }
    subscriptions.set(id, query);
  };

  /**
   * Subscribes again after the node cancelled one subscription. A node does so when we read too slowly, while the
   * connection and the other subscriptions go on. When the renewal fails, the session ends, and the next endpoint is used.
   */
  const renew = (id: number, reason: string): void => {
    const query = subscriptions.get(id);
    if (query === undefined) return;
    // A second cancellation during the renewal must not start another one.
    subscriptions.delete(id);
    deps.logger.warn("node cancelled a subscription", { endpoint: options.endpoint, query, reason });
    subscribe(id, query).then(
      // The gap is reported after the renewal. A reader that reads the state at this notice then misses nothing: later
      // changes arrive as events.
      () => deps.onGap(`the node cancelled a subscription: ${reason}`),
      (error: unknown) => session.abort(error),
    );
  };

  const handleEvent = (frame: Exclude<EventFrame, { readonly kind: "response" | "error" }>): void => {
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
    // An error frame without a pending request concerns the subscription that the request with this id made.
    else renew(frame.id, frame.data);
  };

  return {
    listener: {
      onText: (text) => {
        recordFrame();
        try {
          handle(decodeEventFrame(text, options.endpoint));
        } catch (error) {
          // A frame that is not JSON-RPC: the peer is not a CometBFT node.
          session.abort(error);
        }
      },
      onHeartbeat: recordFrame,
      onClosed: (reason) => session.abort(connectionClosed(options.endpoint, reason)),
    },
    start: async (socket) => {
      connection = socket;
      checkChain(await request(0, "status", {}), options);
      await Promise.all(options.queries.map((query, index) => subscribe(index + 1, query)));
      lastEventMs = deps.clock.monotonicMs();
      deps.onReady();
    },
    lastFrameMs: () => lastFrameMs,
    lastEventMs: () => lastEventMs,
  };
}

function checkChain(result: unknown, { endpoint, chainId }: FrameExchangeOptions): void {
  const found = decodeStatus(result, endpoint).chainId;
  if (chainId === undefined || found === chainId) return;
  throw new ClientError(
    { code: "wrong-chain", endpoint, expected: chainId, found },
    `${endpoint} serves chain ${found}, but ${chainId} was expected`,
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

function connectionClosed(endpoint: string, reason: string): ClientError {
  return new ClientError(
    { code: "unreachable", endpoint, reason },
    `the event stream of ${endpoint} ended (${reason})`,
  );
}
