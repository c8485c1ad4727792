import { pause } from "../../../platform/base/abort.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { errorText } from "../../../platform/base/errors.ts";
import { backoffMs } from "../../../platform/base/waits.ts";
import type { Endpoint, NetworkOptions } from "../../../platform/http/remote.ts";
import type { ChainClientDeps } from "../create-chain-client.ts";
import { parseEndpoints } from "../endpoint.ts";
import { createEventSocketOpener, runEventSession } from "./event-session.ts";
import { type ChainSubscription, createNoticeQueue } from "./subscription.ts";

export interface SubscriptionOptions {
  /** Endpoints to connect to (at least one). Only one endpoint is used at a time. After a failure, the next endpoint is tried. */
  readonly endpoints: readonly Endpoint[];
  /**
   * Returns the endpoints' names, best first (see `EndpointPool.order`). The subscription moves to the best endpoint once that
   * endpoint has been the best for `moveAfterMs`. By default, it uses the order of `endpoints` and never moves.
   */
  readonly order?: () => readonly string[];
  /** Id of the chain that every endpoint must serve, or undefined to accept any chain. */
  readonly chainId: string | undefined;
  /** CometBFT event queries, at most 512 characters each. A node accepts five per connection (`max_subscriptions_per_client`). */
  readonly queries: readonly string[];
  readonly limits?: Partial<SubscriptionLimits>;
  readonly network?: NetworkOptions;
}

const DEFAULT_SUBSCRIPTION_LIMITS = {
  deadlineMs: 10_000,
  // CometBFT closes a connection after 30 s of silence. With these defaults, the client detects a dead connection within 15 s.
  pingIntervalMs: 5_000,
  readDeadlineMs: 15_000,
  eventDeadlineMs: 30_000,
  /** Maximum number of notices waiting for the reader. */
  queueCapacity: 10_000,
  /**
   * Time for which another endpoint must be the best endpoint before the subscription moves to it. The delay prevents a move
   * because of a single late block.
   */
  moveAfterMs: 20_000,
  /** Backoff between connection attempts, kept short so that events arrive within seconds once an endpoint is back. */
  backoff: { minMs: 100, baseMs: 500, maxMs: 2_000 },
};

export type SubscriptionLimits = typeof DEFAULT_SUBSCRIPTION_LIMITS;

const SOCKET_LIMITS = { connectTimeoutMs: 2_500, maxFrameBytes: 64 * 1024 * 1024 };

/** Creates a subscription whose first connection is opened by `run`. Throws `bad-endpoint` for an invalid endpoint URL. */
export function createWebSocketSubscription(
  options: SubscriptionOptions,
  deps: Pick<ChainClientDeps, "clock" | "random" | "logger">,
): ChainSubscription {
  const limits = { ...DEFAULT_SUBSCRIPTION_LIMITS, ...options.limits };
  const routes = parseEndpoints(options.endpoints, options.network).map((endpoint) => ({
    name: endpoint.name,
    open: createEventSocketOpener(endpoint, SOCKET_LIMITS),
  }));
  const queue = createNoticeQueue(limits.queueCapacity);
  let isConnected = false;
  let hadConnection = false;
  let failuresInARow = 0;

  const follow = (route: (typeof routes)[number], signal: AbortSignal): Promise<string> =>
    runEventSession(
      { ...limits, endpoint: route.name, chainId: options.chainId, queries: options.queries },
      {
        clock: deps.clock,
        logger: deps.logger,
        open: route.open,
        findBetter: createBetterFinder(route.name, { order: options.order, ...limits, ...deps }),
        onReady: () => {
          // Send `missed` only after all queries have been subscribed to. From now on, no event is lost, so a reader that reads the
          // state upon `missed` notices every change that it missed.
          if (hadConnection) queue.offer({ kind: "missed", reason: "the event stream was interrupted" });
          hadConnection = true;
          isConnected = true;
          deps.logger.info("event stream connected", { endpoint: route.name });
          queue.offer({ kind: "connected" });
        },
        onNotice: (notice) => {
          // A connection alone does not reset the backoff, because a node may accept connections and drop each one immediately.
          failuresInARow = 0;
          queue.offer(notice);
        },
        onGap: (reason) => queue.offer({ kind: "missed", reason }),
      },
      signal,
    );

  const run = async (signal: AbortSignal): Promise<void> => {
    const picker = createRoutePicker(routes, options.order);
    for (let route = picker.next(); route !== undefined; route = picker.next()) {
      try {
        const better = await follow(route, signal);
        picker.restart();
        deps.logger.info("event stream moves to a better endpoint", { from: route.name, to: better });
        continue;
      } catch (error) {
        if (signal.aborted) return;
        // Log one warning per outage, not one per attempt.
        const fields = { endpoint: route.name, error: errorText(error) };
        deps.logger[failuresInARow < routes.length ? "warn" : "debug"]("event stream failed", fields);
      } finally {
        isConnected = false;
      }
      const delayMs = backoffMs(failuresInARow, limits.backoff, deps.random);
      failuresInARow += 1;
      await pause(delayMs, deps.clock, signal);
      if (signal.aborted) return;
    }
  };

  return { run, next: queue.next, isConnected: () => isConnected };
}

/**
 * Creates a picker that chooses the route for each connection attempt. The picker returns every route once before it returns a
 * route again. `order` returns endpoint names, best first.
 */
export function createRoutePicker<T extends { readonly name: string }>(
  routes: readonly T[],
  order: SubscriptionOptions["order"] | undefined,
) {
  const tried = new Set<T>();
  return {
    /** Forgets which routes have been tried, so that every route can be tried again. */
    restart: (): void => tried.clear(),
    /**
     * Returns the best route that has not been tried in this round. After all routes have been tried, starts a new round. Returns
     * undefined if there are no routes.
     */
    next: (): T | undefined => {
      if (tried.size === routes.length) tried.clear();
      const rest = routes.filter((route) => !tried.has(route));
      const ordered = (order?.() ?? []).flatMap((name) => rest.find((route) => route.name === name) ?? []);
      const route = ordered[0] ?? rest[0];
      if (route !== undefined) tried.add(route);
      return route;
    },
  };
}

interface BetterFinderOptions {
  readonly order: SubscriptionOptions["order"] | undefined;
  readonly moveAfterMs: number;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** Creates a function that returns a better endpoint than `name`, if this endpoint has been the best endpoint for `moveAfterMs`. */
export function createBetterFinder(
  name: string,
  { order, moveAfterMs, clock }: BetterFinderOptions,
): () => string | undefined {
  let [best, sinceMs] = [name, 0];
  return () => {
    const [first = name] = order?.() ?? [];
    if (first !== best) [best, sinceMs] = [first, clock.monotonicMs()];
    return best !== name && clock.monotonicMs() - sinceMs >= moveAfterMs ? best : undefined;
  };
}
