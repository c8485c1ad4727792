import type { Registry as MetricsRegistry } from "prom-client";
import { unreachable } from "../platform/base/errors.ts";
import type { Secret } from "../platform/base/secret.ts";
import type { PooledChainClient } from "../cosmos/client/create-chain-client.ts";
import type { RpcObserver } from "../cosmos/client/rpc-caller.ts";
import { createActivity } from "./page/activity.ts";
import { RELAYER_RUNBOOKS } from "./monitoring/relayer-alerts.ts";
import { createRelayerPage } from "./page/relayer-page.ts";
import { type DaemonContext, LISTEN_KEY } from "../platform/process/daemon-context.ts";
import { isLoopbackName } from "../platform/http/http-access.ts";
import type { HttpRoute } from "../platform/http/http-route.ts";
import { controlRoutes } from "../platform/http/daemon-control-routes.ts";
import { withOpenApi } from "../platform/http/openapi.ts";
import type { LastingServer } from "../platform/http/lasting-server.ts";
import { createHttpService, type HttpService } from "../platform/http/route-server.ts";
import type { LastingMetrics } from "../platform/process/lasting-metrics.ts";
import { controlTokenOf } from "../platform/process/private-file.ts";
import { registerReloadMetrics, type Reloader } from "../platform/process/reloadable.ts";
import {
  createRelayerMetrics,
  createRpcObserver,
  type RelayerMetrics,
  createGoMetrics,
  type GoMetrics,
} from "./result/relayer-metrics.ts";
import { relayerRoutes } from "./api/routes.ts";
import { registerStatusGauges } from "./api/status-gauges.ts";
import { createChainCheck, followLocalChain, openClient, openWindow, queryFilter } from "./chain-access.ts";
import { payerOf } from "./config/signer-config.ts";
import type { RelayerConfig } from "./config/relayer-config.ts";
import { createClientRefresh } from "./connection/client-refresh.ts";
import { createCosts } from "./costs/create-costs.ts";
import { createHistory } from "./relayer-history.ts";
import { createGateParts } from "./gate/create-gate.ts";
import { createMarket } from "./gas-budget/create-market.ts";
import { createUrgency } from "./gas-budget/urgency.ts";
import { createLoads, createMarketView, createTransactionFee } from "./forecast/loads.ts";
import { STANDBY_READ_MS } from "./health/problems.ts";
import { createEngine, submitterOptions } from "./engine.ts";
import { createHealth } from "./health/create-health.ts";
import { registerCostGauges, registerGateMetrics } from "./api/cost-gauges.ts";
import { type ConnectionWatch, createWatches, watchedClient, type Watches } from "./watch/watches.ts";
import { createLocalQueries } from "./chain/local-queries.ts";
import { createRegistry, createHeightSignal } from "./registry/registry.ts";
import { createBlockHashReader, createLocalHistoryCheck, createRemoteHistoryCheck } from "./state/history.ts";
import { openStore, placeOf } from "./state/store.ts";
import { createResubmissions } from "./state/resubmissions.ts";

export type Relayer = Awaited<ReturnType<typeof createRelayer>>;

/** The relayer's dependencies that survive a configuration reload. */
export interface LastingParts {
  /** Serves the HTTP routes. By default, the relayer starts its own server. */
  readonly serve?: LastingServer["serve"];
  readonly openStore?: typeof openStore;
  readonly reloader?: Reloader | undefined;
  /** Counters carried over from before the reload. Default: new counters. */
  readonly metrics?: LastingMetrics;
}

/**
 * Creates a relayer from a parsed configuration. The relayer sends nothing until its services run. Throws `ClientError`
 * ("bad-endpoint", "bad-key") and `RelayError` ("state-unusable").
 */
