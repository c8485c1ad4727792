import { isAtLeast } from "../../platform/monitoring/severity.ts";
import type { AlertRule } from "./condition.ts";

/** Alerts about the month that follow when blocks are lost. */
export const LOSS_ALERTS = [
  "any-reward-fast-burn",
  "any-reward-at-risk",
  "any-reward-headroom-low",
  "any-reward-rate-low",
  "any-reward-slow-burn",
  "full-reward-fast-burn",
  "full-reward-at-risk",
  "full-reward-headroom-low",
  "full-reward-rate-low",
  "full-reward-slow-burn",
] as const;

/** Alerts about votes, signatures and the month that follow when the node does not take part. */
export const VOTE_ALERTS = ["oracle-calls-failing", "jail-near", "jail-risk", ...LOSS_ALERTS] as const;

/**
 * Time after the end of a cause in which its consequences do not begin, unless `alerts.grace` says otherwise: what the cause did
 * disappears a little later than the cause. The rules on raw metrics always use this one.
 */
export const GRACE_MS = 300_000;

const byRules = new WeakMap<readonly AlertRule[], ReadonlyMap<string, readonly AlertRule[]>>();

/**
 * Returns the rules that cause each alert, by name of its condition. A cause mutes nothing graver than itself: a ticket must not keep a
 * page from going out. Rules are the same at each poll, so the result is stored with them.
 */
export function causesByAlert(rules: readonly AlertRule[]): ReadonlyMap<string, readonly AlertRule[]> {
  const stored = byRules.get(rules);
  if (stored !== undefined) return stored;
  const causes = new Map(
    rules.map(({ condition: { name }, severity }) => [
      name,
      rules.filter((cause) => cause.condition.inhibits.includes(name) && isAtLeast(cause.severity, severity)),
    ]),
  );
  byRules.set(rules, causes);
  return causes;
}
