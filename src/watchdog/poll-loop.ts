import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { createChangeLog } from "./change-log.ts";
import type { PricesVerdict } from "./conditions/alert-state.ts";
import type { WatchdogConfig } from "./config.ts";
import type { WatchdogMetrics } from "./metrics.ts";
import { NO_EVIDENCE } from "./conditions/node-oracle-calls.ts";
import { planRound } from "./evaluation.ts";
import type { Observation, Observer, SourceName } from "./sources/poller.ts";
import type { StateKeeper } from "./state/state-keeper.ts";
import { looksOf, toStatus, type WatchdogStatus } from "./status.ts";
import { WatchdogError } from "./watchdog-error.ts";

/** The loop that looks, counts and judges. */
export interface Watch {
  /** Looks at most every interval until the signal fires. @throws {WatchdogError} for a node of the wrong chain */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly status: () => WatchdogStatus;
  /** Whether a look has ended not too long ago. */
  readonly isAlive: () => boolean;
}

/** What the loop needs. */
export interface WatchDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observe: Observer;
  readonly keeper: StateKeeper;
  readonly metrics: WatchdogMetrics;
}

/** Looks that may be missed before the watchdog calls itself stuck. */
const ALIVE_INTERVALS = 3;

/** Creates the loop. */
export function createWatch(config: WatchdogConfig, deps: WatchDeps): Watch {
  const { clock, keeper, metrics } = deps;
  const startedAtMs = clock.nowMs();
  const lastGood = new Map<SourceName, number>();
  const changes = createChangeLog(deps.logger);
  const options = { ...config, keepNotices: config.webhook !== undefined };
  let lastEndMs = clock.monotonicMs();
  let evidence = NO_EVIDENCE;
  let seen: Observation | undefined;
  let verdict: PricesVerdict | undefined;
  const status = (): WatchdogStatus =>
    toStatus({ state: keeper.current(), startedAtMs, nowMs: clock.nowMs(), lastGood, seen, verdict });
  const lookOnce = async (signal: AbortSignal): Promise<void> => {
    const chainId = config.chainId ?? keeper.current().ledger.mark?.chainId;
    const now = await deps.observe(chainId, signal);
    if (!lastGood.has("node")) requireChain(now, chainId, config);
    const round = planRound(keeper.current(), now, evidence, options);
    keeper.replace(round.state);
    evidence = round.evidence;
    seen = now;
    verdict = round.verdict;
    for (const [name, { outcome }] of looksOf(now)) if (outcome.ok) lastGood.set(name, now.atMs);
    metrics.looked(now, round.restarted);
    metrics.showStatus(status());
    changes.note(now, round, status());
    lastEndMs = clock.monotonicMs();
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        await lookOnce(signal);
        await clock.sleep(config.intervalMs, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  };
  const patienceMs = ALIVE_INTERVALS * (config.intervalMs + config.sources.deadlineMs) + 5000;
  return { run, status, isAlive: () => clock.monotonicMs() - lastEndMs < patienceMs };
}

/** A node of another chain, before this process has seen the right one, is a wrong configuration. */
function requireChain({ node }: Observation, expected: string | undefined, config: WatchdogConfig): void {
  if (expected === undefined || node.outcome.ok || node.outcome.error.code !== "wrong-chain") return;
  const hint =
    config.chainId === undefined && config.stateDir !== undefined
      ? `; the state in ${config.stateDir} was counted on ${expected}, so give another state_dir for another chain`
      : "";
  throw new WatchdogError({ code: "wrong-chain", expected }, `${node.outcome.error.text}${hint}`);
}
