import { errorText } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { matchesTags } from "../query-language/matches.ts";
import { type EventQuery, MAX_QUERY_LENGTH, parseQuery } from "../query-language/parse-query.ts";
import { QueryLanguageError } from "../query-language/scanner.ts";
import { badAnswer, goodAnswer, type RpcId } from "./json-rpc.ts";
import type { PublishedEvent } from "./published-events.ts";
import { internal, RpcError } from "./rpc-error.ts";

/** Bounds of subscriptions; CometBFT's defaults. */
export interface SubscriptionLimits {
  readonly maxClients: number;
  readonly maxPerClient: number;
}

/** CometBFT's defaults. */
export const DEFAULT_SUBSCRIPTION_LIMITS: SubscriptionLimits = { maxClients: 100, maxPerClient: 5 };

/** Takes a notice; false when the client does not read fast enough. The last word to a client is taken in any case. */
export type Send = (message: JsonObject, isLastWord?: boolean) => boolean;

/** One client's subscriptions. Every method throws `RpcError` with CometBFT's text. */
export interface ClientSubscriptions {
  readonly subscribe: (id: RpcId, query: string) => void;
  readonly unsubscribe: (query: string) => void;
  readonly unsubscribeAll: () => void;
  /** Forgets the client. */
  readonly drop: () => void;
}

/** All subscriptions of the RPC. */
export interface Subscriptions {
  readonly client: (send: Send) => ClientSubscriptions;
  /** Hands an event to everyone whose query matches. A client that lags loses that subscription, and is told. */
  readonly publish: (event: PublishedEvent) => void;
  readonly count: () => number;
}

interface Subscription {
  readonly id: RpcId;
  readonly query: EventQuery;
  readonly send: Send;
}

type ClientQueries = Map<string, Subscription>;

/** Creates an empty set of subscriptions. */
export function createSubscriptions(limits: SubscriptionLimits): Subscriptions {
  const clients = new Set<ClientQueries>();
  const subscribed = (): number => [...clients].filter((queries) => queries.size > 0).length;
  return {
    count: () => [...clients].reduce((sum, queries) => sum + queries.size, 0),
    publish: (event) => {
      for (const queries of clients) publishTo(queries, event);
    },
    client: (send) => {
      const queries: ClientQueries = new Map();
      clients.add(queries);
      const subscribe = (id: RpcId, text: string): void => {
        if (subscribed() >= limits.maxClients)
          throw internal(`max_subscription_clients ${limits.maxClients} reached`);
        if (queries.size >= limits.maxPerClient) {
          throw internal(`max_subscriptions_per_client ${limits.maxPerClient} reached`);
        }
        if (text.length > MAX_QUERY_LENGTH) throw internal("maximum query length exceeded");
        const query = readQuery(text);
        if (queries.has(text)) throw internal("already subscribed");
        queries.set(text, { id, query, send });
      };
      const unsubscribe = (text: string): void => {
        readQuery(text);
        if (!queries.delete(text)) throw internal("subscription not found");
      };
      const unsubscribeAll = (): void => {
        if (queries.size === 0) throw internal("subscription not found");
        queries.clear();
      };
      return { subscribe, unsubscribe, unsubscribeAll, drop: () => void clients.delete(queries) };
    },
  };
}

function publishTo(queries: ClientQueries, event: PublishedEvent): void {
  for (const [text, { id, query, send }] of queries) {
    if (!matchesTags(query, event.tags)) continue;
    const notice = { query: text, data: event.data(), events: Object.fromEntries(event.tags) };
    if (send(goodAnswer(id, notice))) continue;
    queries.delete(text);
    const reason = "subscription was canceled (reason: client is not pulling messages fast enough)";
    send(badAnswer(id, new RpcError("server", reason)), true);
  }
}

function readQuery(text: string): EventQuery {
  try {
    return parseQuery(text);
  } catch (error) {
    if (!(error instanceof QueryLanguageError)) throw error;
    throw internal(`failed to parse query: ${errorText(error)}`);
  }
}
