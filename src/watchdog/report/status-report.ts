import { isMutedUntil, mutedBy } from "../alerts/under-causes.ts";
import { type ActiveAlert, activeAlertJson, alertBlocks } from "./active-alerts.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { heading, list, paragraph, right, table } from "../../platform/report/blocks.ts";
import type { Report, ReportBlock, ReportOutcome } from "../../platform/report/document.ts";
import { formatCents, formatCount, formatMinute, formatTime } from "../../platform/base/text.ts";
import { isoTimeOrNull } from "../../platform/base/time.ts";
import {
  type Assessment,
  boundaryState,
  BURN_WINDOWS,
  expectedTier,
  type Forecast,
  isEarly,
  tierCell,
} from "../policy/assessment.ts";
import { ENOUGH_BLOCKS, formatRate, percentOrNull } from "../policy/reward-tier.ts";
import { boundsJson, countsJson, policyJson } from "./month-facts.ts";
import { HEADROOM_COLUMNS, headroomCells } from "./handover.ts";
import { alertCost, type CostedIncident, incidentView } from "../alerts/incidents.ts";
import { costText, costView } from "../policy/cost-text.ts";
import { costOf, monthCost } from "../policy/cost.ts";
import { incidentBlocks, monthIncidents, standingBlocks } from "./report-blocks.ts";
import { chainBlocks, chainFactsJson } from "./chain-facts.ts";
import { standingJson } from "../policy/standing-json.ts";
import type { ValidatorData } from "./validator-data.ts";

export interface OracleNow {
  /** The time when the last poll ended; undefined before the first poll. */
  readonly polledAtMs: number | undefined;
  readonly nowMs: number;
  /** Explains since when and why the watchdog has failed to store its state; undefined while storing works. */
  readonly storeProblem: string | undefined;
  readonly validators: readonly ValidatorData[];
  /** Pending and firing alerts of all validators. */
  readonly alerts: readonly ActiveAlert[];
}

/** Maximum age of a last poll that still describes the current state. */
const STALE_MS = 120_000;

/** Creates the report for `status`, which summarizes the rate, tier, headroom and firing alerts. */
export function statusReport(now: OracleNow): Report {
  const rows = now.validators.map(({ ledger, assessment }) => {
    const { rate, rewardCents, policy } = assessment;
    const isKnown = rewardCents !== undefined && !isEarly(assessment);
    const pay = isKnown ? formatCents(rewardCents, policy.currency) : "–";
    return [ledger.validator, formatRate(rate), tierCell(assessment), pay, ...headroomCells(assessment)];
  });
  return {
    title: `Oracle status, ${now.validators[0]?.assessment.month ?? "no month"}`,
    outcome: statusOutcome(now),
    blocks: [
      ...paragraph(pollText(now)),
      ...storeBlocks(now),
      ...table(["Validator", right("Month"), "Tier", right("Pay"), ...HEADROOM_COLUMNS], rows),
      ...list(now.validators.map(missedText)),
      ...earlyBlocks(now.validators),
      ...chainBlocks(now.validators, now.nowMs),
      ...standingBlocks(now.validators, now.nowMs),
      ...alertBlocks(now.alerts),
    ],
    data: {
      report: "status",
      polled_at: isoTimeOrNull(now.polledAtMs),
      store_error: now.storeProblem ?? null,
      validators: now.validators.map(({ ledger, assessment, chain, standing }) => ({
        validator: ledger.validator,
        chain_id: ledger.chainId ?? null,
        ...assessmentJson(assessment),
        ...chainFactsJson(chain),
        standing: standing === undefined ? null : standingJson(standing),
      })),
      alerts: now.alerts.map(activeAlertJson),
    },
    csv: {
      columns: [
        "validator",
        "month_rate",
        "tier",
        "pay",
        "outage_to_full_pay_lost",
        "outage_to_all_pay_lost",
      ],
      rows,
    },
  };
}

function missedText({ ledger, assessment }: ValidatorData): string {
  return `${ledger.validator}: ${formatRate(assessment.rate)}, missed ${costText(monthCost(assessment))}.`;
}

/**
 * Returns "problem" if the state cannot be stored or an alert is firing. Otherwise, returns "unseen" if the last poll is missing or
 * stale, and else the month's outcome.
 */
function statusOutcome(now: OracleNow): ReportOutcome {
  const { polledAtMs, nowMs, storeProblem, validators, alerts } = now;
  if (storeProblem !== undefined || alerts.some(({ state }) => state === "firing")) return "problem";
  const isStale = polledAtMs === undefined || nowMs - polledAtMs > STALE_MS;
  return isStale ? "unseen" : monthOutcomeOf(validators);
}

