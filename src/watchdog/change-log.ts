import type { LogFields, Logger } from "../platform/base/logger.ts";
import type { Evaluation } from "./evaluation.ts";
import { formatPercent } from "./policy/reward-tier.ts";
import type { AlertEvent } from "./notify/channels/alert-event.ts";
import type { Observation } from "./observation.ts";
import { seenSources } from "./sources/poller.ts";
import { sourceKey, type WatchdogStatus } from "./status.ts";

/** Logs the differences between one poll and the next. */
export interface ChangeLog {
  readonly record: (evaluation: Evaluation, status: WatchdogStatus) => void;
}

/** Creates a change log. It logs every source and the tier at the first poll. */
export function createChangeLog(logger: Logger): ChangeLog {
  const errorCodes = new Map<string, string>();
  let tier: string | undefined;
  return {
    record: ({ observation, restarted, events }, status) => {
      logSources(observation, errorCodes, logger);
      for (const node of restarted) logger.info("node restarted", { node, ...fieldsOf(status) });
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
function logSources(observation: Observation, errorCodes: Map<string, string>, logger: Logger): void {
  // A node needs its name only where there are several.
  const several = observation.nodes.length > 1;
  for (const each of seenSources(observation)) {
    const { source, seen, node } = each;
    const fields = several && node !== undefined ? { source, node } : { source };
    const code = seen.state === "up" ? "" : seen.failure.code;
    const key = sourceKey(each);
    if (errorCodes.get(key) === code) continue;
    const isFirst = !errorCodes.has(key);
    errorCodes.set(key, code);
    if (seen.state === "up") logger.info(isFirst ? "source is up" : "source recovered", fields);
    // Current nodes and sidecars serve no oracle metrics, so a refused connection needs no warning.
    else if (source === "oracle-metrics" && code === "refused")
      logger.info("no oracle metrics on this machine, which is normal", fields);
    else logger.warn("source scrape failed", { ...fields, code, error: seen.failure.text });
  }
}

function fieldsOf({ chainId, current: { month, tier, rate, counts } }: WatchdogStatus): LogFields {
  return { chainId, month, tier, percent: rate === undefined ? null : formatPercent(rate), ...counts };
}
