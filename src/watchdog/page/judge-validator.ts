import type { AlertStatus } from "../api/alert-json.ts";
import type { Headroom } from "../policy/assessment.ts";
import type { Tier } from "../policy/reward-tier.ts";
import type { WatchdogStatus } from "../status.ts";
import type { Tone } from "../../web/parts.ts";

/** What this month means for a validator's pay, the gravest first. */
export const VERDICTS = ["lost", "cannot-see", "losing", "part-lost", "early", "warning", "paid"] as const;

/** One of {@link VERDICTS}. */
type VerdictKind = (typeof VERDICTS)[number];

/** The verdict on a validator in one sentence, without times. */
export interface ValidatorVerdict {
  readonly kind: VerdictKind;
  readonly tone: Tone;
  readonly headline: string;
  /** The same in two words, for tables. */
  readonly short: string;
}

/** Times up to which a poll counts as present. */
export interface Freshness {
  readonly nowMs: number;
  /** Longest time between the ends of two polls when all is well. */
  readonly pollMs: number;
}

/** Judges one validator. Never good when the last poll is old, when no node could be read, or when nothing was counted. */
export function judgeValidator(status: WatchdogStatus, fresh: Freshness): ValidatorVerdict {
  if (boundaryState(status, "none") === "lost")
    return bad("lost", "lost", "Lost: this month pays nothing, whatever happens now");
  const blind = whyBlind(status, fresh);
  if (blind !== undefined)
    return { kind: "cannot-see", tone: "unknown", short: "cannot see", headline: `Cannot see: ${blind}` };
  const tier = tierNow(status);
  if (tier === undefined)
    return {
      kind: "cannot-see",
      tone: "unknown",
      short: "no count yet",
      headline: "Cannot see: no block of this month is counted yet",
    };
  const isEarly = hasFewBlocks(status, tier);
  const isLosingAll = tier === "none" && !isEarly;
  const [worst] = firingOf(status.alerts);
  // The cause says more than the rate, which the line below has.
  if (worst?.rule.severity === "critical")
    return bad(
      "losing",
      isLosingAll ? "losing all" : "losing",
      `Losing: ${lowerFirst(worst.rule.condition.title)}`,
    );
  if (isLosingAll) return bad("losing", "losing all", "Losing: this month pays nothing at its present rate");
  if (boundaryState(status, "full") === "lost")
    return warn("part-lost", "paid in part", "Full pay is lost: this month is paid in part");
  if (tier === "proportional" && !isEarly)
    return warn("losing", "losing full pay", "Losing: this month is paid in part at its present rate");
  const soFar = isEarly
    ? { short: "too early", headline: "Too early to say" }
    : { short: "paid", headline: "Paid in full so far" };
  if (worst !== undefined)
    return warn(
      "warning",
      `${soFar.short}, warning`,
      `${soFar.headline}, with a warning: ${lowerFirst(worst.rule.condition.title)}`,
    );
  const [pending] = status.alerts.filter(
    ({ state, rule }) => state?.phase === "pending" && rule.severity !== "info",
  );
  if (pending !== undefined)
    return warn(
      "warning",
      `${soFar.short}, pending`,
      `${soFar.headline}; not firing yet: ${lowerFirst(pending.rule.condition.title)}`,
    );
  if (isEarly)
    return {
      kind: "early",
      tone: "unknown",
      short: "too early",
      headline: "Too early to say: this month has too few blocks for a rate",
    };
  if (boundaryState(status, "full") === "clinched")
    return {
      kind: "paid",
      tone: "good",
      short: "paid in full",
      headline: "Paid in full, whatever happens now",
    };
  return { kind: "paid", tone: "good", short: "paid in full", headline: "Paid in full at the present rate" };
}

/** Firing alerts that mean something for pay, the most severe first; those that others cause last. */
export function firingOf(alerts: readonly AlertStatus[]): readonly AlertStatus[] {
  const order = { critical: 0, warning: 1, info: 2 } as const;
  const rank = ({ rule, state }: AlertStatus): number =>
    order[rule.severity] * 2 + (state?.quietReason?.startsWith("muted by") === true ? 1 : 0);
  return alerts
    .filter(({ state, rule }) => state?.phase === "firing" && rule.severity !== "info")
    .toSorted((a, b) => rank(a) - rank(b));
}

/** The tier by the policy that pays, or by the specification before the first poll. */
export function tierNow({ assessment, current }: WatchdogStatus): Tier | undefined {
  return assessment === undefined ? current.tier : assessment.tier;
}

/** Conditions of the month's rate, by the tier that makes them active. */
const RATE_CONDITIONS = { none: "any-reward-rate-low", proportional: "full-reward-rate-low" } as const;

/**
 * Whether the month has fewer blocks than its rate needs to prove a tier below full pay. The alert on the rate has the limit, so
 * that page and alert agree; without the alert there is none.
 */
function hasFewBlocks({ alerts, current }: WatchdogStatus, tier: Tier): boolean {
  if (tier === "full") return false;
  const alert = alerts.find(({ rule }) => rule.condition.name === RATE_CONDITIONS[tier]);
  const { good, bad: failed } = current.counts;
  return Number(good + failed) < (alert?.rule.limits["min_blocks"] ?? 0);
}

function whyBlind(
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

function boundaryState(
  { assessment }: WatchdogStatus,
  boundary: Headroom["boundary"],
): Headroom["state"] | undefined {
  return assessment?.headroom.find((headroom) => headroom.boundary === boundary)?.state;
}

function bad(kind: VerdictKind, short: string, headline: string): ValidatorVerdict {
  return { kind, tone: "bad", short, headline };
}

function warn(kind: VerdictKind, short: string, headline: string): ValidatorVerdict {
  return { kind, tone: "warn", short, headline };
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
