import type { TxWindow } from "../../cosmos/client/tx/tx-types.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Dec18 } from "../../platform/base/decimal.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { type ChangeSignal, createChangeSignal } from "../../platform/base/waits.ts";
import type { RelayerMetrics } from "../result/relayer-metrics.ts";
import type { BlockLimits, LocalQueries } from "../chain/local-queries.ts";
import type { Market } from "../gas-budget/create-market.ts";
import type { GasPricePolicy } from "../../cosmos/client/tx/tx-queries.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import { asAnswered } from "../registry/query-state.ts";
import type { Registry, HeightSignal } from "../registry/registry.ts";
import type { AttemptSink } from "../state/attempt.ts";
import {
  type BatchBudget,
  type BlockBudget,
  createBatchBudget,
  createBlockBudget,
  createGasEstimates,
  createGasMargin,
  type GasEstimates,
  type GasMargin,
} from "./budgets.ts";
import { createPipeline, type Entry, type Pipeline, sentAtOf } from "./pipeline.ts";
import { type BatchLimits, capacityFor } from "./plan.ts";
import type { MarketBudget } from "../gas-budget/budget.ts";
import type { Urgency, UrgencyRule } from "../gas-budget/urgency.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { type ExpectedResult, type ResultOutcome, toAttempt } from "../result/proven-result.ts";
import { createServiceOrder, type Need, type ServiceOrder, sortByNeed } from "./service-order.ts";
import { gasItem, type Prepared, type SentTransaction } from "./transaction.ts";
import type { FundsWatch, SubmitGate, Upkeep, PaymentSink } from "../result/submit-gate.ts";

export interface SubmitterOptions {
  /** Type URL of `MsgSubmitQueryResult`, which contains the chain's name. */
  readonly submitTypeUrl: string;
  /** Ratio of a transaction's gas limit to its expected gas, per mille. */
  readonly gasAdjustmentPermille: bigint;
  readonly limits: BatchLimits;
  /** Share of a block that all transactions in flight may use together, per mille. */
  readonly blockSharePermille: bigint;
  /** Number of configured connections, at least 1, among which a block's gas is divided. */
  readonly connections: number;
  readonly gasPrice: GasPricePolicy;
}

export interface SubmitterDeps {
  readonly window: TxWindow;
  readonly gate: SubmitGate;
  readonly funds: FundsWatch;
  /** Work that needs exclusive use of the account while nothing is in flight. */
  readonly upkeep?: Upkeep;
  readonly attempts: AttemptSink;
  /** Receives each transaction that paid a fee. */
  readonly payments?: PaymentSink;
  readonly registry: Pick<Registry, "state" | "states" | "reread" | "resetSignal">;
  readonly height: HeightSignal;
  readonly readBlockLimits: (signal: AbortSignal) => Promise<BlockLimits>;
  readonly readMarketState: LocalQueries["marketState"];
  readonly market: Market;
  readonly urgency: Urgency;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: RelayerMetrics;
}

/** State that the submitter's functions share, except for each result's stage, which only the pipeline stores. */
export interface SubmitterState {
  readonly options: SubmitterOptions;
  readonly deps: SubmitterDeps;
  readonly pipeline: Pipeline;
  readonly order: ServiceOrder;
  /** Look-ahead, in blocks, that each connection's durations require, by connection id. */
  readonly lookAheads: Map<string, bigint>;
  readonly queries: QueryMarks;
  readonly gas: GasEstimates;
  readonly margin: GasMargin;
  readonly market: Market;
  readonly block: BlockBudget;
  /** Gas and size limits of one transaction, which shrink while the node refuses transactions as too large. */
  readonly batch: BatchBudget;
  /** Simulated transactions, in the order of their plans. */
  prepared: readonly Prepared[];
  /** Transactions in flight, in ascending order of their account sequences. */
  sent: readonly SentTransaction[];
  /** Keys of included client updates, newest last. */
  readonly included: Set<string>;
  readonly pace: Pace;
  /** Changes when results have been offered, prepared or requeued. */
  readonly work: ChangeSignal;
}

/** The ids of queries that need special treatment, even if they have no result in the pipeline. */
interface QueryMarks {
  /**
   * Groups of queries whose transaction failed for an unknown reason or because of another result, by query id. Each group is tried
   * in a separate transaction.
   */
  readonly isolated: Map<bigint, string>;
  /** TX queries with an unsent result, whose later results from the same search must not be sent either. */
  readonly withdrawn: Set<bigint>;
  /** Queries whose last results must be read from the chain, because another relayer has sent results. */
  readonly unread: Set<bigint>;
}

