import { type BackoffOptions, backoffMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { type Endpoint, parseEndpoint } from "../endpoints/endpoint.ts";
import { type EventSessionOptions, runEventSession } from "./event-session.ts";
import { createEventSocketOpener, type OpenEventSocket } from "./event-socket.ts";
import { createNoticeQueue } from "./notice-queue.ts";
import type { ChainSubscription } from "./subscription.ts";

/** What to follow, and where. */
export interface SubscriptionOptions {
  /** Connected to one at a time, the next one after each failure. At least one. */
  readonly endpoints: readonly Endpoint[];
  readonly chainId: string | undefined;
  /** Texts in CometBFT's query language; a node takes at most 5 from one connection (`max_subscriptions_per_client`). */
  readonly queries: readonly string[];
  readonly limits?: Partial<SubscriptionLimits>;
}

/** Bounds of a subscription. */
export interface SubscriptionLimits extends Omit<EventSessionOptions, "endpoint" | "chainId" | "queries"> {
  readonly connectTimeoutMs: number;
  readonly maxFrameBytes: number;
  /** Notices held for the reader. */
  readonly queueCapacity: number;
  /** Wait before connecting again. */
  readonly backoff: BackoffOptions;
}

/** Defaults of {@link SubscriptionLimits}; CometBFT itself gives up a connection that is silent for 30 s. */
const DEFAULT_SUBSCRIPTION_LIMITS: SubscriptionLimits = {
  connectTimeoutMs: 5_000,
  deadlineMs: 10_000,
  pingIntervalMs: 5_000,
  readDeadlineMs: 15_000,
  eventDeadlineMs: 120_000,
  maxFrameBytes: 64 * 1024 * 1024,
  queueCapacity: 10_000,
  backoff: { minMs: 100, baseMs: 500, maxMs: 15_000 },
};

/** What a subscription needs from its surroundings. */
export interface SubscriptionDeps {
  readonly clock: Clock;
  /** gives [0, 1) */
  readonly random: () => number;
  readonly logger: Logger;
}

/** A subscription with its own figures. */
export interface WebSocketSubscription extends ChainSubscription {
  /** Connections that were lost or could not be made, since the start. */
  readonly failures: () => number;
  /** Notices dropped because the reader was slow, since the start. */
  readonly dropped: () => number;
}

interface Route {
  readonly name: string;
  readonly open: OpenEventSocket;
}

/** Creates a subscription; nothing is opened before `run`. Throws `bad-endpoint`. */
export function createWebSocketSubscription(
  options: SubscriptionOptions,
  deps: SubscriptionDeps,
): WebSocketSubscription {
  const limits = { ...DEFAULT_SUBSCRIPTION_LIMITS, ...options.limits };
  const routes: readonly Route[] = options.endpoints.map((endpoint) => {
    const parsed = parseEndpoint(endpoint);
    return { name: parsed.name, open: createEventSocketOpener(parsed, limits) };
  });
  const queue = createNoticeQueue(limits.queueCapacity);
  let isConnected = false;
  let hadConnection = false;
  let failures = 0;
  let failuresInARow = 0;

  const follow = (route: Route, signal: AbortSignal): Promise<never> =>
    runEventSession(
      { ...limits, endpoint: route.name, chainId: options.chainId, queries: options.queries },
      {
        clock: deps.clock,
        logger: deps.logger,
        open: route.open,
        onReady: () => {
          if (hadConnection) queue.offer({ kind: "missed", reason: "the event stream was interrupted" });
          hadConnection = true;
          isConnected = true;
          deps.logger.info("event stream is connected", { endpoint: route.name });
          queue.offer({ kind: "connected" });
        },
        onNotice: (notice) => {
          failuresInARow = 0;
          queue.offer(notice);
        },
        onGap: (reason) => queue.offer({ kind: "missed", reason }),
      },
      signal,
    );

  const run = async (signal: AbortSignal): Promise<void> => {
    for (const route of cycle(routes)) {
      try {
        await follow(route, signal);
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        deps.logger.warn("event stream failed", { endpoint: route.name, error: errorText(error) });
      } finally {
        isConnected = false;
      }
      const waitMs = backoffMs(failuresInARow, limits.backoff, deps.random);
      failuresInARow += 1;
      await deps.clock.sleep(waitMs, signal).catch(() => {});
      if (signal.aborted) return;
    }
  };

  return {
    run,
    next: queue.next,
    isConnected: () => isConnected,
    failures: () => failures,
    dropped: queue.dropped,
  };
}

/** The entries over and over; ends at once when there is none. */
function* cycle<T>(entries: readonly T[]): Generator<T> {
  while (entries.length > 0) yield* entries;
}
