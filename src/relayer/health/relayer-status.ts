import type { PoolEndpointHealth } from "../../cosmos/client/endpoint-pool.ts";
import type { DisplayUnit } from "../../platform/base/display-unit.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import type { ReloadStatus } from "../../platform/process/reloadable.ts";
import type { GateStatus } from "../gate/create-gate.ts";
import type { RecentFees } from "../gate/spending.ts";
import { type QueryState, statusOf, unchangedSince } from "../registry/query-state.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { Registry } from "../registry/registry.ts";
import { expectedLateBlocks, type MarketStatus } from "../forecast/market-view.ts";
import type { Journal } from "../state/journal.ts";
import type { HeadView, ListView } from "../watch/head-watch.ts";
import { type Lateness, latenessOf } from "./lateness.ts";
import {
  hasNoNewBlock,
  findProblems,
  type GateFacts,
  type HealthFacts,
  type HealthLimits,
  type Problem,
} from "./problems.ts";
import type { AccountView, ClientView, Watches } from "../watch/watches.ts";

/** The relayer's state at one moment, from which the HTTP API and the metrics are derived. */
export interface RelayerStatus {
  /** Bech32 address of the account that pays the fees. */
  readonly address: string;
  /** Time of the status, as Unix time in ms. */
  readonly nowMs: number;
  readonly localHeight: bigint;
  /** True if the WebSocket to the local chain is connected. */
  readonly connected: boolean;
  /** True if the query list has been read. */
  readonly loaded: boolean;
  /** Reasons why the relayer is not ready; empty if it is ready. */
  readonly problems: readonly Problem[];
  readonly local: HeadView;
  readonly account: AccountStatus;
  readonly connections: readonly ConnectionStatus[];
  /** The served queries, sorted by id. */
  readonly queries: readonly QueryView[];
  readonly endpoints: readonly EndpointStatus[];
  readonly gate: GateFacts;
  readonly spending: GateStatus["spending"];
  /** The fee market's status; undefined without a fee market and before the first read. */
  readonly market: MarketStatus | undefined;
  /** Minimum balance, which the relayer never spends, in the fee denom's base unit. */
  readonly reserve: bigint;
  readonly deadLetters: number;
  /** The configuration's reload status; undefined if the configuration cannot be reloaded. */
  readonly config?: ReloadStatus | undefined;
}

export interface AccountStatus extends AccountView {
  /** Expected fee for a transaction with all results that can be due at the same time. */
  readonly transactionFee: bigint;
  /** Days until the balance is used up at the last day's burn rate; undefined if no fees were paid. */
  readonly daysLeft: number | undefined;
  /** Display unit of amounts in the fee denom; undefined if there is none. */
  readonly unit?: DisplayUnit | undefined;
}

export interface ConnectionStatus {
  readonly id: string;
  readonly chainId: string;
  /** Error of the last cycle; undefined if the cycle succeeded. */
  readonly error: string | undefined;
  readonly remote: HeadView;
  readonly client: ClientView;
}

export interface EndpointStatus extends PoolEndpointHealth {
  readonly chainId: string;
}

export type QueryView = ReturnType<typeof toView>;

/** A query's share of its transactions' cost since the relayer's start. */
export interface QueryCost {
  readonly gas: bigint;
  /** The query's share of the fees, in the fee denom's base unit. */
  readonly fee: bigint;
}

interface EngineState {
  readonly localHeight: () => bigint;
  readonly list: () => ListView;
  /** Returns the error of each connection's last cycle, by connection id; undefined if the cycle succeeded. */
  readonly workerErrors: () => ReadonlyMap<string, string | undefined>;
}

export interface StatusDeps {
  readonly engine: EngineState;
  readonly registry: Pick<Registry, "states">;
  readonly watches: Watches;
  readonly limits: HealthLimits;
  readonly endpoints: () => readonly EndpointStatus[];
  readonly gate: () => Pick<GateStatus, "refusal" | "spending"> & {
    readonly reserve: Pick<GateStatus["reserve"], "reserve">;
    readonly leadership: Pick<GateStatus["leadership"], "role"> & Partial<GateStatus["leadership"]>;
    readonly store: Pick<GateStatus["store"], "error">;
  };
  readonly journal: Pick<Journal, "deadLetters">;
  readonly costOf: (queryId: bigint) => QueryCost | undefined;
  readonly market: () => MarketStatus | undefined;
  /** Expected fee for a transaction with all results that can be due at the same time. */
  readonly transactionFee: () => bigint;
  readonly unit?: () => DisplayUnit | undefined;
  readonly isConnected: () => boolean;
  readonly config?: () => ReloadStatus | undefined;
  readonly clock: { readonly nowMs: () => number; readonly monotonicMs: () => number };
}

export function isQueryId(text: string): boolean {
  return /^\d{1,20}$/.test(text);
}

/** Returns a query's status and its registration; undefined if this relayer does not serve the query. O(n). */
export function findQuery(
  status: Pick<RelayerStatus, "queries">,
  registry: Pick<Registry, "states">,
  id: bigint,
): { readonly view: QueryView; readonly query: RegisteredQuery } | undefined {
  const view = status.queries.find((one) => one.id === id);
  const state = registry.states().find(({ query }) => query.id === id);
  return view && state && { view, query: state.query };
}

