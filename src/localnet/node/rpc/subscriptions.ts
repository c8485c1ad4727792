import { concat, utf8 } from "../../../platform/base/bytes.ts";
import { errorText } from "../../../platform/base/errors.ts";
import * as eventQuery from "../query-language/parse-query.ts";
import { errorResponse, type RpcId } from "./json-rpc.ts";
import { internal, RpcError } from "./method.ts";
import type { PublishedEvent } from "./result-json.ts";

export interface SubscriptionLimits extends EventLogLimits {
  readonly maxClients: number;
  readonly maxPerClient: number;
}

/**
 * CometBFT's default limits for clients and subscriptions. CometBFT buffers 200 events per subscription. This node instead keeps
 * one log of pending events for all subscriptions, with space for two full blocks from the largest mempool.
 */
export const DEFAULT_SUBSCRIPTION_LIMITS: SubscriptionLimits = {
  maxClients: 100,
  maxPerClient: 5,
  maxPendingEvents: 10_000,
  maxPendingBytes: 67_108_864,
};

/** A client's connection, to which notifications are sent. */
interface Outlet {
  /** Returns true if the connection can accept notifications. The connection's owner calls `resume` once it can accept more. */
  readonly isReady: () => boolean;
  /** Sends messages, each encoded as JSON, in a single write. */
  readonly send: (messages: readonly Uint8Array[]) => void;
}

/** A client's subscriptions. `subscribe` and the unsubscribe methods throw `RpcError` with CometBFT's message. */
export type ClientSubscriptions = ReturnType<Subscriptions["client"]>;

export type Subscriptions = ReturnType<typeof createSubscriptions>;

export interface SubscriptionDeps {
  readonly monotonicMs: () => number;
  /** Runs a task after all pending I/O events. */
  readonly schedule: (task: () => void) => void;
}

interface Subscription {
  readonly query: eventQuery.EventQuery;
  readonly id: RpcId;
  /** The start of each notification's JSON, which precedes `"data"`. */
  readonly head: Uint8Array;
  /** Log number of the first event that this subscription may receive. */
  readonly from: number;
}

interface Client {
  readonly outlet: Outlet;
  /** The client's subscriptions, keyed by query text. */
  readonly subscriptions: Map<string, Subscription>;
  /** Log number of the next event to send to this client. */
  next: number;
}

/** Approximate maximum time for which notifications may delay blocks and requests. */
const SLICE_MS = 5;
/** A client's turn to receive notifications ends at any of these limits. A full block's notification alone exceeds the byte limit. */
const TURN_EVENTS = 128;
const TURN_NOTIFICATIONS = 32;
const TURN_BYTES = 65_536;

export function createSubscriptions(limits: SubscriptionLimits, deps: SubscriptionDeps) {
  const log = createEventLog(limits);
  const clients = new Set<Client>();
  // Clients that have pending events and can receive them, in the order of their turns.
  const turns = new Set<Client>();
  let isScheduled = false;
  const subscribed = (): readonly Client[] => [...clients].filter((client) => client.subscriptions.size > 0);
  const schedule = (): void => {
    if (isScheduled || turns.size === 0) return;
    isScheduled = true;
    deps.schedule(() => {
      isScheduled = false;
      runSlice();
      schedule();
    });
  };
  const enqueue = (client: Client): void => {
    const isBehind = client.subscriptions.size > 0 && client.next < log.end();
    if (isBehind && client.outlet.isReady()) turns.add(client);
  };
  /** Gives clients turns in round-robin order, so that a client with few events does not wait for a client with many events. */
  const runSlice = (): void => {
    const endMs = deps.monotonicMs() + SLICE_MS;
    // Clients added again during this loop get another turn, because iterating over a Set visits new elements.
    for (const client of turns) {
      turns.delete(client);
      takeTurn(client, log);
      enqueue(client);
      if (deps.monotonicMs() >= endMs) break;
    }
    log.removeBefore(Math.min(log.end(), ...subscribed().map(({ next }) => next)));
  };
  const publish = (events: readonly PublishedEvent[]): void => {
    const oldest = log.append(events);
    for (const client of subscribed()) {
      if (client.next < oldest) cancelAll(client);
      else enqueue(client);
    }
    log.removeBefore(oldest);
    schedule();
  };
  return {
    count: (): number => subscribed().reduce((sum, { subscriptions }) => sum + subscriptions.size, 0),
    /**
     * Adds a block's events to the log, from which notifications are sent later, in slices. If a client lags behind by more than the
     * limits allow, cancels the client's subscriptions.
     */
    publish,
    client: (outlet: Outlet) => {
      const client: Client = { outlet, subscriptions: new Map(), next: log.end() };
      const { subscriptions } = client;
      clients.add(client);
      const subscribe = (id: RpcId, text: string): void => {
        // Like CometBFT, check the client limit first, and at the limit reject new subscriptions even from clients that already have some.
        if (subscribed().length >= limits.maxClients)
          throw internal(`max_subscription_clients ${limits.maxClients} reached`);
        if (subscriptions.size >= limits.maxPerClient) {
          throw internal(`max_subscriptions_per_client ${limits.maxPerClient} reached`);
        }
        if (text.length > eventQuery.MAX_QUERY_LENGTH) throw internal("maximum query length exceeded");
        const query = readQuery(text);
        if (subscriptions.has(text)) throw internal("already subscribed");
        if (subscriptions.size === 0) client.next = log.end();
        subscriptions.set(text, { query, id, head: notificationHead(id, text), from: log.end() });
      };
      const unsubscribe = (text: string): void => {
        readQuery(text);
        if (!subscriptions.delete(text)) throw internal("subscription not found");
      };
      const unsubscribeAll = (): void => {
        if (subscriptions.size === 0) throw internal("subscription not found");
        subscriptions.clear();
      };
      /** Resumes sending pending notifications, once the outlet is ready again. */
      const resume = (): void => {
        enqueue(client);
        schedule();
      };
      /** Removes the client and its subscriptions. */
      const drop = (): void => {
        clients.delete(client);
        turns.delete(client);
      };
      return { subscribe, unsubscribe, unsubscribeAll, resume, drop };
    },
  };
}

