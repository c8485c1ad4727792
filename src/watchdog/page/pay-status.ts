import type { AlertStatus } from "../alerts/alert-status.ts";
import { mutedBy } from "../alerts/under-causes.ts";
import { foundedForecast, type Headroom, isEarly } from "../policy/assessment.ts";
import type { Tier } from "../policy/reward-tier.ts";
import type { WatchdogStatus } from "../polling/watchdog-status.ts";
import { type Freshness, whyBlind } from "../polling/freshness.ts";
import { grouped, type Tone } from "../../platform/web/parts.ts";

/** States of a validator's pay for the current month, most serious first. */
export const PAY_STATES = ["lost", "cannot-see", "losing", "part-lost", "warning", "early", "paid"] as const;

/** The fate of a part of the pay, in the pages' words. */
export const BOUNDARY_STATES = { open: "can still be lost", clinched: "safe", lost: "lost" } as const;

/** Each month's pay, in the pages' words. */
export const TIER_NAMES: Readonly<Record<Tier, string>> = {
  full: "full pay",
  proportional: "a part of the pay",
  none: "no pay",
};

type PayState = (typeof PAY_STATES)[number];

/** One sentence about how a validator is paid, without times. */
export interface PayStatus {
  readonly kind: PayState;
  readonly tone: Tone;
  readonly headline: string;
  /** The same status in two words, for tables. */
  readonly short: string;
}

/**
 * Returns a validator's pay status, which is never good if the last poll is old, no node could be read, or nothing was counted.
 * If hardly any blocks have been seen this month, the rate of recent days is used; without it, it is too early to say. A lost
 * boundary or a firing alert is shown even then.
 */
export function payStatusOf(status: WatchdogStatus, fresh: Freshness): PayStatus {
  if (boundaryState(status, "none") === "lost")
    return payStatus("bad", "lost", "lost", "Lost: this month pays nothing, whatever happens now");
  const blind = whyBlind(status, fresh);
  if (blind !== undefined) return payStatus("unknown", "cannot-see", "cannot see", `Cannot see: ${blind}`);
  const tier = expectedTier(status);
  if (tierNow(status) === undefined)
    return payStatus(
      "unknown",
      "cannot-see",
      "no count yet",
      "Cannot see: no block of this month has been counted yet",
    );
  const rate = rateText(status);
  const short = tier === "none" ? "losing all" : "losing";
  const [worst] = firingOf(status.alerts);
  // The cause says more than the rate, which the line below shows.
  if (worst?.rule.severity === "critical")
    return payStatus("bad", "losing", short, `Losing: ${lowerFirst(worst.rule.condition.title)}`);
  if (tier === "none") return payStatus("bad", "losing", short, `Losing: this month pays nothing at ${rate}`);
  if (boundaryState(status, "full") === "lost")
    return payStatus("warn", "part-lost", "paid in part", "Full pay is lost: this month is paid in part");
  if (tier === "proportional")
    return payStatus("warn", "losing", "losing full pay", `Losing: this month is paid in part at ${rate}`);
  return paidStatus(status, tier, worst);
}

/** Returns the status of a validator with no known loss. `tier` is undefined if it is too early to say. */
function paidStatus(
  status: WatchdogStatus,
  tier: Tier | undefined,
  worst: AlertStatus | undefined,
): PayStatus {
  const isKnown = tier !== undefined;
  const soFar = isKnown
    ? `Paid in full ${isEarlyMonth(status) || tierNow(status) !== "full" ? `at ${rateText(status)}` : "so far"}`
    : earlyText(status);
  const short = isKnown ? "paid" : "too early";
  if (worst !== undefined)
    return payStatus(
      "warn",
      "warning",
      `${short}, warning`,
      `${soFar}, with a warning: ${lowerFirst(worst.rule.condition.title)}`,
    );
  const pending = status.alerts.find(
    // An alert that waits for the grace period's end is probably an echo of one that has ended.
    ({ state, rule }) =>
      state?.phase === "pending" && state.heldUntilMs === undefined && rule.severity !== "info",
  );
  if (pending !== undefined)
    return payStatus(
      "warn",
      "warning",
      `${short}, pending`,
      `${soFar}; not firing yet: ${lowerFirst(pending.rule.condition.title)}`,
    );
  if (!isKnown) return payStatus("unknown", "early", "too early to say", earlyText(status));
  if (boundaryState(status, "full") === "clinched" && !isEarlyMonth(status))
    return paidInFull("Paid in full, whatever happens now");
  return paidInFull(`Paid in full at ${rateText(status).replace("its current", "the current")}`);
}

function isEarlyMonth({ assessment }: WatchdogStatus): boolean {
  return assessment !== undefined && isEarly(assessment);
}

/** Returns the tier in which the month ends if the current loss continues; without a forecast, the tier for the current rate. */
function expectedTier(status: WatchdogStatus): Tier | undefined {
  const forecast = foundedForecast(status.assessment)?.tiers.middle;
  return isEarlyMonth(status) ? forecast : (forecast ?? tierNow(status));
}

/** The rate on which {@link expectedTier} is based: "its current rate", "the rate of recent days", "the rate of its forecast". */
function rateText(status: WatchdogStatus): string {
  if (isEarlyMonth(status)) return `the rate of ${status.assessment?.forecast?.basis}`;
  return expectedTier(status) === tierNow(status) ? "its current rate" : "the rate of its forecast";
}

function earlyText({ assessment, current }: WatchdogStatus): string {
  const { good, bad: missed } = (assessment ?? current).counts;
  const seen = good + missed === 1n ? "1 block" : `${grouped(good + missed)} blocks`;
  return `Too early to say: ${seen} of this month seen, ${missed === 0n ? "none" : grouped(missed)} of them bad`;
}

/** Returns the firing alerts that matter for pay, most severe first. Within a severity, alerts caused by others come last. */
function firingOf(alerts: readonly AlertStatus[]): readonly AlertStatus[] {
  const order = { critical: 0, warning: 1, info: 2 } as const;
  const rank = ({ rule, state }: AlertStatus): number =>
    order[rule.severity] * 2 + (mutedBy(state?.quietReason) === undefined ? 0 : 1);
  return alerts
    .filter(({ state, rule }) => state?.phase === "firing" && rule.severity !== "info")
    .toSorted((a, b) => rank(a) - rank(b));
}

/** Returns the firing alerts that are not muted by others. */
export function causesOf(alerts: readonly AlertStatus[]): readonly AlertStatus[] {
  return firingOf(alerts).filter(({ state }) => mutedBy(state?.quietReason) === undefined);
}

/** Returns the tier under the policy in force or, before the first poll, under the specification. */
export function tierNow(status: WatchdogStatus): Tier | undefined {
  return (status.assessment ?? status.current).tier;
}

function boundaryState(
  { assessment }: WatchdogStatus,
  boundary: Headroom["boundary"],
): Headroom["state"] | undefined {
  return assessment?.headroom.find((headroom) => headroom.boundary === boundary)?.state;
}

function payStatus(tone: Tone, kind: PayState, short: string, headline: string): PayStatus {
  return { kind, tone, short, headline };
}

/** Returns the status of one or more validators that are paid in full. */
export function paidInFull(headline: string): PayStatus {
  return payStatus("good", "paid", "paid in full", headline);
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
