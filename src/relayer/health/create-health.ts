import type { EndpointPool } from "../../cosmos/client/endpoint-pool.ts";
import type { Service } from "../../platform/base/service.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { type EndpointStatus, relayerStatus, type RelayerStatus, type StatusDeps } from "./relayer-status.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import { createWatchPoller, type PolledChain } from "../watch/watches.ts";
import { createProblemHold } from "./problem-hold.ts";
import type { Problem, ProblemCode } from "./problems.ts";
import type { Counter } from "prom-client";
import { pause } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { formatDuration } from "../../platform/base/text.ts";
import {
  isDemandAboveMarket,
  isFresh,
  lateBlocksJson,
  type MarketStatus,
  priceText,
  remedyJson,
  threeDigits,
} from "../forecast/market-view.ts";
import { latestOf } from "./lateness.ts";

export interface ChainPool {
  readonly chainId: string;
  readonly client: { readonly pool: Pick<EndpointPool, "check" | "health"> };
}

interface RelayerChains {
  readonly local: ChainPool;
  readonly remotes: readonly (ChainPool & { readonly connectionId: string })[];
}

interface HealthDeps extends Omit<StatusDeps, "limits" | "endpoints" | "clock"> {
  readonly chains: RelayerChains;
  readonly metrics: ResultCounters;
  /** Receives the current problems every second. */
  readonly recordProblems?: (problems: readonly Problem[]) => void;
  readonly context: DaemonContext;
}

/** A relayer's status, and the services that log its changes. */
interface Health {
  readonly status: () => RelayerStatus;
  readonly services: readonly Service[];
}

type HealthConfig = Pick<RelayerConfig, "health"> & {
  readonly queries: Pick<RelayerConfig["queries"], "min_kv_update_period">;
};

/** Maximum delay before a problem is reported. The delay is one block time if the block time is shorter. */
const MAX_BLOCK_MS = 6_000;