/** State that determines when transactions may be sent, and the durations of sending. */
interface Pace {
  marketReads: number;
  /** True if the fee market has been unreadable for so long that its state is unknown. */
  isMarketLost: boolean;
  /** The first block that the submitter saw. */
  firstBlock: { readonly height: bigint; readonly atMs: number } | undefined;
  /** The last price read, and the local height at the time of the read. */
  price: { readonly height: bigint; readonly gasPrice: Dec18 } | undefined;
  /** Durations of the last simulations and the last broadcasts, ms. */
  simulateMs: number;
  broadcastMs: number;
  /** Nothing is sent below this height, unless the price is known to exceed the refused price `offered`. */
  heldBelow: bigint;
  /** The gas price offered in the last broadcast. */
  offered: Dec18;
  /** Local height before which no transaction is simulated, because the node expected a different account sequence. */
  simulatedFrom: bigint;
  /** Monotonic time before which nothing is sent, ms. */
  stoppedUntilMs: number;
  /** Reason why no transaction is sent; undefined if sending is not stopped. */
  stopped: string | undefined;
  /** Monotonic time since which no broadcast or simulation has reached a node, ms; undefined if the last request reached a node. */
  muteSinceMs: number | undefined;
}

/** Creates the state of a submitter without results or transactions. */
export function createSubmitterState(options: SubmitterOptions, deps: SubmitterDeps): SubmitterState {
  const { market } = deps;
  const state: SubmitterState = {
    options,
    deps,
    pipeline: createPipeline(),
    order: createServiceOrder(),
    lookAheads: new Map(),
    queries: { isolated: new Map(), withdrawn: new Set(), unread: new Set() },
    gas: createGasEstimates(),
    margin: createGasMargin(options.gasAdjustmentPermille),
    market,
    block: createBlockBudget(options, () => budgetOf(state)),
    batch: createBatchBudget(options.limits),
    prepared: [],
    sent: [],
    included: new Set(),
    pace: {
      marketReads: 0,
      isMarketLost: false,
      firstBlock: undefined,
      price: undefined,
      simulateMs: 0,
      broadcastMs: 0,
      heldBelow: 0n,
      offered: 0n,
      simulatedFrom: 0n,
      stoppedUntilMs: 0,
      stopped: undefined,
      muteSinceMs: undefined,
    },
    work: createChangeSignal(deps.clock),
  };
  return state;
}

/** Returns the fee market's budget, raised if urgent results and the gas in flight need more. */
function budgetOf(state: SubmitterState): MarketBudget | undefined {
  const budget = state.market.budget();
  if (budget === undefined || !state.deps.urgency.hasRules) return budget;
  const { pipeline, options, batch, gas } = state;
  const waiting = [...pipeline.expected(), ...unsent(state)];
  const ruleOf = urgentRules(state);
  const urgent = waiting.filter(({ result }) => ruleOf(result.query) !== undefined);
  if (urgent.length === 0) return budget;
  const needed = capacityFor(urgent, options.connections, {
    limits: batch.limits(),
    gasOf: (entry) => gas.estimate(gasItem(entry)),
  });
  return { ...budget, gas: maxInt(budget.gas, needed + gasInFlight(state)) };
}

/** Returns the rule that makes a query's next unsent result urgent; undefined if the result is not urgent. */
export function urgentRule(state: SubmitterState, query: RegisteredQuery): UrgencyRule | undefined {
  return urgentRules(state)(query);
}

/** Returns a variant of {@link urgentRule} that reads the price only once. The variant is valid until the next `await`. */
export function urgentRules({
  deps,
  market,
}: SubmitterState): (query: RegisteredQuery) => UrgencyRule | undefined {
  if (!deps.urgency.hasRules) return () => undefined;
  const [height, nowMs] = [deps.height.now(), deps.clock.nowMs()];
  const now = { height, price: market.latestPrice(), ceiling: market.ceiling(), nowMs };
  return (query) => deps.urgency.ruleOf(deps.registry.state(query.id)?.query ?? query, now);
}

/** Returns true if the price exceeds the ceiling, so that only urgent results may be sent. */
export function isAboveCeiling({ market }: Pick<SubmitterState, "market">): boolean {
  return market.budget()?.phase === "above-ceiling";
}

/** Returns the {@link Need} of an unsent result, given the number of its query's unsent results that precede it. */
function needOf({ deps, order, pipeline }: SubmitterState, query: RegisteredQuery, waiting: number): Need {
  // `query` is from the time of the result's read, and the query may have been answered since then.
  const current = deps.registry.state(query.id);
  const sentAt = sentAtOf(pipeline.ofQuery(query.id));
  const count = waiting + (sentAt === undefined ? 0 : 1);
  const before = count === 0 ? undefined : { count, sentAt: sentAt ?? deps.height.now() };
  return order.needOf(current === undefined ? query : asAnswered(current), before);
}

