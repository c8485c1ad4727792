import type { SourceLimits } from "../sources/targets.ts";
import type { WatchdogStatus } from "./watchdog-status.ts";

/** The current time, and the maximum age at which a poll shows the current state. */
export interface Freshness {
  readonly nowMs: number;
  /** The longest time that normally passes between the ends of two polls. */
  readonly pollMs: number;
}

/** Extra time allowed for a poll whose sources reach their deadlines. */
const SLACK_MS = 5_000;

/** Returns the longest time that normally passes between the ends of two polls. */
export function longestPollMs(config: {
  readonly intervalMs: number;
  readonly limits: SourceLimits;
}): number {
  return config.intervalMs + 2 * config.limits.deadlineMs + SLACK_MS;
}

/** Returns why the current state is unknown; undefined if the last poll is recent and read at least one node. */
export function whyBlind(
  { polledAtMs, sources, alerts }: WatchdogStatus,
  { nowMs, pollMs }: Freshness,
): string | undefined {
  if (polledAtMs === undefined) return "the first poll has not finished yet";
  if (nowMs - polledAtMs > pollMs) return "the watchdog no longer polls";
  const isFiring = (name: string): boolean =>
    alerts.some(({ rule, state }) => rule.condition.name === name && state?.phase === "firing");
  if (isFiring("cannot-see-votes") || isFiring("cannot-see-node")) return "no node can be read";
  const nodes = sources.filter(({ name }) => name === "node");
  return nodes.some(({ up }) => up) ? undefined : "the last poll could not read any node";
}