export async function createRelayer(
  given: RelayerConfig,
  metricsRegistry: MetricsRegistry,
  context: DaemonContext,
  lasting: LastingParts = {},
) {
  const config = ofShard(given);
  const { clock, random, logger } = context;
  const connectionIds = config.connections.map(({ id }) => id);
  const metrics = createRelayerMetrics(metricsRegistry, connectionIds, lasting.metrics);
  const go = config.metrics.go_relayer_names ? createGoMetrics(metricsRegistry, lasting.metrics) : undefined;
  const chains = openChains(config, (part, chainId) => observerOf(metrics, go, part, chainId), context);
  const local = createLocalQueries(chains.local.client, config.chain.name);
  const subscription = followLocalChain(config, chains.local.client.pool.order, context);
  const window = await openWindow(config, chains.local.client, context);
  const localTimeMs = (): number => watches.local.view().chainMs;
  const activity = createActivity(clock.nowMs);
  const open = lasting.openStore ?? openStore;
  const storeDeps = { ...context, localTimeMs };
  const store = await open(placeOf(config), { chainId: config.chain.id, history: config.history }, storeDeps);
  const { journal } = store;
  const payer = payerOf(config.signer, window.address);
  const height = createHeightSignal(clock, (latestHeight, latestTimeNs) =>
    watches.local.record({ latestHeight, latestTimeNs }),
  );
  const watches = createWatches(
    chains.remotes.map(({ connectionId: id, chainId }) => ({ id, chainId })),
    { address: payer, denom: config.gas.denom },
    { queries: local, clock, localHeight: height.now },
  );
  const registry = createRegistry(queryFilter(config, connectionIds), {
    local,
    localHeight: height.now,
    onRemoved: journal.forget,
  });
  const history = await createHistory(config, {
    payer,
    signer: window.address,
    store,
    registry,
    local,
    client: chains.local.client,
    recordIncomplete: (reason) => costs.recordIncomplete(reason),
    localTimeMs,
    context,
  });
  const { ledger, timeline, payments } = history;
  const blockHash = createBlockHashReader(chains.local.client);
  const forgetLocalChain = (): void => {
    journal.reset();
    ledger.reset();
    // Reset every chain's head, because a localnet resets all chains together. The head of a chain without a reset is soon read
    // again.
    for (const head of [watches.local, ...watches.connections.map(({ remote }) => remote)]) head.reset();
  };
  const checkHistory = createLocalHistoryCheck({
    journal: { ...journal, reset: forgetLocalChain },
    registry,
    blockHash,
    logger,
  });
  const gateDeps = {
    client: chains.local.client,
    local,
    store,
    registry,
    checkHistory,
    localTimeMs,
    loadHistory: history.load,
    fitness: {
      sinceBlockMs: () => watches.local.view().sinceBlockMs,
      blockMs: () => watches.local.view().blockMs,
      muteMs: () => engine.submitter().muteMs,
      beginTerm: () => engine.beginTerm(),
    },
    onLead: () => {
      history.recover();
      height.wake();
    },
    context,
  };
  const { gate, leadership } = await createGateParts(config, gateDeps);
  registerGateMetrics(metricsRegistry, gate.status, gate.status().spending.limits);
  const common = { registry, metrics, clock, localTimeMs, random, logger };
  const resubmissions = createResubmissions(
    { journal, registry, wake: height.wake, leads: leadership.leads, clock, random },
    config.deadlines.inclusion,
  );
  const clients = createClientRefresh({
    ...common,
    connections: chains.remotes.map(({ connectionId, client: remote }) => ({
      connectionId,
      remote,
      watch: watchOf(watches, connectionId).client,
    })),
    local,
    window,
    gate,
    funds: watches.account,
    height,
    payments,
    maxTxBytes: config.batch.bytes,
    leads: leadership.leads,
  });
  const { denom, max_price: cap, price } = config.gas;
  const market = createMarket({ ceiling: price?.comfortable, cap, denom }, clock);
  const engine = createEngine({
    ...common,
    chainName: config.chain.name,
    local: watchedClient(chains.local.client, watches.local),
    checkHistory,
    subscription,
    workers: chains.remotes.map(({ connectionId, client }) => ({
      ...common,
      connectionId,
      remote: watchedClient(client, watchOf(watches, connectionId).remote),
      local,
      checkHistory: createRemoteHistoryCheck({
        ...common,
        connectionId,
        journal,
        blockHash: createBlockHashReader(client),
      }),
      clients,
      settings: config,
    })),
    height,
    tx: {
      journal,
      queries: config.queries,
      resubmissions,
    },
    reloadMs: () =>
      leadership.status().role === "standby"
        ? Math.min(STANDBY_READ_MS, config.queries.reload_every)
        : config.queries.reload_every,
    window,
    submission: submitterOptions(config),
    readBlockLimits: local.blockLimits,
    readMarketState: local.marketState,
    market,
    urgency: createUrgency(config.urgency, cap),
    gate,
    funds: watches.account,
    upkeep: clients,
    attempts: activity.sink(go?.attempts(store.attempts) ?? store.attempts),
    payments,
    leads: leadership.leads,
  });
  go?.readGauges({
    queries: () => registry.states().length,
    queued: () => engine.submitter().queued,
    deadLetters: () => journal.deadLetters().length,
  });
  const { isConnected } = subscription;
  const { costOf } = activity;
  const blockMs = () => watches.local.view().blockMs;
  const loads = createLoads(config, { gasOf: engine.gasOf, registry, watches, localHeight: height.now });
  const marketView = createMarketView(config, { market, loads, blockMs, clock });
  const costs = createCosts(config, {
    ledger,
    client: chains.local.client,
    payer: () => ({
      address: payer,
      signer: window.address,
      balance: watches.account.view().balance,
      reserve: config.spending.reserve,
    }),
    loads,
    blockMs,
    market: marketView,
    runs: timeline.runs,
    clock,
    logger,
  });
  const state = {
    engine,
    registry,
    journal,
    watches,
    costOf,
    isConnected,
    market: marketView,
    unit: costs.unit,
    transactionFee: createTransactionFee(config, loads, market.status),
    gate: gate.status,
    config: () => lasting.reloader?.status(),
  };
  const { record: recordProblems } = timeline;
  const health = createHealth(config, { ...state, chains, metrics, recordProblems, context });
  const { status } = health;
  registerStatusGauges(metricsRegistry, status);
  registerCostGauges(metricsRegistry, costs.view, clock.nowMs);
  if (lasting.reloader !== undefined)
    registerReloadMetrics(metricsRegistry, "relaywatch_relayer", lasting.reloader.status);
  const openResubmit = isResubmitOpen(config.http);
  const pageDeps = { status, activity, store, openResubmit, costs: costs.view, timeline, registry };
  const api = {
    status,
    registry,
    journal,
    attempts: store.attempts,
    costs: costs.view,
    resubmissions,
    openResubmit,
    metrics: metricsRegistry,
  };
  const token = controlTokenOf(config.http.token, config.state_dir);
  const page = createRelayerPage(pageDeps, { hasToken: token !== undefined, links: config.links }, context);
  const control = controlRoutes({ ...lasting, logLevel: context.logLevel });
  const all = [...page, RELAYER_RUNBOOKS, ...relayerRoutes(api), ...control];
  const routes = withOpenApi({ title: "icq-relayer", version: context.build.version }, all);
  const http = createHttp(config.http, { routes, token }, context, lasting.serve);
  const allChains = [chains.local, ...chains.remotes];
  const check = createChainCheck(
    allChains.map(({ chainId, client }) => ({ chainId, pool: client.pool })),
    logger,
  );
  return {
    services: [
      http,
      check,
      leadership.service,
      ...health.services,
      costs.service,
      history.service,
      resubmissions.service,
      ...engine.services,
    ],
    /** The HTTP server, which is also one of the `services`. */
    http,
    status,
    /** Makes the queries with these ids due immediately. */
    request: (ids: readonly bigint[]): void => {
      registry.request(ids);
      height.wake();
    },
    /** Closes the chain clients, saves the problem timeline and closes the store. Call `close` after all services have ended. */
    close: async (): Promise<void> => {
      for (const { client } of allChains) client.close();
      timeline.save();
      await store.close(leadership.release);
    },
  };
}

