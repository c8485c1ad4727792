import { onAbort } from "../../../platform/base/abort.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { ClientError } from "../errors.ts";
import type { EventSocket, OpenEventSocket } from "./event-socket.ts";
import {
  createFrameExchange,
  type FrameExchange,
  type FrameExchangeDeps,
  type FrameExchangeOptions,
} from "./frame-exchange.ts";

/** Settings of one connection. */
export interface EventSessionOptions extends FrameExchangeOptions {
  readonly pingIntervalMs: number;
  /** Longest time without any frame, pongs included. Must exceed `pingIntervalMs`. */
  readonly readDeadlineMs: number;
  /** Longest time without an event. Must exceed the time between two blocks. */
  readonly eventDeadlineMs: number;
}

export interface EventSessionDeps extends FrameExchangeDeps {
  readonly open: OpenEventSocket;
  readonly clock: Clock;
}

/** Connects, checks the chain id, subscribes, and follows until the connection ends. Always rejects with the reason. */
export async function runEventSession(
  options: EventSessionOptions,
  deps: EventSessionDeps,
  signal: AbortSignal,
): Promise<never> {
  const session = new AbortController();
  const unwatch = onAbort(signal, (reason) => session.abort(reason));
  const exchange = createFrameExchange(options, deps, session);
  let socket: EventSocket | undefined;
  try {
    socket = await deps.open(exchange.listener, session.signal);
    await exchange.start(socket);
    return await keepAlive(socket, exchange, { options, deps, signal: session.signal });
  } finally {
    unwatch();
    session.abort(new ClientError({ code: "closed" }, "the session is over"));
    socket?.terminate();
  }
}

/**
 * Sends pings and throws `timeout` when the connection or its subscriptions are dead.
 *
 * Two deadlines are necessary. After a network failure no close frame arrives, and only missing pongs reveal it. A node
 * may also respond to pings but publish nothing, for instance because it stopped syncing. Only missing events reveal that.
 * With a subscription to block headers each block brings an event, so the second deadline must exceed the block time.
 */
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
    if (nowMs - exchange.lastFrameMs() > options.readDeadlineMs)
      throw timeoutError(options.endpoint, "ping", options.readDeadlineMs);
    if (nowMs - exchange.lastEventMs() > options.eventDeadlineMs)
      throw timeoutError(options.endpoint, "event", options.eventDeadlineMs);
    socket.ping();
  }
}

function timeoutError(endpoint: string, method: "ping" | "event", afterMs: number): ClientError {
  return new ClientError(
    { code: "timeout", endpoint, method, afterMs },
    `the event stream of ${endpoint} received no ${method === "ping" ? "data" : "event"} for ${afterMs} ms`,
  );
}
