import type { Registry as MetricsRegistry } from "prom-client";
import type { NodeStatus } from "../../cosmos/client/chain-client.ts";
import type { EndpointCheck, EndpointPool } from "../../cosmos/client/endpoint-pool.ts";
import { pause } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import { formatDuration } from "../../platform/base/text.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import type { RelayerMetrics } from "../api/metrics.ts";
import { registerStatusGauges } from "../api/status-gauges.ts";
import { type EndpointStatus, relayerStatus, type RelayerStatus, type StatusDeps } from "../api/status.ts";
import type { RelayerConfig } from "../config.ts";
import type { HeadWatch } from "./head-watch.ts";
import type { Problem, ProblemCode } from "./problems.ts";
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

/** A remote chain is read when nothing else has read it for this long. */
const HEAD_MS = 5_000;
/** Endpoints that are compared with each other are all read at this interval. */
const COMPARE_MS = 5_000;
const CLIENT_MS = 15_000;
const BALANCE_MS = 30_000;

/**
 * Creates a service that reads what no cycle reads: remote chains without due queries, all endpoints of a chain that has
 * several, light clients, and the balance. So the state of the relayer is known even when nothing is due. Never fails.
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
      // Reads store their errors. They reject when the signal aborts.
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
    noteChecks(head, await check(signal));
  };
}

/** Notes the status of the endpoint that is furthest, or the error of the first one when none responded. */
function noteChecks(head: HeadWatch, checks: readonly EndpointCheck[]): void {
  const statuses = checks.flatMap((check) => (check.ok ? [check.status] : []));
  const [first] = statuses;
  const failed = checks.find((check) => !check.ok);
  if (first !== undefined) head.note(statuses.reduce(further, first));
  else if (failed !== undefined) head.noteError(failed.error);
}

function further(a: NodeStatus, b: NodeStatus): NodeStatus {
  if (a.catchingUp !== b.catchingUp) return a.catchingUp ? b : a;
  return b.latestHeight > a.latestHeight ? b : a;
}

interface ProblemLogDeps {
  readonly problems: () => readonly Problem[];
  readonly clock: Clock;
  readonly logger: Logger;
}

const INTERVAL_MS = 1_000;
/** A problem that comes back within this time is the same one, so that a flapping state makes two lines, not hundreds. */
const CALM_MS = 15_000;
/** Logged where they happen, or normal for the first seconds. */
const UNLOGGED: ReadonlySet<ProblemCode> = new Set(["starting", "cycle-failed"] as const);

interface LoggedProblem {
  readonly problem: Problem;
  readonly fromMs: number;
  lastMs: number;
}

/** Creates a service that logs one warning when a problem begins and one line when it is over. Never fails. */
export function createProblemLog(deps: ProblemLogDeps): Service {
  const { clock, logger } = deps;
  const logged = new Map<string, LoggedProblem>();
  return {
    name: "problem log",
    run: async (signal) => {
      while (!signal.aborted) {
        const nowMs = clock.monotonicMs();
        for (const problem of deps.problems()) noteProblem(logged, problem, nowMs, logger);
        for (const [key, entry] of logged) {
          if (nowMs - entry.lastMs < CALM_MS) continue;
          logged.delete(key);
          logger.info("problem is over", {
            ...fieldsOf(entry.problem),
            lasted: formatDuration(entry.lastMs - entry.fromMs),
          });
        }
        await pause(INTERVAL_MS, clock, signal);
      }
    },
  };
}

function noteProblem(
  logged: Map<string, LoggedProblem>,
  problem: Problem,
  nowMs: number,
  logger: Logger,
): void {
  if (UNLOGGED.has(problem.code)) return;
  const key = `${problem.code} ${problem.connectionId ?? ""}`;
  const known = logged.get(key);
  if (known !== undefined) {
    known.lastMs = nowMs;
    return;
  }
  logged.set(key, { problem, fromMs: nowMs, lastMs: nowMs });
  logger.warn("problem", { ...fieldsOf(problem), reason: problem.text });
}

function fieldsOf({ code, connectionId }: Problem): Readonly<Record<string, unknown>> {
  return connectionId === undefined ? { code } : { code, connectionId };
}

interface SummaryLogDeps {
  readonly status: () => RelayerStatus;
  readonly metrics: Pick<RelayerMetrics, "results" | "gasUsed">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const SUMMARY_INTERVAL_MS = 60_000;
const NO_FAILURE: ReadonlySet<string> = new Set(["included", "redundant"]);

interface Totals {
  readonly included: number;
  /** Another relayer was faster. */
  readonly redundant: number;
  readonly failed: number;
  readonly gas: number;
}

/** Creates a service that logs one line a minute: what was included since the last one, and what is late. Never fails. */
function createSummaryLog(deps: SummaryLogDeps): Service {
  const { clock, logger } = deps;
  return {
    name: "summary log",
    run: async (signal) => {
      let before = await readTotals(deps.metrics);
      while (!signal.aborted) {
        await pause(SUMMARY_INTERVAL_MS, clock, signal);
        if (signal.aborted) return;
        const now = await readTotals(deps.metrics);
        logger.info("summary", summaryFields(before, now, deps.status()));
        before = now;
      }
    },
  };
}

function summaryFields(
  before: Totals,
  now: Totals,
  { localHeight, queries, problems, account }: RelayerStatus,
): Readonly<Record<string, unknown>> {
  return {
    results: now.included - before.included,
    redundant: now.redundant - before.redundant,
    failures: now.failed - before.failed,
    gas: now.gas - before.gas,
    localHeight,
    queries: queries.length,
    overdue: queries.filter(({ lateness }) => lateness.isOverdue).length,
    mostLateBlocks: queries.reduce((most, { lateness }) => Math.max(most, Number(lateness.blocks)), 0),
    balance: account.balance,
    problems: problems.map(({ code }) => code),
  };
}

async function readTotals({ results, gasUsed }: SummaryLogDeps["metrics"]): Promise<Totals> {
  const outcomes = (await results.get()).values;
  return {
    included: sum(outcomes.filter(({ labels }) => labels.outcome === "included")),
    redundant: sum(outcomes.filter(({ labels }) => labels.outcome === "redundant")),
    failed: sum(outcomes.filter(({ labels }) => !NO_FAILURE.has(String(labels.outcome)))),
    gas: sum((await gasUsed.get()).values),
  };
}

function sum(values: readonly { readonly value: number }[]): number {
  return values.reduce((total, { value }) => total + value, 0);
}
