import type { Registry as MetricsRegistry } from "prom-client";
import type { Service } from "../platform/base/service.ts";
import type { EndpointPool } from "../cosmos/client/endpoints/endpoint-pool.ts";
import type { DaemonContext } from "../platform/process/daemon-context.ts";
import type { RelayerMetrics } from "./api/metrics.ts";
import { registerStatusGauges } from "./api/status-gauges.ts";
import { type EndpointStatus, type RelayerStatus, relayerStatus, type StatusDeps } from "./api/status.ts";
import { createSummaryLog } from "./api/summary-log.ts";
import type { RelayerConfig } from "./config.ts";
import { createProblemLog } from "./health/problem-log.ts";
import { createWatchPoller, type PolledChain } from "./health/watch-poller.ts";

/** A chain with its endpoints. */
export interface ChainPool {
  readonly chainId: string;
  readonly client: { readonly pool: Pick<EndpointPool, "check" | "health"> };
}

/** The chains of a relayer. */
interface RelayerChains {
  readonly local: ChainPool;
  readonly remotes: readonly (ChainPool & { readonly connectionId: string })[];
}

export interface HealthDeps extends Omit<StatusDeps, "limits" | "endpoints" | "clock"> {
  readonly chains: RelayerChains;
  readonly metrics: RelayerMetrics;
  readonly metricsRegistry: MetricsRegistry;
  readonly context: DaemonContext;
}

/** The health of a relayer: its status, and the services that keep it true and log it. */
export interface Health {
  readonly status: () => RelayerStatus;
  readonly services: readonly Service[];
}

/** The part of the configuration that the health depends on. */
export type HealthConfig = Pick<RelayerConfig, "health"> & {
  readonly queries: Pick<RelayerConfig["queries"], "min_kv_update_period">;
};

/** Creates the health of a relayer and registers its gauges. */
export function createHealth(config: HealthConfig, deps: HealthDeps): Health {
  const { chains, watches, context } = deps;
  const { clock, logger } = context;
  const { health, queries } = config;
  const statusDeps: StatusDeps = {
    ...deps,
    clock,
    limits: {
      noBlockMs: health.no_block_after,
      overdueBlocks: health.overdue_blocks === undefined ? undefined : BigInt(health.overdue_blocks),
      minKvUpdatePeriod: queries.min_kv_update_period,
      expiryNotice: {
        trustingPeriodShare: health.client_expires_soon.trusting_period_share,
        withinMs: health.client_expires_soon.within,
      },
    },
    endpoints: () => endpointsOf(chains),
  };
  const status = (): RelayerStatus => relayerStatus(statusDeps);
  registerStatusGauges(deps.metricsRegistry, status);
  const remotes = new Map(chains.remotes.map((chain) => [chain.connectionId, polled(chain)]));
  return {
    status,
    services: [
      createWatchPoller({ watches, local: polled(chains.local), remotes, clock }),
      createProblemLog({ problems: () => status().problems, clock, logger }),
      createSummaryLog({ status, metrics: deps.metrics, clock, logger }),
    ],
  };
}

function polled({ client: { pool } }: ChainPool): PolledChain {
  return { check: (signal) => pool.check(signal), endpoints: pool.health().length };
}

/** Two connections to one chain have the same endpoints, which are listed once. */
function endpointsOf({ local, remotes }: RelayerChains): readonly EndpointStatus[] {
  const all = [local, ...remotes].flatMap(({ chainId, client }) =>
    client.pool.health().map((health) => ({ ...health, chainId })),
  );
  return [...new Map(all.map((endpoint) => [`${endpoint.chainId} ${endpoint.name}`, endpoint])).values()];
}
