import { type Observation, readingOf } from "../sources/observation.ts";
import type { BelievedClock } from "./believed-clock.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import type { LogFields, Logger } from "../../platform/base/logger.ts";
import { type Month, monthOf, nextMonthMs } from "../../platform/base/month.ts";
import type { Ledger, LedgerOptions } from "../ledger/ledger.ts";
import { MAX_LAZY, type WatchdogMetrics } from "./metrics.ts";
import { STATE_KINDS } from "../notify/channels/channel-kinds.ts";
import type { AlertEvent } from "../alerts/alert-event.ts";
import { costView } from "../policy/cost-text.ts";
import { isEarly } from "../policy/assessment.ts";
import { percentOrNull } from "../policy/reward-tier.ts";
import { sidecarPrices, type SidecarPrices } from "../policy/price-comparison.ts";
import { DEFAULT_VALIDATOR } from "../state/schema.ts";
import { afterUnsure, onChain, shiftTimes, WatchdogError, type WatchdogState } from "../state/state-store.ts";
import type { StateKeeper } from "../state/state-keeper.ts";
import type { ValidatorConfig } from "../policy/policy-config.ts";
import { sourceKey, toStatus, type WatchdogStatus } from "./watchdog-status.ts";
import { statusView } from "./status-json.ts";
import { type AlertOptions, type Evaluation, planEvaluation } from "./evaluation.ts";
import type { SeenSource } from "../sources/seen-sources.ts";
import { type ClosedMonth, closedMonth } from "./closed-month.ts";
import type { Poller } from "./poller.ts";
import type { SourceLimits } from "../sources/targets.ts";
import type { AlertsConfig } from "../conditions/alerts-config.ts";
import type { NotifyConfig } from "../notify/notify-config.ts";
import type { MaintenanceWindow } from "../alerts/maintenance.ts";

/** The loop that polls one validator's sources and evaluates each observation. */
export interface PollLoop {
  /** Polls the sources until the signal fires. Throws {@link WatchdogError} if a node is on the wrong chain. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly status: () => WatchdogStatus;
  /** Returns the status as of the last poll, as JSON. */
  readonly statusText: () => string;
  /** Returns false if the loop is stuck, i.e. if its last poll ended too long ago. */
  readonly isAlive: () => boolean;
  /** Explains why the validator is not being watched, for the dead-man requests; undefined while it is. */
  readonly problem: () => string | undefined;
  /** Returns the sidecars' prices at the last poll. `chainId` is undefined before a node's first reading. */
  readonly sidecars: () => {
    readonly chainId: string | undefined;
    readonly sidecars: readonly SidecarPrices[];
  };
}

/**
 * Fills the gap in the counts before a poll's readings, and calls `save` after each filled part of the gap. Resolves with true once the
 * poll's readings can be counted, or with false if the next poll has to fill the rest of a long gap or to repeat a failed query. The
 * returned promise rejects only on abort.
 */
export type Backfiller = (
  ledger: Ledger | undefined,
  observation: Observation,
  save: (ledger: Ledger) => void,
  signal: AbortSignal,
) => Promise<boolean>;

/** The parts of the watchdog's configuration that polls use. */
export interface PollSettings {
  /** Folder for the state file; if absent, counting starts over after a restart. */
  readonly stateDir?: string;
  /** Time from the end of one poll to the start of the next. */
  readonly intervalMs: number;
  readonly limits: SourceLimits;
  /** The validators to poll; at least one. */
  readonly validators: readonly ValidatorConfig[];
  readonly alerts: AlertsConfig;
  readonly notify: NotifyConfig;
  readonly maintenance: readonly MaintenanceWindow[];
  /** Settings for reading samples from Prometheus; if absent, all metrics are scraped directly. */
  readonly prometheus?: { readonly staleMs: number; readonly connection: { readonly deadlineMs: number } };
}

export interface PollLoopDeps {
  readonly clock: BelievedClock;
  readonly logger: Logger;
  readonly poll: Poller;
  readonly keeper: StateKeeper;
  readonly metrics: WatchdogMetrics;
  /** Fills gaps in the counts from Prometheus; if absent, gaps are not filled. */
  readonly backfill?: Backfiller;
  /** Returns the sidecar prices of the chain's other validators; absent if there are no other validators. */
  readonly peersOf?: (validator: string, chainId: string | undefined) => readonly SidecarPrices[];
  /** Called with the validator's new status after every poll. */
  readonly onPoll?: (status: WatchdogStatus) => void;
}

