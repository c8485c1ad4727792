import type { NodeStatus } from "../../cosmos/client/chain-client.ts";
import type { EndpointCheck, EndpointPool } from "../../cosmos/client/endpoint-pool.ts";
import { pause } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Service } from "../../platform/base/service.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { type EndpointStatus, relayerStatus, type RelayerStatus, type StatusDeps } from "./status.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import type { HeadWatch } from "./head-watch.ts";
import { createMarketLog } from "../forecast/market-outputs.ts";
import { createProblemLog, createSummaryLog, type ResultCounters } from "./health-log.ts";
import type { Problem } from "./problems.ts";
import type { Watches } from "./watches.ts";

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
  readonly metrics: ResultCounters;
  /** Receives the present problems every second. */
  readonly recordProblems?: (problems: readonly Problem[]) => void;
  readonly context: DaemonContext;
}

/** The health of a relayer: its status, and the services that read it and log its changes. */
export interface Health {
  readonly status: () => RelayerStatus;
  readonly services: readonly Service[];
}

/** The settings of the health. */
export type HealthConfig = Pick<RelayerConfig, "health"> & {
  readonly queries: Pick<RelayerConfig["queries"], "min_kv_update_period">;
};

/** Creates the health of a relayer. */
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
  const status = (): RelayerStatus => {
    const found = relayerStatus(statusDeps);
    return { ...found, problems: found.problems.map((one) => ({ ...one, text: nameSettings(one.text) })) };
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

/** Two connections to one chain have the same endpoints, which are listed once. */
function endpointsOf({ local, remotes }: RelayerChains): readonly EndpointStatus[] {
  const all = [local, ...remotes].flatMap(({ chainId, client }) =>
    client.pool.health().map((health) => ({ ...health, chainId })),
  );
  return [...new Map(all.map((endpoint) => [`${endpoint.chainId} ${endpoint.name}`, endpoint])).values()];
}

/** The endpoints of one chain. */
interface PolledChain {
  /** Reads the status of every endpoint. */
  readonly check: (signal: AbortSignal) => Promise<readonly EndpointCheck[]>;
  readonly endpoints: number;
}

interface WatchPollerDeps {
  readonly watches: Watches;
  readonly local: PolledChain;
  /** By connection id. */
  readonly remotes: ReadonlyMap<string, PolledChain>;
  readonly clock: Clock;
}

/** A remote chain is read when no cycle has read it for this long. */
const HEAD_MS = 5_000;
/** Interval at which all endpoints of a chain are read, to compare their heights. */
const COMPARE_MS = 5_000;
const CLIENT_MS = 15_000;
const BALANCE_MS = 30_000;

/**
 * Creates a service that reads what no cycle reads: remote chains without due queries, all endpoints of a chain that has
 * several, light clients, and the balance. So the relayer's state is known even when nothing is due. Never fails.
 */
export function createWatchPoller(deps: WatchPollerDeps): Service {
  const { watches, clock, local, remotes } = deps;
  return {
    name: "health",
    run: async (signal) => {
      const every = (ms: number, work: () => Promise<unknown>): Promise<void> =>
        repeat(work, ms, clock, signal);
      await Promise.all([
        every(BALANCE_MS, () => watches.account.read(signal)),
        ...(local.endpoints > 1 ? [every(COMPARE_MS, () => local.check(signal))] : []),
        ...watches.connections.flatMap(({ id, remote, client }) => {
          const chain = remotes.get(id);
          return [
            every(CLIENT_MS, () => client.read(signal)),
            ...(chain === undefined ? [] : [every(HEAD_MS, createHeadRead(remote, chain, clock, signal))]),
          ];
        }),
      ]);
    },
  };
}

async function repeat(
  work: () => Promise<unknown>,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      // Reads record their own errors, so only an abort rejects here.
      if (!signal.aborted) throw error;
    }
    await pause(ms, clock, signal);
  }
}

function createHeadRead(
  head: HeadWatch,
  { check, endpoints }: PolledChain,
  clock: Clock,
  signal: AbortSignal,
): () => Promise<void> {
  let comparedMs = -Infinity;
  return async () => {
    const nowMs = clock.monotonicMs();
    const mustCompare = endpoints > 1 && nowMs - comparedMs >= COMPARE_MS;
    const { height, sinceReadMs } = head.view();
    if (height !== undefined && sinceReadMs < HEAD_MS && !mustCompare) return;
    comparedMs = nowMs;
    recordChecks(head, await check(signal));
  };
}

/** Records the status of the endpoint that is furthest ahead, or the first error when no endpoint responded. */
function recordChecks(head: HeadWatch, checks: readonly EndpointCheck[]): void {
  const statuses = checks.flatMap((check) => (check.ok ? [check.status] : []));
  const [first] = statuses;
  const failed = checks.find((check) => !check.ok);
  if (first !== undefined) head.record(statuses.reduce(further, first));
  else if (failed !== undefined) head.recordError(failed.error);
}

function further(a: NodeStatus, b: NodeStatus): NodeStatus {
  if (a.catchingUp !== b.catchingUp) return a.catchingUp ? b : a;
  return b.latestHeight > a.latestHeight ? b : a;
}
