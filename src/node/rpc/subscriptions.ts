import { errorText } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { matchesTags } from "../query-language/matches.ts";
import { type EventQuery, MAX_QUERY_LENGTH, parseQuery } from "../query-language/parse-query.ts";
import { QueryLanguageError } from "../query-language/scanner.ts";
import { errorResponse, resultResponse, type RpcId } from "./json-rpc.ts";
import type { PublishedEvent } from "./published-events.ts";
import { internal, RpcError } from "./rpc-error.ts";

/** Bounds of subscriptions. */
export interface SubscriptionLimits {
  readonly maxClients: number;
  readonly maxPerClient: number;
}

/** CometBFT's defaults. */
export const DEFAULT_SUBSCRIPTION_LIMITS: SubscriptionLimits = { maxClients: 100, maxPerClient: 5 };

/**
 * Sends a message to a client. Returns false, without sending, when the client reads too slowly. With `always` it sends
 * also to a slow client.
 */
export type Send = (message: JsonObject, always?: boolean) => boolean;

/** The subscriptions of one client. `subscribe` and the unsubscribes throw `RpcError` with CometBFT's text. */
export interface ClientSubscriptions {
  readonly subscribe: (id: RpcId, query: string) => void;
  readonly unsubscribe: (query: string) => void;
  readonly unsubscribeAll: () => void;
  /** Removes the client with its subscriptions. */
  readonly drop: () => void;
}

/** The subscriptions of all clients. */
export interface Subscriptions {
  readonly client: (send: Send) => ClientSubscriptions;
  /** Sends an event to every subscription that matches. Cancels the subscription of a client that reads too slowly. */
  readonly publish: (event: PublishedEvent) => void;
  readonly count: () => number;
}

interface Subscription {
  readonly id: RpcId;
  readonly query: EventQuery;
  readonly send: Send;
}

/** A client's subscriptions by the text of their query. */
type ClientQueries = Map<string, Subscription>;

/** Creates an empty set of subscriptions. */
export function createSubscriptions(limits: SubscriptionLimits): Subscriptions {
  const clients = new Set<ClientQueries>();
  const subscribedClients = (): number => [...clients].filter((queries) => queries.size > 0).length;
  return {
    count: () => [...clients].reduce((sum, queries) => sum + queries.size, 0),
    publish: (event) => {
      for (const queries of clients) publishTo(queries, event);
    },
    client: (send) => {
      const queries: ClientQueries = new Map();
      clients.add(queries);
      const subscribe = (id: RpcId, text: string): void => {
        // The order of CometBFT's checks. At the limit of clients, it also rejects a client that has subscriptions.
        if (subscribedClients() >= limits.maxClients)
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
    const notification = { query: text, data: event.data(), events: Object.fromEntries(event.tags) };
    // A notification has the id of its subscribe request, as in CometBFT.
    if (send(resultResponse(id, notification))) continue;
    // Like CometBFT, the node cancels the subscription of a slow client instead of dropping single events. The client
    // learns that it missed events and can subscribe again. The buffer for the client stays bounded.
    queries.delete(text);
    const reason = "subscription was canceled (reason: client is not pulling messages fast enough)";
    send(errorResponse(id, new RpcError("server", reason)), true);
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
