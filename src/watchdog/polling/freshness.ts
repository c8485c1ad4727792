import type { SourceLimits } from "../sources/targets.ts";
import type { WatchdogStatus } from "./watchdog-status.ts";

/** Times up to which a poll is of the present. */
export interface Freshness {
  readonly nowMs: number;
  /** Longest time between the ends of two polls when all is well. */
  readonly pollMs: number;
}

/** Time that the polls of a slow source take besides their deadline. */
const SLACK_MS = 5_000;

/** Returns the longest time between the ends of two polls when all is well. */
export function longestPollMs({
  intervalMs,
  limits,
}: {
  readonly intervalMs: number;
  readonly limits: SourceLimits;
}): number {
  return intervalMs + 2 * limits.deadlineMs + SLACK_MS;
}

/** Returns why nothing can be said about the present; undefined while a node can be read. */
export function whyBlind(
  { polledAtMs, sources, alerts }: WatchdogStatus,
  { nowMs, pollMs }: Freshness,
): string | undefined {
  if (polledAtMs === undefined) return "the first poll has not ended yet";
  if (nowMs - polledAtMs > pollMs) return "the watchdog does not poll any more";
  const isFiring = (name: string): boolean =>
    alerts.some(({ rule, state }) => rule.condition.name === name && state?.phase === "firing");
  if (isFiring("cannot-see-votes") || isFiring("cannot-see-node")) return "no node can be read";
  const nodes = sources.filter(({ name }) => name === "node");
  return nodes.some(({ up }) => up) ? undefined : "the last poll could not read any node";
}