export function createHealth(config: HealthConfig, deps: HealthDeps): Health {
  const { chains, watches, context } = deps;
  const { clock, logger } = context;
  const { health, queries } = config;
  const statusDeps: StatusDeps = {
    ...deps,
    clock,
    limits: { ...health, min_kv_update_period: queries.min_kv_update_period },
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

/** Lists each chain's endpoints once, even if two connections share them. */
function endpointsOf({ local, remotes }: RelayerChains): readonly EndpointStatus[] {
  const all = [local, ...remotes].flatMap(({ chainId, client }) =>
    client.pool.health().map((health) => ({ ...health, chainId })),
  );
  return [...new Map(all.map((endpoint) => [`${endpoint.chainId} ${endpoint.name}`, endpoint])).values()];
}

interface ProblemLogDeps {
  readonly problems: () => readonly Problem[];
  readonly clock: Clock;
  readonly logger: Logger;
}

const INTERVAL_MS = 1_000;
/** A problem that recurs within this time is logged as one problem, so that a flapping problem logs two lines instead of hundreds. */
const CALM_MS = 15_000;
/** Problems that the problem log omits, because other code logs them or because they are normal in the first seconds. */
const UNLOGGED: ReadonlySet<ProblemCode> = new Set(["starting", "cycle-failed"] as const);

interface LoggedProblem {
  readonly problem: Problem;
  /** Monotonic time at which the warning was logged, ms. */
  readonly fromMs: number;
  /** Monotonic time at which the problem was last seen, ms. */
  lastMs: number;
}

/** Creates a service that logs a warning when a problem starts and a line when it ends. Never fails. */
export function createProblemLog(deps: ProblemLogDeps): Service {
  const { clock, logger } = deps;
  const logged = new Map<string, LoggedProblem>();
  return {
    name: "problem log",
    run: async (signal) => {
      while (!signal.aborted) {
        const nowMs = clock.monotonicMs();
        for (const problem of deps.problems()) logOnce(logged, problem, nowMs, logger);
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

function logOnce(logged: Map<string, LoggedProblem>, problem: Problem, nowMs: number, logger: Logger): void {
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
  readonly metrics: ResultCounters;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface ResultCounters {
  readonly results: Pick<Counter<"connection_id" | "outcome">, "get">;
  readonly gasUsed: Pick<Counter<"connection_id">, "get">;
}

const SUMMARY_INTERVAL_MS = 60_000;
const NO_FAILURE: ReadonlySet<string> = new Set(["included", "redundant", "unchanged"]);

type Totals = Awaited<ReturnType<typeof readTotals>>;

/** Creates a service that logs a summary every minute, e.g. the newly included results and the overdue queries. Never fails. */
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
    unchanged: now.unchanged - before.unchanged,
    failures: now.failed - before.failed,
    gas: now.gas - before.gas,
    localHeight,
    queries: queries.length,
    overdue: queries.filter(({ lateness }) => lateness.isOverdue).length,
    mostLateBlocks: Number(latestOf(queries)?.lateness.blocks ?? 0n),
    balance: account.balance,
    problems: problems.map(({ code }) => code),
  };
}

async function readTotals({ results, gasUsed }: ResultCounters) {
  const outcomes = (await results.get()).values;
  const of = (outcome: string): number => sum(outcomes.filter(({ labels }) => labels.outcome === outcome));
  return {
    included: of("included"),
    /** Results that another relayer had already delivered. */
    redundant: of("redundant"),
    /** Results that were not sent, because their values equal the last result's values. */
    unchanged: of("unchanged"),
    failed: sum(outcomes.filter(({ labels }) => !NO_FAILURE.has(String(labels.outcome)))),
    gas: sum((await gasUsed.get()).values),
  };
}

function sum(values: readonly { readonly value: number }[]): number {
  return values.reduce((total, { value }) => total + value, 0);
}

interface MarketLogDeps {
  /** The fee market's status; undefined if there is no reading. */
  readonly market: () => MarketStatus | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

const MARKET_INTERVAL_MS = 5_000;
/** Time for which a market state must last before it is logged, because demand near the limit often crosses the limit. */
const HELD_MS = 60_000;

/**
 * Creates a service that logs a warning when the state "demand-above-market" begins and an info line when the state ends, both with
 * figures. The state does not change while there is no fresh reading. Never fails.
 */
export function createMarketLog({ market, clock, logger }: MarketLogDeps): Service {
  let isLogged = false;
  let loggedMs = 0;
  /** Monotonic time since which the current state has differed from the logged state, ms; undefined while both are equal. */
  let differsFromMs: number | undefined;
  const record = (present: MarketStatus, nowMs: number): void => {
    if (isDemandAboveMarket(present) === isLogged) {
      differsFromMs = undefined;
      return;
    }
    differsFromMs ??= nowMs;
    if (nowMs - differsFromMs < HELD_MS) return;
    isLogged = !isLogged;
    if (isLogged) logger.warn("demand is above the market", marketFields(present));
    else
      logger.info("demand is within the market again", {
        ...marketFields(present),
        lasted: formatDuration(differsFromMs - loggedMs),
      });
    if (isLogged) loggedMs = differsFromMs;
    differsFromMs = undefined;
  };
  return {
    name: "market log",
    run: async (signal) => {
      while (!signal.aborted) {
        const present = market();
        if (present === undefined || !isFresh(present)) differsFromMs = undefined;
        else record(present, clock.monotonicMs());
        await pause(MARKET_INTERVAL_MS, clock, signal);
      }
    },
  };
}

function marketFields(market: MarketStatus): Readonly<Record<string, unknown>> {
  const { denom, price, minimum, targetGas, othersGas, forecast } = market;
  return {
    demandResults: threeDigits(forecast.demandResults),
    sustainableResults: threeDigits(forecast.sustainableResults),
    lateBlocks: lateBlocksJson(forecast.lateBlocks),
    demandGas: forecast.demandGas,
    sustainableGas: forecast.sustainableGas,
    targetGas,
    othersGas,
    price: priceText(price),
    minimum: priceText(minimum),
    costPerDay: forecast.costPerDay,
    denom,
    ...(forecast.remedies.length === 0 ? {} : { remedies: forecast.remedies.map(remedyJson) }),
  };
}