/** Returns the configuration with only the connections of this instance's shard. */
function ofShard(config: RelayerConfig): RelayerConfig {
  const { shards } = config;
  if (shards === undefined) return config;
  const { count, index } = shards;
  return { ...config, connections: config.connections.filter((_connection, at) => at % count === index) };
}

function watchOf({ connections }: Watches, id: string): ConnectionWatch {
  return connections.find((watch) => watch.id === id) ?? unreachable(`no watch of ${id}`);
}

function createHttp(
  { listen, hosts }: RelayerConfig["http"],
  { routes, token }: { readonly routes: readonly HttpRoute[]; readonly token: Secret | undefined },
  { logger, portOption = LISTEN_KEY }: DaemonContext,
  serve: LastingServer["serve"] = (options) => createHttpService(options, { logger }),
): HttpService {
  return serve({
    name: "icq-relayer HTTP",
    listen,
    portOption,
    routes,
    access: hosts === undefined ? {} : { hosts },
    ...(token === undefined ? {} : { token }),
  });
}

/**
 * Returns true if `POST /resubmit-txs` needs no token, as for the Go relayer's clients, which send none. The default is true if no
 * token is configured and the server listens on a loopback address.
 */
function isResubmitOpen({ open_resubmit, listen, token }: RelayerConfig["http"]): boolean {
  return open_resubmit ?? (token === undefined && isLoopbackName(listen.host));
}

type ChainPart = "local" | "remote";

function observerOf(
  metrics: RelayerMetrics,
  go: GoMetrics | undefined,
  part: ChainPart,
  chainId: string,
): RpcObserver {
  const observer = createRpcObserver(metrics, chainId);
  return go?.observer(part, observer) ?? observer;
}

interface OpenChain {
  readonly chainId: string;
  readonly client: PooledChainClient;
}

/** Creates a client for the local chain and a client for each connection. */
function openChains(
  config: RelayerConfig,
  toObserver: (part: ChainPart, chainId: string) => RpcObserver,
  context: DaemonContext,
): {
  readonly local: OpenChain;
  readonly remotes: readonly (OpenChain & { readonly connectionId: string })[];
} {
  const open = (part: ChainPart, chainId: string, rpc: RelayerConfig["chain"]["rpc"]): OpenChain => {
    const observer = toObserver(part, chainId);
    return { chainId, client: openClient({ id: chainId, rpc }, config, { context, observer }) };
  };
  return {
    local: open("local", config.chain.id, config.chain.rpc),
    remotes: config.connections.map(({ id, chain_id, rpc }) => ({
      connectionId: id,
      ...open("remote", chain_id, rpc),
    })),
  };
}
