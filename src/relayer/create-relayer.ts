import type { Registry as MetricsRegistry } from "prom-client";
import { truncateDec18 } from "../base/decimal.ts";
import type { Service } from "../base/service.ts";
import type { PooledChainClient } from "../client/create-chain-client.ts";
import type { DaemonContext } from "../ops/daemon-context.ts";
import { createHttpService, type HttpService } from "../ops/http-service.ts";
import { type ApiDeps, relayerRoutes, relayerStatus, type RelayerStatus } from "./api/routes.ts";
import { followLocalChain, openClient, openSender, surroundings } from "./connection/chain-access.ts";
import { createChainCheck } from "./connection/chain-check.ts";
import type { RelayerConfig } from "./config.ts";
import { createEngine } from "./engine.ts";
import { createHeightSignal } from "./registry/height-signal.ts";
import { openJournal } from "./state/journal.ts";
import type { WorkerSettings } from "./connection/worker.ts";
import { createLocalQueries } from "./registry/local-queries.ts";
import { createRelayerMetrics, createRpcObserver } from "./api/metrics.ts";
import type { QueryFilter } from "./registry/registered-query.ts";
import { createRegistry } from "./registry/registry.ts";
import { createReservesWatch } from "./api/reserves.ts";

/** A relayer that was put together. */
export interface Relayer {
  readonly services: readonly Service[];
  /** The HTTP face; its `ready` gives the bound address. */
  readonly http: HttpService;
  readonly status: () => RelayerStatus;
  /** Closes connections and the journal; after the services have ended. */
  readonly close: () => void;
}

/** Puts a relayer together from a checked configuration. Nothing is sent before its services run. Throws `ClientError`. */
export async function createRelayer(
  config: RelayerConfig,
  registry: MetricsRegistry,
  context: DaemonContext,
): Promise<Relayer> {
  const connectionIds = config.connections.map(({ id }) => id);
  const metrics = createRelayerMetrics(registry, connectionIds);
  const local = openClient(config.chain, config, {
    context,
    observer: createRpcObserver(metrics, config.chain.id),
  });
  const remotes = config.connections.map((connection) => ({
    connection,
    client: openClient({ id: connection.chain_id, rpc: connection.rpc }, config, {
      context,
      observer: createRpcObserver(metrics, connection.chain_id),
    }),
  }));
  const queries = createLocalQueries(local, config.chain.name);
  const followed = followLocalChain(config, context);
  const sender = await openSender(config, local, followed, context);
  const journal = openJournal(config.state_dir, config.chain.id);
  const height = createHeightSignal(context.clock, (now) => metrics.localHeight.set(Number(now)));
  const queryRegistry = createRegistry(queryFilter(config, connectionIds), {
    local: queries,
    localHeight: height.now,
    onGone: journal.forget,
  });
  const workers = remotes.map(({ connection, client }) => ({
    connectionId: connection.id,
    remote: client,
    local: queries,
    sender,
    registry: queryRegistry,
    metrics,
    settings: workerSettings(config),
    ...surroundings(context),
  }));
  const engine = createEngine({
    chainName: config.chain.name,
    local,
    subscription: followed.subscription,
    registry: queryRegistry,
    workers,
    height,
    tx: { journal, lookbackBlocks: config.queries.tx_lookback_blocks },
    metrics,
    ...surroundings(context),
  });
  const face: ApiDeps = {
    engine,
    registry: queryRegistry,
    journal,
    metrics: registry,
    isConnected: followed.subscription.isConnected,
    address: sender.address,
    nowMs: context.clock.nowMs,
  };
  const chains = [
    { chainId: config.chain.id, client: local },
    ...remotes.map(({ connection, client }) => ({ chainId: connection.chain_id, client })),
  ];
  const reserves = createReservesWatch({
    local: queries,
    account: { address: sender.address, denom: config.gas.denom },
    connectionIds,
    metrics,
    ...surroundings(context),
  });
  return assemble(config, face, context, { chains, reserves });
}

function assemble(
  config: RelayerConfig,
  face: ApiDeps,
  context: DaemonContext,
  parts: {
    readonly chains: readonly { readonly chainId: string; readonly client: PooledChainClient }[];
    readonly reserves: Service;
  },
): Relayer {
  const { engine, journal } = face;
  const { chains, reserves } = parts;
  const http = createHttpService(
    {
      name: "icq-relayer HTTP",
      listen: config.http.listen,
      portOption: "http.listen",
      routes: relayerRoutes(face),
    },
    { logger: context.logger },
  );
  const check = createChainCheck(
    chains.map(({ chainId, client }) => ({ chainId, pool: client.pool })),
    context.logger,
  );
  return {
    services: [http, check, reserves, ...engine.services],
    http,
    status: () => relayerStatus(face),
    close: () => {
      for (const { client } of chains) client.close();
      journal.close();
    },
  };
}

function queryFilter(config: RelayerConfig, connectionIds: readonly string[]): QueryFilter {
  const { owners, ids, tx } = config.queries;
  return { connectionIds, owners, queryIds: ids, types: tx ? ["kv", "tx"] : ["kv"] };
}

function workerSettings(config: RelayerConfig): WorkerSettings {
  return {
    allowKvCallbacks: config.queries.allow_kv_callbacks,
    limits: config.batch,
    backoff: { minMs: config.retry.first / 2, baseMs: config.retry.first, maxMs: config.retry.most },
    submission: {
      submitTypeUrl: `/${config.chain.name}.interchainqueries.MsgSubmitQueryResult`,
      gasAdjustmentPermille: truncateDec18(config.gas.adjustment * 1_000n),
      mostGas: config.batch.gas,
    },
  };
}