/** Collects the status, in O(n log n) time for n queries. */
export function relayerStatus(deps: StatusDeps): RelayerStatus {
  const { engine, registry, watches } = deps;
  const errors = engine.workerErrors();
  const nowMs = deps.clock.nowMs();
  const { leadership, store, refusal, spending, reserve } = deps.gate();
  const view = watches.account.view();
  const account = {
    ...view,
    transactionFee: deps.transactionFee(),
    daysLeft: daysLeft(view.balance, spending.lastDay),
    unit: deps.unit?.(),
  };
  const connections = watches.connections.map(({ id, chainId, remote, client }) => ({
    id,
    chainId,
    error: errors.get(id),
    remote: remote.view(),
    client: client.view(),
  }));
  const local = watches.local.view();
  const market = deps.market();
  const lateness = createLateness(deps, market === undefined ? 0n : expectedLateBlocks(market));
  const context = {
    monotonicMs: deps.clock.monotonicMs(),
    lateness,
    ageOf: createResultAge(deps),
    costOf: deps.costOf,
  };
  const queries = registry
    .states()
    .map((state) => toView(state, context))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const { role, holder, error: roleError, progress } = leadership;
  const gate = { role, holder, roleError, progress, storeError: store.error, refusal };
  const common = { nowMs, local, account, connections, queries, market, gate };
  const endpoints = deps.endpoints();
  const facts: HealthFacts = { ...common, list: engine.list(), limits: deps.limits, endpoints };
  return {
    ...common,
    address: account.address,
    localHeight: engine.localHeight(),
    connected: deps.isConnected(),
    loaded: facts.list.isLoaded,
    problems: findProblems(facts),
    endpoints,
    spending,
    reserve: reserve.reserve,
    deadLetters: deps.journal.deadLetters().length,
    config: deps.config?.(),
  };
}

function daysLeft(balance: bigint | undefined, { fee, ms }: RecentFees): number | undefined {
  if (balance === undefined || fee <= 0n) return undefined;
  // `fee` was paid in `ms`, so the balance lasts balance ÷ fee times as long.
  return (Number(balance) / Number(fee)) * (ms / DAY_MS);
}

function createLateness(
  { engine, watches, limits, clock }: StatusDeps,
  marketBlocks: bigint,
): (state: QueryState) => Lateness {
  const present = {
    localHeight: engine.localHeight(),
    nowMs: clock.monotonicMs(),
    localFrom: watches.local.firstFrom,
    localBlockMs: watches.local.view().blockMs,
    marketBlocks,
    ...limits,
  };
  const byConnection = new Map(
    watches.connections.map(({ id, remote }) => {
      const hasRemoteHalted = hasNoNewBlock(remote.view(), limits);
      const isRemotePaceKnown = remote.view().blockMs !== undefined;
      return [id, { ...present, remoteFrom: remote.firstFrom, hasRemoteHalted, isRemotePaceKnown }];
    }),
  );
  const unseen = {
    ...present,
    remoteFrom: () => undefined,
    hasRemoteHalted: false,
    isRemotePaceKnown: true,
  };
  return (state) => latenessOf(state, byConnection.get(state.query.connectionId) ?? unseen);
}

/** Returns a function that computes the age of a query's last result, or undefined if the query has no result. */
function createResultAge({ engine, watches, clock }: StatusDeps) {
  const localHeight = engine.localHeight();
  const nowMs = clock.monotonicMs();
  const oldest = watches.local.firstFrom(0n);
  return ({ query: { lastLocalHeight } }: QueryState) => {
    const seen = watches.local.firstFrom(lastLocalHeight);
    if (lastLocalHeight === 0n || seen === undefined) return undefined;
    return {
      blocks: localHeight > lastLocalHeight ? localHeight - lastLocalHeight : 0n,
      ms: nowMs - seen.atMs,
      /** True if `ms` is a lower bound, because the result is older than the first block that this process saw. */
      isAtLeast: seen === oldest && seen.height > lastLocalHeight,
    };
  };
}

interface ViewContext extends Pick<StatusDeps, "costOf"> {
  readonly monotonicMs: number;
  readonly lateness: (state: QueryState) => Lateness;
  readonly ageOf: ReturnType<typeof createResultAge>;
}

function toView(state: QueryState, { monotonicMs, lateness, ageOf, costOf }: ViewContext) {
  const { query } = state;
  return {
    id: query.id,
    type: query.type,
    connectionId: query.connectionId,
    owner: query.owner,
    /** Number of keys of a KV query; 0 for a TX query. */
    keyCount: query.keys.length,
    updatePeriod: query.updatePeriod,
    state: statusOf(state),
    /** Local height of the last result; 0 if there is no result. */
    lastLocalHeight: query.lastLocalHeight,
    /** Remote height of the last result; undefined if there is no KV result. */
    lastRemoteHeight: query.lastRemoteHeight?.height,
    /** Local height since which all results have had the last read's values; undefined if the last read found new values. */
    unchangedSince: unchangedSince(state),
    /** Age of the last result; undefined if there is no result. */
    resultAge: ageOf(state),
    lateness: lateness(state),
    /** Number of included results since the relayer's start. */
    results: state.results,
    /** The query's cost since the relayer's start; undefined if the query has no cost. */
    cost: costOf(query.id),
    /** True if an operator requested an immediate cycle that has not ended yet. */
    isRequested: state.isRequested,
    /** Number of failures since the last result. */
    failures: state.failures,
    error: state.error,
    /** Time until the next attempt while backing off, otherwise 0. */
    retryInMs: Math.max(0, state.notBeforeMs - monotonicMs),
  };
}