/** Returns the current month's outcome, which is "problem" if any validator is not expected to be paid in full. */
export function monthOutcomeOf(validators: readonly ValidatorData[]): ReportOutcome {
  const rates = validators.filter(({ assessment }) => assessment.rate !== undefined);
  if (rates.length === 0) return "unseen";
  return rates.every(({ assessment }) => isPaidInFull(assessment)) ? "fine" : "problem";
}

/**
 * Returns false if full pay is lost or not expected, by the same rule as the page. Months with too few blocks are treated as fully
 * paid.
 */
function isPaidInFull(assessment: Assessment): boolean {
  return boundaryState(assessment, "full") !== "lost" && (expectedTier(assessment) ?? "full") === "full";
}

function pollText({ polledAtMs, nowMs }: OracleNow): string {
  if (polledAtMs === undefined) return "The watchdog has not polled yet.";
  const stale = nowMs - polledAtMs > STALE_MS ? ", which is too old to say anything about the present" : "";
  return `Last poll: ${formatTime(polledAtMs)} UTC${stale}.`;
}

/** Explains what to do while the watchdog cannot store its state. */
function storeBlocks({ storeProblem }: OracleNow): readonly ReportBlock[] {
  return paragraph(
    storeProblem &&
      `Watchdog: ${storeProblem}. It is in memory only: repair the disk before anybody restarts the watchdog.`,
  );
}

/** Names the validators whose rate is not meaningful yet, because too few blocks have been counted this month. */
export function earlyBlocks(validators: readonly ValidatorData[]): readonly ReportBlock[] {
  return validators.flatMap(({ ledger, assessment }) => {
    const { rate } = assessment;
    if (rate === undefined || !isEarly(assessment)) return [];
    return paragraph(
      `${ledger.validator}: the month has ${formatCount(rate.total)} counted blocks. Its rate says little before ${formatCount(ENOUGH_BLOCKS)}.`,
    );
  });
}

/** Encodes an assessment as JSON, with decimal strings for amounts and block counts. */
export function assessmentJson(assessment: Assessment): JsonObject {
  const { headroom, forecast, rotation, rewardCents, remainingBlocks, blockTimeMs } = assessment;
  return {
    month: assessment.month,
    success_rate_percent: percentOrNull(assessment.rate),
    success_rate_bounds_percent: boundsJson(assessment.bounds),
    tier: assessment.tier ?? null,
    too_early: isEarly(assessment),
    pay_cents: rewardCents === undefined ? null : String(rewardCents),
    blocks: countsJson(assessment.counts),
    cost: costView.json(monthCost(assessment)),
    policy: policyJson(assessment.policy),
    block_time_ms: blockTimeMs ?? null,
    remaining_blocks: remainingBlocks === undefined ? null : String(remainingBlocks),
    headroom: headroom.map((one) => ({
      boundary: one.boundary,
      state: one.state,
      misses: String(one.misses),
      outage_seconds: one.outageMs === undefined ? null : Math.round(one.outageMs / 1000),
      lost_in_seconds: one.lostInMs === undefined ? null : Math.round(one.lostInMs / 1000),
      required_rate: Number.isFinite(one.requiredRate) ? one.requiredRate : null,
      burn_rates: Object.fromEntries(BURN_WINDOWS.map((window) => [window, one.burnRates[window] ?? null])),
    })),
    forecast: forecast === undefined ? null : forecastJson(forecast),
    rotation: {
      state: rotation.state,
      in_a_row: rotation.inARow,
      in_window: rotation.inWindow,
      months: rotation.months,
    },
  };
}

function forecastJson({ basis, tiers, rewardCents, regimes, ...rates }: Forecast): JsonObject {
  const outcome = (name: "low" | "middle" | "high"): JsonObject => ({
    success_rate_percent: percentOrNull(rates[name]),
    tier: tiers[name],
    pay_cents: String(rewardCents[name]),
  });
  return {
    basis,
    low: outcome("low"),
    expected: outcome("middle"),
    high: outcome("high"),
    regimes: regimes.map(({ name, badShare, end, tier }) => ({
      name,
      bad_share: badShare,
      success_rate_percent: percentOrNull(end),
      tier,
    })),
  };
}

