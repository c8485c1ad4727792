import { formatDec18 } from "../../platform/base/decimal.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { isoTime, isoTimeOrNull } from "../../platform/base/time.ts";
import { type BlockCounts, NO_BLOCKS } from "../ledger/block-counts.ts";
import type { LedgerEvent } from "../ledger/ledger-view.ts";
import type { Assessment, Policy } from "../policy/assessment.ts";
import { formatPercent, type SuccessRate } from "../policy/reward-tier.ts";
import { incidentJson } from "../alerts/incidents.ts";
import { costJson } from "../policy/cost-text.ts";
import { paymentView } from "../policy/payment-texts.ts";
import { type MonthFacts, tierChanges } from "./month-facts.ts";
import type { AlertEpisode } from "./validator-data.ts";

/** Encodes the facts about a month. Counts and amounts are decimal strings. */
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
    success_rate_percent: percent(facts.rate),
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
    cost: costJson(facts.cost),
    misses_by_hour: facts.badByHour.map(String),
    days: facts.days.flatMap((day) =>
      day === undefined ? [] : [{ day: isoTime(day.startMs).slice(0, 10), ...countsJson(day.counts) }],
    ),
    incidents: facts.incidents.map(incidentJson),
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

export function percent(rate: SuccessRate | undefined): string | null {
  return rate === undefined ? null : formatPercent(rate);
}

export function boundsJson(bounds: Assessment["bounds"]): JsonObject[string] {
  return bounds === undefined ? null : [formatPercent(bounds.low), formatPercent(bounds.high)];
}

/** Formats a rate as a percentage, rounded down; "–" if no block has been counted. */
export function formatRate(rate: SuccessRate | undefined): string {
  return rate === undefined ? "–" : `${formatPercent(rate)} %`;
}

export function countsJson({ good, bad, unknown }: BlockCounts) {
  return { good: String(good), bad: String(bad), unknown: String(unknown) };
}
