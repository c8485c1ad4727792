import { isAtLeast } from "../../platform/monitoring/severity.ts";
import type { AlertRule } from "./condition.ts";

/** Alerts about the month that follow from missed blocks. */
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

/** Alerts about votes, signatures and the month that follow if the node does not take part. */
export const VOTE_ALERTS = ["oracle-calls-failing", "jail-near", "jail-risk", ...LOSS_ALERTS] as const;

/**
 * For this long after a cause ends, its consequences cannot start to fire, because the effects of a cause disappear a little
 * later than the cause. `alerts.grace` overrides this value, except in the rules on raw metrics.
 */
export const GRACE_MS = 300_000;

const byRules = new WeakMap<readonly AlertRule[], ReadonlyMap<string, readonly AlertRule[]>>();

/**
 * Returns the rules that cause each alert, keyed by condition name. A cause never mutes an alert more severe than itself: a
 * ticket must not suppress a page. The rules are the same in every poll, so the result is cached per list of rules.
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
