import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { createChangeLog } from "./change-log.ts";
import { EMPTY_TRAIL } from "./conditions/trail.ts";
import type { WatchdogConfig } from "./config.ts";
import { type Evaluation, type EvaluationOptions, planEvaluation } from "./evaluation.ts";
import type { WatchdogMetrics } from "./metrics.ts";
import { type Poll, type Poller, scrapesOf, type SourceName } from "./sources/poller.ts";
import type { StateKeeper } from "./state/state-keeper.ts";
import { toStatus, type WatchdogStatus } from "./status.ts";
import { WatchdogError } from "./watchdog-error.ts";

/** The loop that polls the sources and evaluates the result. */
export interface PollLoop {
  /** Polls until the signal fires. Throws {@link WatchdogError} when the node is on the wrong chain. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly status: () => WatchdogStatus;
  /** Whether the last poll ended recently enough. False means that the loop hangs. */
  readonly isAlive: () => boolean;
  /** Why the watchdog does not do its work, for people; undefined while it does. */
  readonly problem: () => string | undefined;
}

export interface PollLoopDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly poll: Poller;
  readonly keeper: StateKeeper;
  readonly metrics: WatchdogMetrics;
}

/** Polls that can be missed before `isAlive` returns false. */
const ALIVE_INTERVALS = 3;

/** Time without a reading of the node after which the watchdog's work is not done. */
const WORK_MS = 300_000;

export function createPollLoop(config: WatchdogConfig, deps: PollLoopDeps): PollLoop {
  const { clock, keeper, metrics } = deps;
  const startedAtMs = clock.nowMs();
  const lastSuccessMs = new Map<SourceName, number>();
  const changes = createChangeLog(deps.logger);
  const options = evaluationOptions(config);
  const channels = options.channels.map(({ name }) => name);
  let lastEndMs = clock.monotonicMs();
  let last: Evaluation | undefined;
  const status = (): WatchdogStatus => {
    const state = keeper.current();
    return toStatus({
      state,
      rules: config.alerts.rules,
      channels,
      startedAtMs,
      nowMs: clock.nowMs(),
      lastSuccessMs,
      last,
    });
  };
  const pollOnce = async (signal: AbortSignal): Promise<void> => {
    const chainId = config.chainId ?? keeper.current().ledger.baseline?.chainId;
    const scraped = await deps.poll(chainId, signal);
    // Before the first successful scrape, another chain is an error of the configuration and ends the watchdog. Later it is
    // a failed scrape: the operator can be replacing the node.
    if (!lastSuccessMs.has("node")) requireChain(scraped, chainId, config);
    // The state is read after the poll: during the poll, delivery can have removed notifications from it.
    const evaluation = planEvaluation(keeper.current(), scraped, last?.trail ?? EMPTY_TRAIL, options);
    const { poll } = evaluation;
    keeper.replace(evaluation.state);
    last = evaluation;
    for (const [name, { outcome }] of scrapesOf(poll)) if (outcome.ok) lastSuccessMs.set(name, poll.atMs);
    metrics.recordPoll(poll, evaluation.nodeRestarted);
    metrics.showStatus(status());
    changes.record(poll, evaluation, status());
    lastEndMs = clock.monotonicMs();
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        await pollOnce(signal);
        await clock.sleep(config.intervalMs, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  };
  const aliveMs = ALIVE_INTERVALS * (config.intervalMs + config.sources.deadlineMs) + 5000;
  metrics.showStatus(status());
  const isAlive = (): boolean => clock.monotonicMs() - lastEndMs < aliveMs;
  const problem = (): string | undefined => {
    if (!isAlive()) return "the last poll ended too long ago";
    const readMs = lastSuccessMs.get("node");
    if (readMs !== undefined && clock.nowMs() - readMs <= WORK_MS) return undefined;
    return `no node was read in the last ${WORK_MS / 60_000} min`;
  };
  return { run, status, isAlive, problem };
}

function evaluationOptions({ alerts, notify, maintenance }: WatchdogConfig): EvaluationOptions {
  const { channels, reminders, runbooks } = notify;
  // Alertmanager gets the state of the alerts, not their events.
  const eventChannels = channels.filter(({ kind }) => kind !== "alertmanager");
  return { ...alerts, channels: eventChannels, maintenance, reminders, runbooks };
}

/** Throws when the node is on another chain than the configuration or the state says. */
function requireChain({ node }: Poll, expected: string | undefined, config: WatchdogConfig): void {
  if (expected === undefined || node.outcome.ok || node.outcome.error.code !== "wrong-chain") return;
  const hint =
    config.chainId === undefined && config.stateDir !== undefined
      ? `; the state in ${config.stateDir} belongs to chain ${expected}, so use another state_dir for another chain`
      : "";
  throw new WatchdogError({ code: "wrong-chain", expected }, `${node.outcome.error.text}${hint}`);
}
