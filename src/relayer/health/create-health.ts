import type { EndpointPool } from "../../cosmos/client/endpoint-pool.ts";
import type { Service } from "../../platform/base/service.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { type EndpointStatus, relayerStatus, type RelayerStatus, type StatusDeps } from "./relayer-status.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import { createWatchPoller, type PolledChain } from "../watch/watches.ts";

import { createMarketLog, createProblemLog, createSummaryLog, type ResultCounters } from "./health-log.ts";
import { createProblemHold } from "./problem-hold.ts";
import type { Problem } from "./problems.ts";

export interface ChainPool {
  readonly chainId: string;
  readonly client: { readonly pool: Pick<EndpointPool, "check" | "health"> };
}

interface RelayerChains {
  readonly local: ChainPool;
  readonly remotes: readonly (ChainPool & { readonly connectionId: string })[];
}

export interface HealthDeps extends Omit<StatusDeps, "limits" | "endpoints" | "clock"> {
  readonly chains: RelayerChains;
  readonly metrics: ResultCounters;
  /** Receives the current problems every second. */
  readonly recordProblems?: (problems: readonly Problem[]) => void;
  readonly context: DaemonContext;
}

/** A relayer's status, and the services that read the status and log its changes. */
export interface Health {
  readonly status: () => RelayerStatus;
  readonly services: readonly Service[];
}

export type HealthConfig = Pick<RelayerConfig, "health"> & {
  readonly queries: Pick<RelayerConfig["queries"], "min_kv_update_period">;
};

/** Maximum time before a reason becomes a problem. */
const MAX_BLOCK_MS = 6_000;

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
  const { nameSettings = (text: string) => text } = context;
  const hold = createProblemHold();
  const status = (): RelayerStatus => {
    const found = relayerStatus(statusDeps);
    const remoteMs = found.connections.map(({ remote }) => remote.blockMs ?? 0);
    const blockMs = Math.min(MAX_BLOCK_MS, Math.max(found.local.blockMs ?? 0, ...remoteMs));
    const lasting = hold.lasting(found.problems, {
      blockMs,
      nowMs: clock.monotonicMs(),
      wallMs: clock.nowMs(),
    });
    return { ...found, problems: lasting.map((one) => ({ ...one, text: nameSettings(one.text) })) };
  };
  const problems = (): readonly Problem[] => {
    const present = status().problems;
    deps.recordProblems?.(present);
    return present;
  };
  const remotes = new Map(chains.remotes.map((chain) => [chain.connectionId, polled(chain)]));
  return {
    status,
    services: [
      createWatchPoller({ watches, local: polled(chains.local), remotes, clock }),
      createProblemLog({ problems, clock, logger }),
      createSummaryLog({ status, metrics: deps.metrics, clock, logger }),
      createMarketLog({ market: deps.market, clock, logger }),
    ],
  };
}

function polled({ client: { pool } }: ChainPool): PolledChain {
  return { check: (signal) => pool.check(signal), endpoints: pool.health().length };
}

/** Lists the endpoints of each chain once. Two connections to one chain share its endpoints. */
function endpointsOf({ local, remotes }: RelayerChains): readonly EndpointStatus[] {
  const all = [local, ...remotes].flatMap(({ chainId, client }) =>
    client.pool.health().map((health) => ({ ...health, chainId })),
  );
  return [...new Map(all.map((endpoint) => [`${endpoint.chainId} ${endpoint.name}`, endpoint])).values()];
}
