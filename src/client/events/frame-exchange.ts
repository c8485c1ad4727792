import { withDeadline } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Logger } from "../../base/logger.ts";
import { ClientError } from "../errors.ts";
import { decodeEventFrame, type EventFrame } from "./event-frame.ts";
import type { EventSocket, EventSocketListener } from "./event-socket.ts";
import { decodeStatus } from "../read/node-status.ts";
import type { ChainNotice } from "./subscription.ts";

/** What is exchanged over one connection. */
export interface FrameExchangeOptions {
  readonly endpoint: string;
  readonly chainId: string | undefined;
  readonly queries: readonly string[];
  /** For each request over the connection. */
  readonly deadlineMs: number;
}

/** Whom an exchange tells. */
export interface FrameExchangeDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly logger: Logger;
  /** Every query is subscribed. */
  readonly onReady: () => void;
  readonly onNotice: (notice: ChainNotice) => void;
  /** An event was lost: a subscription broke and was made again, or an event could not be read. */
  readonly onGap: (reason: string) => void;
}

/** Requests and frames of one connection. */
export interface FrameExchange {
  readonly listener: EventSocketListener;
  /** Checks the chain and subscribes. */
  readonly start: (socket: EventSocket) => Promise<void>;
  /** When anything came last, monotonic ms. */
  readonly lastSignMs: () => number;
  /** When an event came last, monotonic ms. */
  readonly lastEventMs: () => number;
}

interface Waiter {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Creates an exchange: gives answers to who waits for them, notices to the owner, and aborts `session` when the connection is over. */
export function createFrameExchange(
  options: FrameExchangeOptions,
  deps: FrameExchangeDeps,
  session: AbortController,
): FrameExchange {
  const waiting = new Map<number, Waiter>();
  const subscriptions = new Map<number, string>();
  let open: EventSocket | undefined;
  let lastSignMs = deps.clock.monotonicMs();
  let lastEventMs = lastSignMs;
  const sign = (): void => {
    lastSignMs = deps.clock.monotonicMs();
  };

  const request = (id: number, method: string, params: JsonObject): Promise<unknown> =>
    withDeadline(`${method} over the event stream`, options.deadlineMs, session.signal, () => {
      const answer = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }));
      open?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      return answer;
    }).finally(() => waiting.delete(id));

  const subscribe = async (id: number, query: string): Promise<void> => {
    try {
      await request(id, "subscribe", { query });
    } catch (error) {
      if (!isAlreadySubscribed(error)) throw error;
    }
    subscriptions.set(id, query);
  };

  /** The node cut one subscription (we were slow, or it is stopping): take it up again or give up the connection. */
  const renew = (id: number, reason: string): void => {
    const query = subscriptions.get(id);
    if (query === undefined) return;
    subscriptions.delete(id);
    deps.logger.warn("subscription was cut", { endpoint: options.endpoint, query, reason });
    subscribe(id, query).then(
      () => deps.onGap(`the node cut a subscription: ${reason}`),
      (error: unknown) => session.abort(error),
    );
  };

  const handleEvent = (frame: Exclude<EventFrame, { readonly kind: "answer" | "error" }>): void => {
    lastEventMs = deps.clock.monotonicMs();
    if (frame.kind === "notice") deps.onNotice(frame.notice);
    else if (frame.kind === "ignored") deps.logger.debug("event stepped over", { what: frame.what });
    else deps.onGap(`an event could not be read: ${frame.error.message}`);
  };

  const handle = (frame: EventFrame): void => {
    const waiter = waiting.get(frame.id);
    if (frame.kind === "answer") waiter?.resolve(frame.result);
    else if (frame.kind !== "error") handleEvent(frame);
    else if (waiter !== undefined) waiter.reject(refused(options.endpoint, frame.rpcCode, frame.data));
    else renew(frame.id, frame.data);
  };

  return {
    listener: {
      onText: (text) => {
        sign();
        try {
          handle(decodeEventFrame(text, options.endpoint));
        } catch (error) {
          session.abort(error);
        }
      },
      onSign: sign,
      onClosed: (reason) => session.abort(cutOff(options.endpoint, reason)),
    },
    start: async (socket) => {
      open = socket;
      checkChain(await request(0, "status", {}), options);
      await Promise.all(options.queries.map((query, index) => subscribe(index + 1, query)));
      lastEventMs = deps.clock.monotonicMs();
      deps.onReady();
    },
    lastSignMs: () => lastSignMs,
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

/** A query may still stand from before: then it is what we want. */
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

function cutOff(endpoint: string, reason: string): ClientError {
  return new ClientError(
    { code: "unreachable", endpoint, reason },
    `the event stream of ${endpoint} ended (${reason})`,
  );
}
