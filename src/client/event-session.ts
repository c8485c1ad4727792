import type { Clock } from "../base/clock.ts";
import { withDeadline } from "../base/deadline.ts";
import type { JsonObject } from "../base/json.ts";
import type { Logger } from "../base/logger.ts";
import { onAbort } from "../base/on-abort.ts";
import { ClientError } from "./errors.ts";
import { decodeEventFrame, type EventFrame } from "./event-frame.ts";
import type { EventSocket, OpenEventSocket } from "./event-socket.ts";
import { decodeStatus } from "./node-status.ts";
import type { ChainNotice } from "./subscription.ts";

/** One connection's worth of following a chain. */
export interface EventSessionOptions {
  readonly endpoint: string;
  readonly chainId: string | undefined;
  readonly queries: readonly string[];
  /** For each request over the connection. */
  readonly deadlineMs: number;
  readonly pingIntervalMs: number;
  /** Without any sign of life for this long the connection counts as dead; longer than a ping interval. */
  readonly readDeadlineMs: number;
  /** Without any event for this long the subscriptions count as lost; longer than any block takes. */
  readonly eventDeadlineMs: number;
}

/** What a session needs, and whom it tells. */
export interface EventSessionDeps {
  readonly open: OpenEventSocket;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Every query is subscribed. */
  readonly onReady: () => void;
  readonly onNotice: (notice: ChainNotice) => void;
  /** A single subscription broke and was made again. */
  readonly onGap: (reason: string) => void;
}

/** Connects, checks the chain, subscribes, and follows until the connection ends; always rejects: with the reason of the end. */
export async function runEventSession(
  options: EventSessionOptions,
  deps: EventSessionDeps,
  signal: AbortSignal,
): Promise<never> {
  const session = new AbortController();
  const forget = onAbort(signal, (reason) => session.abort(reason));
  const exchange = createFrameExchange(options, deps, session);
  let socket: EventSocket | undefined;
  try {
    socket = await deps.open(exchange.listener, session.signal);
    await exchange.start(socket);
    return await keepAlive(socket, exchange, { options, deps, signal: session.signal });
  } finally {
    forget();
    session.abort(new ClientError({ code: "closed" }, "the session is over"));
    socket?.terminate();
  }
}

/** Pings, and ends the session when nothing comes back, or no event for too long. */
async function keepAlive(
  socket: EventSocket,
  exchange: FrameExchange,
  {
    options,
    deps,
    signal,
  }: {
    readonly options: EventSessionOptions;
    readonly deps: EventSessionDeps;
    readonly signal: AbortSignal;
  },
): Promise<never> {
  for (;;) {
    await deps.clock.sleep(options.pingIntervalMs, signal);
    const nowMs = deps.clock.monotonicMs();
    if (nowMs - exchange.lastSignMs() > options.readDeadlineMs)
      throw silent(options.endpoint, "ping", options.readDeadlineMs);
    if (nowMs - exchange.lastEventMs() > options.eventDeadlineMs)
      throw silent(options.endpoint, "event", options.eventDeadlineMs);
    socket.ping();
  }
}

function silent(endpoint: string, method: string, afterMs: number): ClientError {
  return new ClientError(
    { code: "timeout", endpoint, method, afterMs },
    `the event stream of ${endpoint} gave no ${method === "ping" ? "sign of life" : "event"} for ${afterMs} ms`,
  );
}

interface FrameExchange {
  readonly listener: Parameters<OpenEventSocket>[0];
  /** Checks the chain and subscribes. */
  readonly start: (socket: EventSocket) => Promise<void>;
  readonly lastSignMs: () => number;
  readonly lastEventMs: () => number;
}

interface Waiter {
  readonly resolve: (result: unknown) => void;
  readonly reject: (fault: Error) => void;
}

/** Requests and frames of one connection: gives answers to who waits for them, notices to the owner. */
function createFrameExchange(
  options: EventSessionOptions,
  deps: EventSessionDeps,
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
    } catch (fault) {
      if (!isAlreadySubscribed(fault)) throw fault;
    }
    subscriptions.set(id, query);
  };

  /** The node cut one subscription (we were slow, or it is stopping): take it up again or give up the connection. */
  const renew = (id: number, query: string, reason: string): void => {
    subscriptions.delete(id);
    deps.logger.warn("subscription was cut", { endpoint: options.endpoint, query, reason });
    subscribe(id, query).then(
      () => deps.onGap(`the node cut a subscription: ${reason}`),
      (fault: unknown) => session.abort(fault),
    );
  };

  const handle = (frame: EventFrame): void => {
    const waiter = waiting.get(frame.id);
    if (frame.kind === "answer") waiter?.resolve(frame.result);
    else if (frame.kind === "notice") deps.onNotice(frame.notice);
    else if (frame.kind === "ignored") deps.logger.debug("event stepped over", { what: frame.what });
    else if (waiter !== undefined) waiter.reject(refused(options.endpoint, frame.rpcCode, frame.data));
    else {
      const query = subscriptions.get(frame.id);
      if (query !== undefined) renew(frame.id, query, frame.data);
    }
    if (frame.kind === "notice" || frame.kind === "ignored") lastEventMs = deps.clock.monotonicMs();
  };

  return {
    listener: {
      onText: (text) => {
        sign();
        try {
          handle(decodeEventFrame(text, options.endpoint));
        } catch (fault) {
          session.abort(fault);
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

function checkChain(result: unknown, { endpoint, chainId }: EventSessionOptions): void {
  const found = decodeStatus(result, endpoint).chainId;
  if (chainId === undefined || found === chainId) return;
  throw new ClientError(
    { code: "wrong-chain", endpoint, expected: chainId, found },
    `${endpoint} serves chain ${found}, but ${chainId} was expected`,
  );
}

/** A query may still stand from before: then it is what we want. */
function isAlreadySubscribed(fault: unknown): boolean {
  return (
    fault instanceof ClientError && fault.facts.code === "rpc" && /already subscribed/.test(fault.facts.data)
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
