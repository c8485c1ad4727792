import type { LogFields, Logger } from "../base/logger.ts";
import type { Evaluation } from "./evaluation.ts";
import type { AlertEvent } from "./notify/alert-event.ts";
import { formatPercent } from "./policy/reward-tier.ts";
import { type Poll, scrapesOf, type SourceName } from "./sources/poller.ts";
import type { WatchdogStatus } from "./status.ts";

/** Logs the differences between one poll and the next. */
export interface ChangeLog {
  readonly record: (poll: Poll, evaluation: Evaluation, status: WatchdogStatus) => void;
}

/** Creates a change log. It logs every source and the tier at the first poll. */
export function createChangeLog(logger: Logger): ChangeLog {
  const errorCodes = new Map<SourceName, string>();
  let tier: string | undefined;
  return {
    record: (poll, { nodeRestarted, events }, status) => {
      logSources(poll, errorCodes, logger);
      if (nodeRestarted) logger.info("node restarted", fieldsOf(status));
      for (const event of events) logEvent(event, logger);
      if (status.current.tier === tier) return;
      tier = status.current.tier;
      if (tier === "full") logger.info("reward tier", fieldsOf(status));
      else if (tier !== undefined) logger.warn("reward tier", fieldsOf(status));
    },
  };
}

const LEVELS = { critical: "error", warning: "warn", info: "info" } as const;

function logEvent(
  { kind, alert, validator, severity, reason, action, cost }: AlertEvent,
  logger: Logger,
): void {
  const fields = { alert, validator, severity, reason };
  if (kind === "resolved") logger.info("alert resolved", { ...fields, cost });
  else
    logger[LEVELS[severity]](kind === "firing" ? "alert firing" : "alert still firing", {
      ...fields,
      action,
    });
}

/** Logs each source that failed, recovered, or failed with another error code. */
function logSources(poll: Poll, errorCodes: Map<SourceName, string>, logger: Logger): void {
  for (const [source, { outcome }] of scrapesOf(poll)) {
    const code = outcome.ok ? "" : outcome.error.code;
    if (errorCodes.get(source) === code) continue;
    const isFirst = !errorCodes.has(source);
    errorCodes.set(source, code);
    if (outcome.ok) logger.info(isFirst ? "source is up" : "source recovered", { source });
    // Current nodes and sidecars serve no oracle metrics, so a refused connection needs no warning.
    else if (source === "oracle-metrics" && code === "refused")
      logger.info("no oracle metrics on this machine, which is normal", { source });
    else logger.warn("source scrape failed", { source, code, error: outcome.error.text });
  }
}

function fieldsOf({ chainId, current: { month, tier, rate, counts } }: WatchdogStatus): LogFields {
  return { chainId, month, tier, percent: rate === undefined ? null : formatPercent(rate), ...counts };
}