/** Creates the report for `why`, with the current problems, their consequences and remedies, and the causes of this month's misses. */
export function whyReport(now: OracleNow): Report {
  const firing = now.alerts.filter(({ state }) => state === "firing");
  const roots = rootsOf(now.alerts);
  const explained = new Set(roots.flatMap(({ caused }) => caused));
  const pending = now.alerts.filter((alert) => alert.state === "pending" && !explained.has(alert));
  const columns = ["alert", "validator", "severity", "state", "reason"] as const;
  const months = now.validators.map((data) => ({ data, incidents: monthIncidents(data, now.nowMs) }));
  return {
    title: "Why",
    outcome: statusOutcome(now),
    blocks: [
      ...storeBlocks(now),
      ...(firing.length === 0
        ? paragraph(pending.length === 0 ? "Nothing fires." : "Nothing fires yet.")
        : roots.flatMap((root) => rootBlocks(root, now))),
      ...list(pending.map(pendingText)),
      ...chainBlocks(now.validators, now.nowMs),
      ...heading("Misses of this month"),
      ...missBlocks(months),
    ],
    data: {
      report: "why",
      alerts: now.alerts.map(activeAlertJson),
      misses: months.map(({ data: { ledger, assessment }, incidents }) => ({
        validator: ledger.validator,
        cost: costView.json(monthCost(assessment)),
        incidents: incidents.map(incidentView.json),
      })),
    },
    csv: { columns, rows: now.alerts.map((alert) => columns.map((column) => alert[column])) },
  };
}

/** A firing alert without a firing cause, together with all alerts that it causes directly or indirectly. */
interface Root {
  readonly root: ActiveAlert;
  readonly caused: readonly ActiveAlert[];
}

function rootsOf(alerts: readonly ActiveAlert[]): readonly Root[] {
  const firing = alerts.filter(({ state }) => state === "firing");
  return firing
    .filter((alert) => !firing.some((other) => causes(other, alert)))
    .map((root) => ({ root, caused: causedBy(root, alerts) }));
}

function causedBy(root: ActiveAlert, alerts: readonly ActiveAlert[]): readonly ActiveAlert[] {
  const found = new Set([root]);
  // The loop also visits elements that it appends to `found`.
  for (const cause of found)
    for (const alert of alerts) if (cause.state === "firing" && causes(cause, alert)) found.add(alert);
  return [...found].slice(1);
}

function causes(a: ActiveAlert, b: ActiveAlert): boolean {
  return a.validator === b.validator && a.inhibits.includes(b.alert);
}

function rootBlocks({ root, caused }: Root, { validators, nowMs }: OracleNow): readonly ReportBlock[] {
  const data = validators.find(({ ledger }) => ledger.validator === root.validator);
  const cost = data && alertCost(data, data.assessment, root, nowMs);
  const items = [
    root.description,
    `Impact: ${root.impact}`,
    ...(cost === undefined ? [] : [`Cost: ${costText(cost)}.`]),
    `Action: ${root.action}`,
    `Runbook: ${root.runbook.includes("/") ? root.runbook : `alerts/runbooks/${root.runbook}`}`,
    ...(root.quiet === null ? [] : [`Nobody is notified: ${root.quiet}.`]),
    ...(caused.length === 0 ? [] : [`It also explains: ${caused.map(causedText).join(", ")}.`]),
  ];
  return [
    ...heading(`${root.validator}: ${root.title} (${root.severity})`),
    ...paragraph(`Since ${formatMinute(root.sinceMs)} UTC: ${root.reason}.`),
    ...list(items),
  ];
}

function causedText({ title, state, quiet }: ActiveAlert): string {
  if (state === "pending") return `${title} (pending)`;
  return mutedBy(quiet) === undefined ? title : `${title} (muted)`;
}

function pendingText({ validator, title, sinceMs, reason, quiet }: ActiveAlert): string {
  return `${validator}: ${title} is ${isMutedUntil(quiet) ? quiet : `pending (since ${formatMinute(sinceMs)} UTC)`}: ${reason}.`;
}

interface MonthMisses {
  readonly data: ValidatorData;
  readonly incidents: readonly CostedIncident[];
}

function missBlocks(months: readonly MonthMisses[]): readonly ReportBlock[] {
  return months.flatMap(({ data, incidents }) => {
    const { assessment } = data;
    const known = incidents.reduce((sum, { bad }) => sum + bad, 0n);
    return [
      ...list([missedText(data)]),
      ...incidentBlocks(incidents, (blocks) => costOf(assessment, blocks), assessment.counts.bad - known),
    ];
  });
}
