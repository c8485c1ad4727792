import { onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { ClientError } from "../errors.ts";
import type { EventSocket, OpenEventSocket } from "./event-socket.ts";
import {
  createFrameExchange,
  type FrameExchange,
  type FrameExchangeDeps,
  type FrameExchangeOptions,
} from "./frame-exchange.ts";

/** One connection's worth of following a chain. */
export interface EventSessionOptions extends FrameExchangeOptions {
  readonly pingIntervalMs: number;
  /** Without any sign of life for this long the connection counts as dead; longer than a ping interval. */
  readonly readDeadlineMs: number;
  /** Without any event for this long the subscriptions count as lost; longer than any block takes. */
  readonly eventDeadlineMs: number;
}

/** What a session needs, and whom it tells. */
export interface EventSessionDeps extends FrameExchangeDeps {
  readonly open: OpenEventSocket;
  readonly clock: Clock;
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
