import type { LogFields, Logger } from "../base/logger.ts";
import { formatPercent } from "./policy/reward-tier.ts";
import type { Round } from "./evaluation.ts";
import type { Observation, SourceName } from "./sources/poller.ts";
import { looksOf, type WatchdogStatus } from "./status.ts";

/** Logs what changed since the last look, and nothing else. */
export interface ChangeLog {
  readonly note: (seen: Observation, round: Round, status: WatchdogStatus) => void;
}

/** Creates a log that takes the first look as news. */
export function createChangeLog(logger: Logger): ChangeLog {
  const problems = new Map<SourceName, string>();
  let tier: string | undefined;
  return {
    note: (seen, round, status) => {
      noteSources(seen, problems, logger);
      if (round.restarted) logger.info("node began to count anew", fieldsOf(status));
      if (round.notice?.status === "firing") logger.error("alert firing", alertFields(round));
      if (round.notice?.status === "resolved") logger.info("alert resolved", alertFields(round));
      if (status.current.tier === tier) return;
      tier = status.current.tier;
      if (tier === "full") logger.info("reward tier", fieldsOf(status));
      else if (tier !== undefined) logger.warn("reward tier", fieldsOf(status));
    },
  };
}

/** One line when a source goes down, changes its problem, or comes back. */
function noteSources(seen: Observation, problems: Map<SourceName, string>, logger: Logger): void {
  for (const [source, { outcome }] of looksOf(seen)) {
    const code = outcome.ok ? "" : outcome.error.code;
    if (problems.get(source) === code) continue;
    const isNews = problems.has(source);
    problems.set(source, code);
    if (outcome.ok) logger.info(isNews ? "source is back" : "source found", { source });
    else if (source === "oracle-metrics" && code === "refused")
      logger.info("nobody listens for oracle metrics, which is normal", { source });
    else logger.warn("source cannot be read", { source, code, problem: outcome.error.text });
  }
}

function alertFields({ notice }: Round): LogFields {
  return { alert: notice?.alert, summary: notice?.summary, action: notice?.action };
}

function fieldsOf({ chainId, current: { month, tier, rate, counts } }: WatchdogStatus): LogFields {
  return { chainId, month, tier, percent: rate === undefined ? null : formatPercent(rate), ...counts };
}
