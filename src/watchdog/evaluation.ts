import { judgePrices, type PricesState } from "./conditions/prices-state.ts";
import { isNodeServed, type NodeOracleCalls, recordOracleCalls } from "./conditions/node-oracle-calls.ts";
import type { AlertRule } from "./conditions/condition.ts";
import { stepAlerts } from "./conditions/step-alerts.ts";
import type { BlockCounts } from "./ledger/block-counts.ts";
import type { LedgerStep } from "./ledger/advance.ts";
import type { NodeStep } from "./ledger/choose-step.ts";
import { blockTimeMs, countObservation, EMPTY_LEDGER, type Ledger, noteStart } from "./ledger/ledger.ts";
import { memoryView } from "./ledger/memory-view.ts";
import type { Notification } from "./notify/notification.ts";
import type { Observation, PricesPage, Seen } from "./observation.ts";
import { assess } from "./policy/assess.ts";
import type { Assessment, Policy } from "./policy/assessment.ts";
import { chainPolicy } from "./policy/policies.ts";
import type { SuccessRate } from "./policy/reward-tier.ts";
import type { WatchdogState } from "./state/state-store.ts";

/** Result of the evaluation of one poll of one validator. */
export interface Evaluation {
  /** The poll. While two nodes answer at one URL, the page of the node is an error. */
  readonly observation: Observation;
  readonly state: WatchdogState;
  readonly assessment: Assessment;
  readonly prices: PricesState;
  /** Input of the next evaluation. */
  readonly oracleCalls: NodeOracleCalls;
  /** Names of the nodes that restarted. */
  readonly restarted: readonly string[];
  /** Notifications of this poll. They are also in `state` when a webhook is configured. */
  readonly notifications: readonly Notification[];
}

export interface EvaluationOptions {
  readonly alerts: readonly AlertRule[];
  readonly intervalMs: number;
  /** Whether a webhook is configured. Without one, no notification becomes pending. */
  readonly queueNotifications: boolean;
  /** Absent for a validator whose votes are not followed. */
  readonly consensusAddress?: string | undefined;
  /** "chain": the parameters of the chain, while they can be read. */
  readonly policy: PolicyChoice;
}

/** The policy of the configuration, and whether the chain's own parameters replace it. */
export interface PolicyChoice {
  readonly policy: Policy;
  readonly fromChain: boolean;
}

/** What the poll loop remembers between polls. */
export interface PollMemory {
  readonly oracleCalls: NodeOracleCalls;
  /** The first poll of this process. */
  readonly isFirst: boolean;
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

/** Evaluates one poll: counts its blocks, applies the policy, and advances every alert. Pure. */
export function planEvaluation(
  state: WatchdogState,
  scraped: Observation,
  memory: PollMemory,
  options: EvaluationOptions,
): Evaluation {
  const { validator, atMs } = scraped;
  const before = state.ledgers.get(validator) ?? EMPTY_LEDGER;
  const counting = countObservation(memory.isFirst ? noteStart(before, atMs) : before, scraped, options);
  const { ledger, steps } = counting;
  const observation = withConflicts(scraped, counting.conflicts);
  const assessment = assessObservation(ledger, observation, options.policy);
  // At least three polls, so that one failed scrape of the node does not change the result.
  const windowMs = Math.max(MIN_WINDOW_MS, 3 * options.intervalMs);
  const oracleCalls = recordOracleCalls(memory.oracleCalls, callsOf(steps, counting.counts), atMs, windowMs);
  const prices = judgePrices(bestPrices(observation), isNodeServed(oracleCalls, atMs, windowMs));
  const own = alertsOf(state, validator);
  const stepped = stepAlerts(own, { observation, prices, chainId: ledger.chainId }, options.alerts);
  const pending = options.queueNotifications
    ? [...state.notifications, ...stepped.notifications]
    : state.notifications;
  return {
    observation,
    state: {
      ledgers: new Map([...state.ledgers, [validator, ledger]]),
      alerts: withAlerts(state, validator, stepped.alerts),
      notifications: pending.slice(-MAX_PENDING_NOTIFICATIONS),
    },
    assessment,
    prices,
    oracleCalls,
    restarted: steps.filter(({ step }) => step.restarted).map(({ node }) => node),
    notifications: stepped.notifications,
  };
}

/** Applies the policy to a ledger. The chain's parameters count while the chain shows them. */
function assessObservation(
  ledger: Ledger,
  { validator, atMs, chain }: Observation,
  { policy, fromChain }: PolicyChoice,
): Assessment {
  const revenue = chain.revenue.state === "up" ? chain.revenue.value : undefined;
  const paid = revenue?.programme === "revenue" ? revenue : undefined;
  const signed: SuccessRate | undefined =
    paid?.stats === undefined || paid.stats.inActiveSet === 0n
      ? undefined
      : { good: paid.stats.committedBlocks, total: paid.stats.inActiveSet };
  return assess({
    ledger: memoryView(validator, ledger),
    nowMs: atMs,
    policy: fromChain && paid !== undefined ? chainPolicy(paid.params) : policy,
    blockTimeMs: blockTimeMs(ledger),
    signed,
  });
}

/** Makes the page of a node with a conflict an error. */
function withConflicts(observation: Observation, conflicts: readonly string[]): Observation {
  if (conflicts.length === 0) return observation;
  const text =
    "two nodes answer in turn at this URL, so neither is counted; let sources.node point to one node only";
  const nodes = observation.nodes.map((node) =>
    conflicts.includes(node.name) && node.metrics.state === "up"
      ? {
          ...node,
          metrics: {
            state: "error",
            failure: { code: "two-nodes", text },
            durationMs: node.metrics.durationMs,
          } as const,
        }
      : node,
  );
  return { ...observation, nodes };
}

/** Prices of the sidecar that has most of them; an error when none can be read. */
function bestPrices({ nodes }: Observation): Seen<PricesPage> {
  const [first, ...others] = nodes.map(({ prices }) => prices);
  return others.reduce(
    (best, one) => (pricedPairs(one) > pricedPairs(best) ? one : best),
    first ?? { state: "not-configured" },
  );
}

function pricedPairs(prices: Seen<PricesPage>): number {
  return prices.state === "up" ? prices.value.pairs.length : -1;
}

/** The counted calls of a poll, with the time that they cover. */
function callsOf(steps: readonly NodeStep[], counts: BlockCounts): LedgerStep | undefined {
  const [first] = steps;
  return first && { ...first.step, counts };
}

/** Alerts of the validators share one map. The first name of a key is the validator; without one it is the default. */
function alertsOf({ alerts }: WatchdogState, validator: string): WatchdogState["alerts"] {
  const prefix = alertPrefix(validator);
  return new Map(
    [...alerts].flatMap(([key, alert]) =>
      isKeyOf(key, prefix) ? [[key.slice(prefix.length), alert] as const] : [],
    ),
  );
}

function withAlerts(
  { alerts }: WatchdogState,
  validator: string,
  own: WatchdogState["alerts"],
): WatchdogState["alerts"] {
  const prefix = alertPrefix(validator);
  const others = [...alerts].filter(([key]) => !isKeyOf(key, prefix));
  const added = [...own].map(([id, alert]) => [prefix + id, alert] as const);
  return new Map([...others, ...added]);
}

function alertPrefix(validator: string): string {
  return validator === "default" ? "" : `${validator}/`;
}

function isKeyOf(key: string, prefix: string): boolean {
  return prefix === "" ? !key.includes("/") : key.startsWith(prefix);
}
