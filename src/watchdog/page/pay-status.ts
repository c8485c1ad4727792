import type { AlertStatus } from "../alerts/alert-status.ts";
import { mutedBy } from "../alerts/under-causes.ts";
import {
  boundaryState,
  expectedTier,
  foundedForecast,
  type Headroom,
  isEarly,
  policyOf,
} from "../policy/assessment.ts";
import { formatRate, type Tier } from "../policy/reward-tier.ts";
import { type Freshness, whyBlind } from "../polling/freshness.ts";
import type { WatchdogStatus } from "../polling/watchdog-status.ts";
import { badge, type Column, dataTable, grouped, type Tone } from "../../platform/web/parts.ts";
import { HOUR_MS } from "../../platform/base/time.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import type { PartRow } from "../../platform/web/overview.ts";
import { sparkline, type Trend } from "../../platform/web/plots.ts";
import type { LedgerView } from "../ledger/ledger-view.ts";
import { BARS, type HourState, stateOf } from "./month-plots.ts";

/** The possible states of a validator's pay this month, most serious first. */
const PAY_STATES = ["lost", "cannot-see", "losing", "part-lost", "warning", "early", "paid"] as const;

/** Labels for the states of a boundary. A label states whether the pay above the boundary can still be lost. */
export const BOUNDARY_STATES = { open: "can still be lost", clinched: "safe", lost: "lost" } as const;

type PayState = (typeof PAY_STATES)[number];

/** A summary of a validator's pay in one sentence, without times. */
export interface PayStatus {
  readonly kind: PayState;
  readonly tone: Tone;
  readonly headline: string;
  /** A shorter form of the headline for tables, with a few words. */
  readonly short: string;
}

/**
 * Returns a validator's pay status. The status is never good if the last poll is old, no node could be read, or nothing was
 * counted. If very few blocks have been counted this month, the status is based on the rate of recent days or hours. If the recent
 * rate is also unknown, the status is "too early to say", unless a boundary is lost or an alert is firing.
 */
export function payStatusOf(status: WatchdogStatus, fresh: Freshness): PayStatus {
  if (boundaryState(status.assessment, "none") === "lost")
    return payStatus("bad", "lost", "lost", "Lost: this month pays nothing, whatever happens now");
  const blind = whyBlind(status, fresh);
  if (blind !== undefined) return payStatus("unknown", "cannot-see", "cannot see", `Cannot see: ${blind}`);
  const tier = tierAtEnd(status);
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
  // Show the cause, which is more informative than the rate. The rate is shown below the headline.
  if (worst?.rule.severity === "critical")
    return payStatus("bad", "losing", short, `Losing: ${lowerFirst(worst.rule.condition.title)}`);
  if (tier === "none") return payStatus("bad", "losing", short, `Losing: this month pays nothing at ${rate}`);
  if (boundaryState(status.assessment, "full") === "lost")
    return payStatus("warn", "part-lost", "paid in part", "Full pay is lost: this month is paid in part");
  if (tier === "proportional")
    return payStatus("warn", "losing", "losing full pay", `Losing: this month is paid in part at ${rate}`);
  return paidStatus(status, tier, worst);
}

/** Returns the status of a validator without known losses. `tier` is undefined if the month has too few blocks. */
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
    // Ignore alerts in a grace period, because such alerts are probably the aftermath of a cause that has ended.
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
  if (boundaryState(status.assessment, "full") === "clinched" && !isEarlyMonth(status))
    return paidInFull("Paid in full, whatever happens now");
  return paidInFull(`Paid in full at ${rateText(status).replace("its current", "the current")}`);
}

function isEarlyMonth({ assessment }: WatchdogStatus): boolean {
  return assessment !== undefined && isEarly(assessment);
}

/** Names the rate on which {@link tierAtEnd} is based, for example "its current rate" or "the rate of recent days". */
function rateText(status: WatchdogStatus): string {
  if (isEarlyMonth(status)) return `the rate of ${status.assessment?.forecast?.basis}`;
  return tierAtEnd(status) === tierNow(status) ? "its current rate" : "the rate of its forecast";
}

function earlyText({ assessment, current }: WatchdogStatus): string {
  const { good, bad: missed } = (assessment ?? current).counts;
  const seen = good + missed === 1n ? "1 block" : `${grouped(good + missed)} blocks`;
  return `Too early to say: ${seen} of this month seen, ${missed === 0n ? "none" : grouped(missed)} of them bad`;
}

/** Returns the firing warnings and critical alerts, most severe first. Within a severity, muted alerts come last. */
function firingOf(alerts: readonly AlertStatus[]): readonly AlertStatus[] {
  const order = { critical: 0, warning: 1, info: 2 } as const;
  const rank = ({ rule, state }: AlertStatus): number =>
    order[rule.severity] * 2 + (mutedBy(state?.quietReason) === undefined ? 0 : 1);
  return alerts
    .filter(({ state, rule }) => state?.phase === "firing" && rule.severity !== "info")
    .toSorted((a, b) => rank(a) - rank(b));
}

/** Returns the firing alerts that are not muted by other alerts. */
export function causesOf(alerts: readonly AlertStatus[]): readonly AlertStatus[] {
  return firingOf(alerts).filter(({ state }) => mutedBy(state?.quietReason) === undefined);
}

/** Returns the tier under the current policy. Before the first poll, the tier under the specification is returned. */
export function tierNow(status: WatchdogStatus): Tier | undefined {
  return (status.assessment ?? status.current).tier;
}