/**
 * Sorts results: urgent results by priority, then all other results by need. Each further result of a KV query takes another turn,
 * so that other queries have their turn before the query is read again.
 */
export function byNeed<T extends { readonly result: ExpectedResult }>(
  state: SubmitterState,
  items: readonly T[],
): readonly T[] {
  const before = new Map<bigint, number>();
  const sorted = sortByNeed(items, ({ result: { query } }) => {
    const waiting = before.get(query.id) ?? 0;
    if (query.type === "kv") before.set(query.id, waiting + 1);
    return needOf(state, query, waiting);
  });
  if (!state.deps.urgency.hasRules) return sorted;
  const ruleOf = urgentRules(state);
  const ranked = sorted.map((item) => ({ item, rank: ruleOf(item.result.query)?.priority ?? -1 }));
  // The sort is stable, so equal ranks stay in order of need.
  return ranked.toSorted((a, b) => b.rank - a.rank).map(({ item }) => item);
}

/** Records whether a request reached a node, i.e. whether a node accepted or evaluated the request. */
export function recordReach({ pace, deps }: SubmitterState, hasReached: boolean): void {
  pace.muteSinceMs = hasReached ? undefined : (pace.muteSinceMs ?? deps.clock.monotonicMs());
}

/** Returns all proven results that have not been broadcast yet, planned results first. */
export function unsent({ pipeline }: SubmitterState): readonly Entry[] {
  return [...pipeline.planned(), ...pipeline.queued()];
}

/** A result's share of its transaction's cost. */
export interface PaidShare {
  readonly txHash: string;
  readonly gas: bigint;
  readonly fee: bigint;
}

/** Resolves a result and reports its outcome. Has no effect on a result that is already resolved. */
export function resolve(state: SubmitterState, entry: Entry, outcome: ResultOutcome, paid?: PaidShare): void {
  if (entry.stage.kind === "resolved") return;
  const { query } = entry.result;
  state.pipeline.apply([entry], { kind: "resolve", outcome });
  if (outcome.kind === "included")
    state.order.recordIncluded(state.deps.registry.state(query.id)?.query ?? query);
  else if (outcome.kind === "refused") state.order.recordFailed(query.id);
  recordOutcome(state, entry, outcome, paid);
}

export function recordOutcome(
  { deps }: SubmitterState,
  { result, simulations }: Pick<Entry, "result" | "simulations">,
  outcome: ResultOutcome,
  paid?: PaidShare,
): void {
  const { query, at, started, dueHeight } = result;
  const ended = toAttempt(outcome);
  if (ended.outcome === "redundant")
    deps.metrics.results.inc({ connection_id: query.connectionId, outcome: "redundant" });
  deps.attempts.note([
    {
      queryId: query.id,
      connectionId: query.connectionId,
      owner: query.owner,
      type: query.type,
      startedAtMs: started.wallMs,
      durationMs: deps.clock.monotonicMs() - started.monotonicMs,
      dueHeight,
      remoteHeight: at.height,
      txHash: paid?.txHash,
      outcome: ended.outcome,
      reason: ended.reason,
      localHeight: outcome.kind === "included" ? outcome.height : undefined,
      gas: paid?.gas ?? 0n,
      fee: paid?.fee ?? 0n,
      simulations,
    },
  ]);
  result.onOutcome(outcome);
}

/** The outcome of a TX result that is withdrawn because an earlier result of its query was not sent. */
export const WITHDRAWN: ResultOutcome = {
  kind: "unsent",
  reason: "an earlier result was not sent",
  error: undefined,
};

/** Requeues results that were planned, simulated or in flight. */
export function requeue(state: SubmitterState, entries: readonly Entry[]): void {
  const { pipeline, queries } = state;
  const again: Entry[] = [];
  for (const entry of entries) {
    const { query } = entry.result;
    const { queued, planned, sent } = pipeline.ofQuery(query.id);
    if (queries.withdrawn.has(query.id)) resolve(state, entry, WITHDRAWN);
    // Drop this result, because the query's next result was proven while this result was in flight.
    else if (query.type === "kv" && sent.includes(entry) && queued.length + planned.length > 0)
      resolve(state, entry, SUPERSEDED);
    else if (entry.stage.kind !== "resolved") again.push(entry);
  }
  for (const displaced of pipeline.requeue(again)) resolve(state, displaced, SUPERSEDED);
  state.work.wake();
}

/** The outcome of a result that a newer result of its query replaced. */
export const SUPERSEDED: ResultOutcome = { kind: "dropped", reason: "superseded" };

export function gasInFlight({ sent }: SubmitterState): bigint {
  return sent.reduce((sum, { gas }) => sum + gas, 0n);
}
