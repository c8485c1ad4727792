import { DAY_MS, isoTime, isoTimeOrNull } from "../../platform/base/time.ts";
import { type Month, monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import { formatCount, formatMinute } from "../../platform/base/text.ts";
import { LEDGER_SOURCES, NO_BLOCKS } from "../ledger/ledger-view.ts";
import type { BlockCounts, LedgerEvent, LedgerSource, MonthRecord, Rollup } from "../ledger/ledger-view.ts";
import { type Assessment, type Curve, type Policy, rewardCents } from "../policy/assessment.ts";
import { costedMonth, incidentView, incidentsOf, withCosts } from "../alerts/incidents.ts";
import type { CostedIncident } from "../alerts/incidents.ts";
import { type Cost, costView } from "../policy/cost-text.ts";
import { type CostedMonth, monthCost } from "../policy/cost.ts";
import {
  allowedMisses,
  BOUNDARIES,
  formatPercent,
  percentOrNull,
  rateBounds,
  successRate,
  tierOf,
  TIERS,
} from "../policy/reward-tier.ts";
import type { Boundary, SuccessRate, Tier } from "../policy/reward-tier.ts";
import type { Payment } from "../sources/payment-result.ts";
import type { AlertEpisode, ValidatorData } from "./validator-data.ts";
import { formatDec18 } from "../../platform/base/decimal.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { paymentView } from "../policy/payment-texts.ts";

/** All facts about one validator's month that reports use. */
export interface MonthFacts {
  readonly validator: string;
  readonly month: Month;
  readonly policy: Policy;
  readonly record: MonthRecord;
  /** The success rate. If no block has been counted, `rate`, `tier` and `payCents` are undefined. */
  readonly rate: SuccessRate | undefined;
  readonly bounds: Assessment["bounds"];
  readonly tier: Tier | undefined;
  /** The pay under each reward curve, based on the policy's boundaries. Assumes that the validator signed all blocks. */
  readonly payCents: Readonly<Record<Curve, bigint>> | undefined;
  /** The rollup of each day of the month, or undefined for a day without blocks. */
  readonly days: readonly (Rollup | undefined)[];
  /** The month's bad blocks by hour of the day (24 entries, UTC). */
  readonly badByHour: readonly bigint[];
  readonly incidents: readonly CostedIncident[];
  /** The cost of all missed blocks in the month. */
  readonly cost: Cost;
  readonly costed: CostedMonth;
  readonly events: readonly LedgerEvent[];
  readonly alerts: readonly AlertEpisode[];
  /** The payment for the month. Absent if the watchdog did not search for the payment. */
  readonly payment?: Payment;
  /** The success rate according to each ledger source that has counted blocks. */
  readonly sources: readonly { readonly source: LedgerSource; readonly rate: SuccessRate }[];
}

/** Collects one validator's facts about a month. Returns undefined if no block of the month has been counted. */
export function monthFacts(data: ValidatorData, month: Month): MonthFacts | undefined {
  const { ledger, policy } = data;
  const record = ledger.months().find((one) => one.month === month);
  if (record === undefined) return undefined;
  const fromMs = monthStartMs(month);
  const toMs = nextMonthMs(fromMs);
  const hours = ledger.hours(fromMs, toMs);
  // Omit everything after the end of the month, so that the facts no longer change once the month is over.
  const events = ledger
    .events(fromMs, toMs)
    .filter(({ kind }) => kind !== "month-sealed")
    .map((event) => ({ ...event, toMs: Math.min(event.toMs, toMs) }));
  const alerts = data.alerts
    .filter((alert) => alert.firedAtMs < toMs && (alert.resolvedAtMs ?? toMs) >= fromMs)
    .map((alert) => ({
      ...alert,
      resolvedAtMs: (alert.resolvedAtMs ?? toMs) < toMs ? alert.resolvedAtMs : undefined,
    }));
  // Don't use minute rollups for finalized months, because the facts would change when the rollups are deleted after 12 hours.
  const lasting = record.finalized === undefined ? ledger : { ...ledger, minutes: () => [] };
  const costed = costedMonth(data, month);
  const rate = successRate(record.counts);
  const payment = data.chain?.payments?.find((one) => one.month === month);
  return {
    validator: ledger.validator,
    month,
    policy,
    record,
    rate,
    bounds: rateBounds(record.counts),
    tier: rate && tierOf(rate, policy.least),
    payCents: rate && payByCurve(policy, rate),
    days: daysOf(ledger.days(fromMs, toMs), fromMs, toMs),
    badByHour: badByHourOf(hours),
    incidents: withCosts(data, incidentsOf({ ledger: lasting, alerts, policy }, fromMs, toMs)),
    cost: monthCost(costed),
    costed,
    events,
    alerts,
    ...(payment === undefined ? {} : { payment }),
    sources: LEDGER_SOURCES.flatMap((source) => sourceRate(data, month, source)),
  };
}

function payByCurve(policy: Policy, rate: SuccessRate): Readonly<Record<Curve, bigint>> {
  const centsOf = (curve: Curve): bigint => rewardCents({ ...policy, curve }, rate);
  return { linear: centsOf("linear"), "revenue-quadratic": centsOf("revenue-quadratic") };
}

function daysOf(days: readonly Rollup[], fromMs: number, toMs: number): readonly (Rollup | undefined)[] {
  const byStart = new Map(days.map((day) => [day.startMs, day]));
  const count = Math.round((toMs - fromMs) / DAY_MS);
  return Array.from({ length: count }, (_, index) => byStart.get(fromMs + index * DAY_MS));
}

function badByHourOf(hours: readonly Rollup[]): readonly bigint[] {
  const sums = Array.from({ length: 24 }, () => 0n);
  for (const { startMs, counts } of hours) {
    const hour = new Date(startMs).getUTCHours();
    sums[hour] = (sums[hour] ?? 0n) + counts.bad;
  }
  return sums;
}

function sourceRate({ ledger }: ValidatorData, month: Month, source: LedgerSource): MonthFacts["sources"] {
  const record = ledger.months(source).find((one) => one.month === month);
  const rate = record && successRate(record.counts);
  return rate === undefined ? [] : [{ source, rate }];
}

/** Returns a sentence for each difference in the month's counts that would have led to another tier. */
export function tierChanges(facts: MonthFacts): readonly string[] {
  const { rate, tier, bounds, incidents, policy, record } = facts;
  if (rate === undefined || tier === undefined) return [];
  const bad = rate.total - rate.good;
  // The boundary at index i separates the tier at index i from the next worse tier.
  const place = TIERS.indexOf(tier);
  const [upper, lower] = [BOUNDARIES[place - 1], BOUNDARIES[place]];
  return [
    ...(upper === undefined ? [] : upwards(rate, policy, upper, incidents)),
    ...(lower === undefined
      ? []
      : downwards(allowedMisses(rate.total, policy.least[lower]) - bad + 1n, lower)),
    ...(bounds === undefined ? [] : unknownBlocks(bounds, policy, record.counts.unknown)),
  ];
}

function upwards(
  rate: SuccessRate,
  policy: Policy,
  boundary: Boundary,
  incidents: MonthFacts["incidents"],
): readonly string[] {
  const tier = boundary === "full" ? "full" : "proportional";
  const missing = rate.total - rate.good - allowedMisses(rate.total, policy.least[boundary]);
  const alone = incidents
    .filter(({ bad }) => bad >= missing)
    .map(
      ({ fromMs, bad, cause }) =>
        `Without the ${formatCount(bad)} misses from ${formatMinute(fromMs)} (${cause}), the tier would be ${tier}.`,
    );
  return [`${misses(missing, "fewer")} would have reached the ${tier} tier.`, ...alone];
}

function downwards(margin: bigint, boundary: Boundary): readonly string[] {
  const tier = boundary === "full" ? "proportional" : "none";
  return [`${misses(margin, "more")} would have meant the ${tier} tier.`];
}

function misses(count: bigint, word: "fewer" | "more"): string {
  return `${formatCount(count)} ${word} ${count === 1n ? "miss" : "misses"}`;
}

function unknownBlocks(
  { low, high }: NonNullable<MonthFacts["bounds"]>,
  { least }: Policy,
  unknown: bigint,
): readonly string[] {
  const [worst, best] = [tierOf(low, least), tierOf(high, least)];
  if (worst === best) return [];
  return [`${formatCount(unknown)} unknown blocks decide: all bad means ${worst}, all good means ${best}.`];
}

/** Encodes the facts about a month as JSON, with block counts and amounts as decimal strings. */
export function monthJson(facts: MonthFacts): JsonObject {
  const { record, payCents } = facts;
  const { finalized } = record;
  return {
    validator: facts.validator,
    month: facts.month,
    sealed: finalized === undefined ? null : { at: isoTime(finalized.atMs), hash: finalized.hash },
    covered_from: isoTime(record.coveredFromMs),
    blocks: countsJson(record.counts),
    estimated: countsJson(record.estimated),
    backfilled: countsJson(record.backfilled ?? NO_BLOCKS),
    success_rate_percent: percentOrNull(facts.rate),
    success_rate_bounds_percent: boundsJson(facts.bounds),
    tier: facts.tier ?? null,
    policy: policyJson(facts.policy),
    pay_cents:
      payCents === undefined
        ? null
        : { linear: String(payCents.linear), revenue_quadratic: String(payCents["revenue-quadratic"]) },
    ...(facts.payment === undefined ? {} : { payment: paymentView.json(facts.payment) }),
    sources: facts.sources.map(({ source, rate }) => ({
      source,
      good: String(rate.good),
      total: String(rate.total),
      success_rate_percent: formatPercent(rate),
    })),
    cost: costView.json(facts.cost),
    misses_by_hour: facts.badByHour.map(String),
    days: facts.days.flatMap((day) =>
      day === undefined ? [] : [{ day: isoTime(day.startMs).slice(0, 10), ...countsJson(day.counts) }],
    ),
    incidents: facts.incidents.map(incidentView.json),
    tier_changes: tierChanges(facts),
    alerts: facts.alerts.map(alertJson),
    events: facts.events.map(eventJson),
  };
}

export function policyJson(policy: Policy): JsonObject {
  return {
    curve: policy.curve,
    full_from: formatDec18(policy.least.full),
    none_below: formatDec18(policy.least.none),
    full_reward_cents: String(policy.fullRewardCents),
    source: policy.source,
    ...(policy.currency === undefined ? {} : { currency: policy.currency }),
  };
}

function alertJson(alert: AlertEpisode): JsonObject {
  return {
    alert: alert.alert,
    severity: alert.severity,
    since: isoTime(alert.sinceMs),
    fired_at: isoTime(alert.firedAtMs),
    resolved_at: isoTimeOrNull(alert.resolvedAtMs),
    reason: alert.reason,
  };
}

function eventJson({ kind, fromMs, toMs, node, text }: LedgerEvent): JsonObject {
  return { kind, from: isoTime(fromMs), to: isoTime(toMs), node: node ?? null, text };
}

export function boundsJson(bounds: Assessment["bounds"]): JsonObject[string] {
  return bounds === undefined ? null : [formatPercent(bounds.low), formatPercent(bounds.high)];
}

export function countsJson({ good, bad, unknown }: BlockCounts) {
  return { good: String(good), bad: String(bad), unknown: String(unknown) };
}