/** Runs a client's turn, which sends the pending events that match the client's subscriptions. */
function takeTurn(client: Client, log: Pick<EventLog, "at">): void {
  const { outlet, subscriptions } = client;
  const notifications: Uint8Array[] = [];
  let bytes = 0;
  const isFull = (): boolean => notifications.length >= TURN_NOTIFICATIONS || bytes >= TURN_BYTES;
  for (let events = 0; events < TURN_EVENTS && !isFull(); events++) {
    const event = log.at(client.next);
    if (event === undefined) break;
    for (const { query, head, from } of subscriptions.values()) {
      if (client.next < from || !eventQuery.matchesTags(query, event.tags())) continue;
      const notification = concat(head, event.tail());
      notifications.push(notification);
      bytes += notification.length;
    }
    client.next += 1;
  }
  if (notifications.length > 0) outlet.send(notifications);
}

/**
 * Returns the start of a notification's JSON, which {@link PublishedEvent.tail} completes. As in CometBFT, a notification repeats
 * the id of its subscribe request.
 */
function notificationHead(id: RpcId, query: string): Uint8Array {
  return utf8(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"query":${JSON.stringify(query)},`);
}

/**
 * Cancels a slow client's subscriptions. Like CometBFT, does not drop individual events, so that the client learns that it has
 * missed events and can subscribe again.
 */
function cancelAll({ outlet, subscriptions }: Client): void {
  const reason = "subscription was canceled (reason: client is not pulling messages fast enough)";
  const messages = [...subscriptions.values()].map(({ id }) =>
    utf8(errorResponse(id, new RpcError("server", reason))),
  );
  subscriptions.clear();
  outlet.send(messages);
}

function readQuery(text: string): eventQuery.EventQuery {
  try {
    return eventQuery.parseQuery(text);
  } catch (error) {
    if (!(error instanceof eventQuery.QueryLanguageError)) throw error;
    throw internal(`failed to parse query: ${errorText(error)}`);
  }
}

/** Limits for events that slow subscribers have not received. The newest block's events are never removed. */
interface EventLogLimits {
  readonly maxPendingEvents: number;
  readonly maxPendingBytes: number;
}

/** Log of the events that at least one subscriber has not received, numbered consecutively. */
type EventLog = ReturnType<typeof createEventLog>;

function createEventLog(limits: EventLogLimits) {
  let events: PublishedEvent[] = [];
  let first = 0;
  let bytes = 0;
  const end = (): number => first + events.length;
  return {
    /** Returns the number that the next event will have. */
    end,
    /** Returns the event with this number, or undefined if the event has been removed or does not exist yet. */
    at: (number: number): PublishedEvent | undefined => events[number - first],
    /** Adds a block's events to the log. Returns the number of the oldest event that may remain in the log under the limits. */
    append: (added: readonly PublishedEvent[]): number => {
      let oldest = first;
      const newest = end();
      events.push(...added);
      for (const { sizeBytes } of added) bytes += sizeBytes;
      let left = bytes;
      while (oldest < newest && (end() - oldest > limits.maxPendingEvents || left > limits.maxPendingBytes)) {
        left -= events[oldest - first]?.sizeBytes ?? 0;
        oldest += 1;
      }
      return oldest;
    },
    /** Removes all events whose number is below `number`. */
    removeBefore: (number: number) => {
      const removed = events.slice(0, Math.max(0, number - first));
      for (const { sizeBytes } of removed) bytes -= sizeBytes;
      events = events.slice(removed.length);
      first += removed.length;
    },
  };
}
