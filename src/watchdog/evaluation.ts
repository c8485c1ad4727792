import { bad } from "../base/result.ts";
import type { AlertRule } from "./conditions/condition.ts";
import { isNodeServed, type NodeOracleCalls, recordOracleCalls } from "./conditions/node-oracle-calls.ts";
import { judgePrices, type PricesState } from "./conditions/prices-state.ts";
import { stepAlerts } from "./conditions/step-alerts.ts";
import { countReading } from "./ledger/ledger.ts";
import type { Notification } from "./notify/notification.ts";
import type { Poll } from "./sources/poller.ts";
import type { WatchdogState } from "./state/state-store.ts";

/** Result of the evaluation of one poll. */
export interface Evaluation {
  /** The poll. While two nodes answer at one URL, the scrape of the node is a failure. */
  readonly poll: Poll;
  readonly state: WatchdogState;
  readonly prices: PricesState;
  /** Input of the next evaluation. */
  readonly oracleCalls: NodeOracleCalls;
  /** The poll showed a restart of the node. */
  readonly nodeRestarted: boolean;
  /** Notifications of this poll. They are also in `state` when a webhook is configured. */
  readonly notifications: readonly Notification[];
}

export interface EvaluationOptions {
  readonly alerts: readonly AlertRule[];
  readonly intervalMs: number;
  /** Whether a webhook is configured. Without one, no notification becomes pending. */
  readonly queueNotifications: boolean;
}

/**
 * Limit of the queue. It is reached when the receiver is down while an alert fires and resolves often. The oldest
 * notifications are dropped.
 */
const MAX_PENDING_NOTIFICATIONS = 100;

/**
 * Age up to which an oracle call shows that the sidecar answers the node. Long enough for several blocks, and short
 * compared with the five minutes of the alert.
 */
const MIN_WINDOW_MS = 30_000;

/** Evaluates one poll: counts its blocks, decides whether there are prices, and advances every alert. Pure. */
export function planEvaluation(
  state: WatchdogState,
  scraped: Poll,
  previousCalls: NodeOracleCalls,
  options: EvaluationOptions,
): Evaluation {
  const { node, atMs } = scraped;
  // A failed scrape of the node changes nothing in the ledger: the next reading covers the time in between.
  const counting = node.outcome.ok ? countReading(state.ledger, node.outcome.value, atMs) : undefined;
  const ledger = counting?.ledger ?? state.ledger;
  const poll = ledger.conflict === undefined || !node.outcome.ok ? scraped : withTwoNodes(scraped);
  // At least three polls, so that one failed scrape of the node does not change the result.
  const windowMs = Math.max(MIN_WINDOW_MS, 3 * options.intervalMs);
  const oracleCalls = recordOracleCalls(previousCalls, counting?.step, atMs, windowMs);
  const prices = judgePrices(poll.prices.outcome, isNodeServed(oracleCalls, atMs, windowMs));
  const { alerts, notifications } = stepAlerts(state.alerts, { poll, prices, ledger }, options.alerts);
  const pending = options.queueNotifications
    ? [...state.notifications, ...notifications]
    : state.notifications;
  return {
    poll,
    state: { ledger, alerts, notifications: pending.slice(-MAX_PENDING_NOTIFICATIONS) },
    prices,
    oracleCalls,
    nodeRestarted: counting?.step?.restarted ?? false,
    notifications,
  };
}

/** Makes the scrape of the node a failure. */
function withTwoNodes(poll: Poll): Poll {
  const text =
    "two nodes answer in turn at this URL, so neither is counted; let sources.node point to one node only";
  return { ...poll, node: { ...poll.node, outcome: bad({ code: "two-nodes", text }) } };
}