/** Returns the tier that is expected at the end of the month. */
function tierAtEnd({ assessment, current }: WatchdogStatus): Tier | undefined {
  return assessment === undefined ? current.tier : expectedTier(assessment);
}

function payStatus(tone: Tone, kind: PayState, short: string, headline: string): PayStatus {
  return { kind, tone, short, headline };
}

/** Returns the status "paid" with the given headline, for one or more validators. */
function paidInFull(headline: string): PayStatus {
  return payStatus("good", "paid", "paid in full", headline);
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

export interface ValidatorEntry {
  readonly status: WatchdogStatus;
  readonly pay: PayStatus;
}

/** Summarizes the pay of all validators in one sentence. */
export function fleetPayStatus(all: readonly ValidatorEntry[]): PayStatus {
  const [worst] = all.toSorted((a, b) => rankOf(a) - rankOf(b));
  if (worst === undefined || worst.pay.kind === "paid")
    return paidInFull(`All ${all.length} validators are paid in full`);
  const same = all.filter(({ pay: { short } }) => short === worst.pay.short);
  const paid = all.filter(({ pay: { kind } }) => kind === "paid").length;
  return {
    ...worst.pay,
    headline: `${counted(same.length, "validator")} of ${all.length}: ${worst.pay.short}; ${paid} paid in full`,
  };
}

export function validatorPath(name: string): string {
  return `/validators/${encodeURIComponent(name)}`;
}

/** Creates the overview row of each validator. */
export function validatorParts(
  all: readonly ValidatorEntry[],
  ledgerOf: (validator: string) => LedgerView | undefined,
  nowMs: number,
): readonly PartRow[] {
  return all.map(({ status, pay }) => ({
    name: `validator ${status.validator}`,
    tone: pay.tone,
    verdict: pay.short,
    number: formatRate(status.current.rate),
    asOfMs: status.polledAtMs,
    href: validatorPath(status.validator),
    trend: lastDayTrend(status, ledgerOf(status.validator), nowMs),
  }));
}

/** Renders a table of all validators, most serious state first. */
export function fleetTable(
  all: readonly ValidatorEntry[],
  ledgerOf: (validator: string) => LedgerView | undefined,
  nowMs: number,
): Html {
  const chains = new Set(all.map(({ status: { chainId } }) => chainId));
  const columns: readonly Column<ValidatorEntry>[] = [
    {
      name: "validator",
      cell: ({ status: { validator } }) => html`<a href="${validatorPath(validator)}">${validator}</a>`,
    },
    { name: "month's pay", cell: ({ pay: { tone: own, short } }) => badge(own, short) },
    ...(chains.size > 1
      ? [{ name: "chain", cell: ({ status: { chainId } }: ValidatorEntry) => chainId ?? "not known yet" }]
      : []),
    { name: "rate", isNumber: true, cell: ({ status }) => formatRate(status.current.rate) },
    { name: "left to full pay", isNumber: true, cell: ({ status }) => outageCell(status, "full") },
    {
      name: "left to any pay",
      isNumber: true,
      isMinor: true,
      cell: ({ status }) => outageCell(status, "none"),
    },
    {
      name: "forecast",
      isNumber: true,
      isMinor: true,
      cell: ({ status: { assessment } }) => formatRate(foundedForecast(assessment)?.middle),
    },
    { name: "alerts", isNumber: true, cell: ({ status: { alerts } }) => causesOf(alerts).length },
    {
      name: "last 24 hours",
      isMinor: true,
      cell: ({ status }) => {
        const trend = lastDayTrend(status, ledgerOf(status.validator), nowMs);
        return trend && sparkline(trend);
      },
    },
  ];
  const rows = all.toSorted((a, b) => rankOf(a) - rankOf(b));
  return dataTable({
    caption: `${counted(all.length, "validator")}, worst first. Left: how long every block can still be bad`,
    columns,
    rows,
    rowId: ({ status }) => `row-${status.validator}`,
  });
}

function rankOf({ pay: { kind, tone } }: ValidatorEntry): number {
  return PAY_STATES.indexOf(kind) * 2 + (tone === "bad" ? 0 : 1);
}

function outageCell({ assessment }: WatchdogStatus, boundary: Headroom["boundary"]): Html | string {
  const headroom = assessment?.headroom.find((one) => one.boundary === boundary);
  if (headroom === undefined) return "–";
  if (headroom.state !== "open") return BOUNDARY_STATES[headroom.state];
  const { misses, outageMs } = headroom;
  const blocks = `${grouped(misses)} blocks`;
  return outageMs === undefined ? blocks : html`<span title="${blocks}">${formatDuration(outageMs)}</span>`;
}

const TREND_HOURS = 24;

/** Returns the trend of a validator's last 24 hours, with one bar per hour. */
function lastDayTrend(
  status: WatchdogStatus,
  ledger: LedgerView | undefined,
  nowMs: number,
): Trend | undefined {
  if (ledger === undefined) return undefined;
  const { least } = policyOf(status.assessment);
  const toMs = Math.floor(nowMs / HOUR_MS + 1) * HOUR_MS;
  const fromMs = toMs - TREND_HOURS * HOUR_MS;
  const hours = new Map(ledger.hours(fromMs, toMs).map((hour) => [hour.startMs, hour]));
  const states = Array.from({ length: TREND_HOURS }, (_, index) =>
    stateOf(hours.get(fromMs + index * HOUR_MS), least),
  );
  const count = (state: HourState): number => states.filter((one) => one === state).length;
  return {
    text: `${counted(count("bad"), "hour")} below any pay, ${count("weak")} below full pay`,
    bars: states.map((state) => (state === "none" ? null : BARS[state])),
  };
}