/** Number of missed polls after which `isAlive` returns false. */
const ALIVE_INTERVALS = 3;

/** If no node of the validator could be read for this long, the watchdog reports to the dead-man monitor that it is not working. */
const WORK_MS = 300_000;

export function createPollLoop(
  config: PollSettings,
  validator: ValidatorConfig,
  deps: PollLoopDeps,
): PollLoop {
  const { clock, keeper, metrics } = deps;
  const { name } = validator.target;
  const startedAtMs = clock.nowMs();
  const lastSuccessMs = new Map<string, number>();
  // With a single validator, the log needs no validator names.
  const logger = name === DEFAULT_VALIDATOR ? deps.logger : deps.logger.child({ validator: name });
  const logChanges = createChangeLog(logger);
  const options = {
    alerts: alertOptions(config),
    policy: validator.policy,
    ...countingOptions(config, validator),
  };
  const channels = eventChannels(config).map((channel) => channel.name);
  let lastEndMs = clock.monotonicMs();
  let last: Evaluation | undefined;
  let statusText: string | undefined;
  let nodeReadMs: number | undefined;
  let lateMs = 0;
  const status = (): WatchdogStatus =>
    toStatus({
      validator,
      state: keeper.current(),
      rules: config.alerts.rules,
      channels,
      startedAtMs,
      nowMs: clock.nowMs(),
      lastSuccessMs,
      last,
      lateMs,
      storeProblem: keeper.problem(),
    });
  let changesSeen = 0;
  /** Compares the clock with the observation's times. If this corrects the clock, shifts the stored times of ongoing periods equally. */
  const compareClock = (observation: Observation): Observation => {
    const state = keeper.current();
    const { head } = observation.chain;
    const beforeMs = clock.nowMs();
    const movedMs = clock.compare({
      dates: observation.dates ?? [],
      chainMs: readingOf(head)?.blockTimeMs,
      lastPollMs: lastPollOf(state),
    });
    if (movedMs !== 0) keeper.replace(shiftTimes(state, movedMs, beforeMs));
    if (last === undefined) keeper.replace(afterUnsure(keeper.current(), clock.nowMs()));
    const { changes, change, ...view } = clock.view();
    const isNew = changes > changesSeen;
    changesSeen = changes;
    const changed = isNew && change !== undefined ? { change } : {};
    return { ...observation, atMs: clock.nowMs(), clock: { ...view, ...changed } };
  };
  const pollOnce = async (signal: AbortSignal): Promise<void> => {
    const known = onChain(keeper.current(), name, validator.target.chainId).ledgers.get(name);
    const chainId = validator.target.chainId ?? known?.chainId;
    const closed = (month: Month): ClosedMonth | undefined =>
      closedMonth(keeper.current(), { validator, month, assessment: last?.assessment });
    const counted = known?.sources.calls.checkpoint;
    const observation = compareClock(await deps.poll({ chainId, counted, closed }, signal));
    // Before the first successful scrape, a node on the wrong chain is a configuration error and stops the watchdog. Later, only the node's
    // scrape fails, because the operator may be replacing the node.
    if (nodeReadMs === undefined) requireChain(observation, chainId, config, validator);
    if (observation.nodes.some(({ metrics: seen }) => seen.state === "up")) {
      if (nodeReadMs === undefined) keeper.replace(onChain(keeper.current(), name, chainId));
      nodeReadMs = clock.monotonicMs();
    }
    const save = (ledger: Ledger): void => {
      const state = keeper.current();
      keeper.replace({ ...state, ledgers: new Map([...state.ledgers, [name, ledger]]) });
    };
    const isFilled = (await deps.backfill?.(known, observation, save, signal)) ?? true;
    // Read the state only after the poll, because notifications may have been delivered and removed during the poll.
    const evaluation = planEvaluation(keeper.current(), observation, {
      ...options,
      isFirst: last === undefined,
      isFilling: !isFilled,
      lateMs,
      peers: deps.peersOf?.(name, chainId) ?? [],
    });
    keeper.replace(evaluation.state);
    last = evaluation;
    for (const source of evaluation.sources)
      if (source.seen.state !== "error") lastSuccessMs.set(sourceKey(source), observation.atMs);
    metrics.recordPoll(evaluation.observation, evaluation.restarted.length);
    const shown = status();
    metrics.showStatus(shown);
    statusText = config.validators.length > MAX_LAZY ? encodeStatus(shown) : undefined;
    deps.onPoll?.(shown);
    logChanges(evaluation, shown);
    lastEndMs = clock.monotonicMs();
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        await pollOnce(signal);
        const waitMs = pauseMs(config.intervalMs, clock.nowMs());
        const sinceMs = clock.monotonicMs();
        await clock.sleep(waitMs, signal);
        lateMs = Math.max(0, clock.monotonicMs() - sinceMs - waitMs);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  };
  // A backfill stops at the first failed query, so it adds at most one Prometheus deadline to a poll.
  const pollMs = 2 * config.limits.deadlineMs + (config.prometheus?.connection.deadlineMs ?? 0);
  const aliveMs = ALIVE_INTERVALS * (config.intervalMs + pollMs) + 5000;
  metrics.showStatus(status());
  const isAlive = (): boolean => clock.monotonicMs() - lastEndMs < aliveMs;
  const problem = (): string | undefined => {
    if (!isAlive()) return `the last poll of ${name} was too long ago`;
    if (nodeReadMs !== undefined && clock.monotonicMs() - nodeReadMs <= WORK_MS) return undefined;
    return `no node of ${name} was read in the last ${WORK_MS / 60_000} min`;
  };
  return {
    run,
    status,
    statusText: () => (statusText ??= encodeStatus(status())),
    isAlive,
    problem,
    sidecars: () => ({
      chainId: validator.target.chainId ?? keeper.current().ledgers.get(name)?.chainId,
      sidecars: (last?.observation.nodes ?? []).flatMap(
        (node) => sidecarPrices(name, node, last?.observation.atMs ?? 0) ?? [],
      ),
    }),
  };
}

/**
 * Returns the latest stored poll time of all validators. Poll histories are included, because they may contain a later time than
 * the ledgers if the clock was not trusted.
 */
function lastPollOf({ ledgers, pollHistories }: WatchdogState): number | undefined {
  const counted = [...ledgers.values()].flatMap(({ sources }) => sources.calls.checkpoint?.atMs ?? []);
  const seen = [...pollHistories.values()].flatMap(({ nodes }) =>
    [...nodes.values()].flatMap(({ seenMs, lastGoodMs, lastBadMs }) => [seenMs, lastGoodMs, lastBadMs]),
  );
  const times = [...counted, ...seen].filter((atMs) => atMs !== undefined);
  return times.length === 0 ? undefined : Math.max(...times);
}

function encodeStatus(status: WatchdogStatus): string {
  return stringifyJson(statusView.json(status));
}

/** Returns the options for counting a validator's readings. */
export function countingOptions(
  { intervalMs, prometheus }: PollSettings,
  { target }: ValidatorConfig,
): LedgerOptions {
  return {
    intervalMs,
    consensusAddress: target.consensusAddress,
    // Readings may be as far apart as Prometheus's staleness limit, because Prometheus scrapes at its own interval.
    gapMs: target.isStored ? Math.max(60_000, prometheus?.staleMs ?? 0) : undefined,
  };
}

/** Returns all channels that receive events, including those used only for escalation. */
function eventChannels({ notify }: PollSettings): NotifyConfig["channels"] {
  return notify.channels.filter(({ kind }) => !STATE_KINDS.has(kind));
}

function alertOptions(config: PollSettings): AlertOptions {
  const { alerts, maintenance, intervalMs } = config;
  const { reminders, runbooks, links = {}, escalation } = config.notify;
  const escalated = new Set(escalation.steps.flatMap((step) => step.channels));
  const channels = eventChannels(config).filter((channel) => !escalated.has(channel));
  return { ...alerts, channels, escalation, maintenance, reminders, runbooks, links, intervalMs };
}

/** Time after the end of a month by which the month's last blocks have been committed. */
const EDGE_MS = 3000;

/**
 * Returns the time until the next poll. One poll takes place exactly at the end of a month and another soon after, so that the
 * counters grow by only a few blocks between the two and most blocks belong to a known month.
 */
function pauseMs(intervalMs: number, nowMs: number): number {
  if (intervalMs > EDGE_MS && monthOf(nowMs - EDGE_MS) !== monthOf(nowMs)) return EDGE_MS;
  const untilEdgeMs = nextMonthMs(nowMs) - nowMs;
  return monthOf(nowMs + intervalMs) === monthOf(nowMs) ? intervalMs : untilEdgeMs;
}

/** Throws if a node is not on the configured chain or, if none is configured, not on the chain of the stored state. */
function requireChain(
  { nodes }: Observation,
  expected: string | undefined,
  config: PollSettings,
  { target }: ValidatorConfig,
): void {
  for (const { metrics } of nodes) {
    if (expected === undefined || metrics.state !== "error" || metrics.failure.code !== "wrong-chain")
      continue;
    const hint =
      target.chainId === undefined && config.stateDir !== undefined
        ? `; the state in ${config.stateDir} belongs to chain ${expected}, so use another state_dir for another chain, or set chain_id to start a new ledger`
        : "";
    throw new WatchdogError({ code: "wrong-chain", expected }, `${metrics.failure.text}${hint}`);
  }
}

/**
 * Creates a function that logs changes from one poll to the next. The first call logs the state of every source. The tier is logged only
 * once the month has enough blocks for a meaningful rate.
 */
function createChangeLog(logger: Logger): (evaluation: Evaluation, status: WatchdogStatus) => void {
  const errorCodes = new Map<string, string>();
  let tier: string | undefined;
  return ({ observation, sources, restarted, events }, status) => {
    // Log a node's name only if there are several nodes.
    logSources(sources, observation.nodes.length > 1, errorCodes, logger);
    for (const node of restarted) logger.info("node restarted", { node, ...fieldsOf(status) });
    for (const event of events) logEvent(event, logger);
    if (isEarly(status.current) || status.current.tier === tier) return;
    tier = status.current.tier;
    if (tier === "full") logger.info("reward tier", fieldsOf(status));
    else if (tier !== undefined) logger.warn("reward tier", fieldsOf(status));
  };
}

const LEVELS = { critical: "error", warning: "warn", info: "info" } as const;

function logEvent(
  { kind, alert, validator, severity, reason, action, cost }: AlertEvent,
  logger: Logger,
): void {
  const fields = { alert, validator, severity, reason };
  if (kind === "resolved")
    logger.info("alert resolved", {
      ...fields,
      ...(cost === undefined ? {} : { cost: costView.json(cost) }),
    });
  else
    logger[LEVELS[severity]](kind === "firing" ? "alert firing" : "alert still firing", {
      ...fields,
      action,
    });
}

/** Logs each source that has failed, has recovered, or has failed with a different error code. */
function logSources(
  sources: readonly SeenSource[],
  namesNodes: boolean,
  errorCodes: Map<string, string>,
  logger: Logger,
): void {
  for (const each of sources) {
    const { source, seen, node } = each;
    const fields = namesNodes && node !== undefined ? { source, node } : { source };
    const code = seen.state === "error" ? seen.failure.code : seen.state === "absent" ? "absent" : "";
    const key = sourceKey(each);
    if (errorCodes.get(key) === code) continue;
    const isFirst = !errorCodes.has(key);
    errorCodes.set(key, code);
    if (seen.state === "up") logger.info(isFirst ? "source is up" : "source recovered", fields);
    else if (seen.state === "absent") logger.info("the chain has no such module, which is normal", fields);
    // Current nodes and sidecars do not serve the oracle metrics page, so a refused connection needs no warning.
    else if (source === "oracle-metrics" && code === "refused")
      logger.info("no oracle metrics on this machine, which is normal", fields);
    else logger.warn("source scrape failed", { ...fields, code, error: seen.failure.text });
  }
}

function fieldsOf({ chainId, current: { month, tier, rate, counts } }: WatchdogStatus): LogFields {
  return { chainId, month, tier, percent: percentOrNull(rate), ...counts };
}
