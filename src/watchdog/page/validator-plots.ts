import type { Clock } from "../../platform/base/clock.ts";
import { monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import { html, type Html } from "../../platform/web/html.ts";
import type { AlertingState } from "../alerts/plan-alerts.ts";
import type { LedgerView } from "../ledger/ledger-view.ts";
import { SPANS } from "../ledger/rollups.ts";
import { policyOf } from "../policy/assessment.ts";
import type { LeastRates } from "../policy/reward-tier.ts";
import type { WatchdogStatus } from "../polling/watchdog-status.ts";
import { incidentsOf, joinIncidents, withCosts } from "../alerts/incidents.ts";
import { type Incident, incidentSourceOf } from "../alerts/miss-causes.ts";
import { dayPlot, lastDayOf } from "./day-plot.ts";
import {
  forecastPlot,
  type HourRange,
  incidentTable,
  monthStrip,
  placelessBlocks,
  ratePoints,
  stripOf,
  type StripPart,
  stripPart,
} from "./month-plots.ts";

export interface PlotsDeps {
  readonly clock: Clock;
  /** Counts that are in memory; undefined before the first reading. */
  readonly ledger: (validator: string) => LedgerView | undefined;
  /** The same with older ones. May throw, for example when the disk fails. */
  readonly storedLedger: (validator: string) => LedgerView | undefined;
  readonly alerting: () => Pick<AlertingState, "history">;
}

/** Plots of validators. */
interface Plots {
  /** Renders the days of the month that are over, when they changed. */
  readonly prepare: (status: WatchdogStatus) => void;
  readonly render: (status: WatchdogStatus) => Html;
}

/** A part of the month as it is shown. */
interface MonthPart {
  readonly strip: StripPart;
  readonly incidents: readonly Incident[];
  readonly placeless: bigint;
}

/**
 * Creates the plots. Days that are over are rendered again only when their counts or alerts changed: they are most of the work, and all
 * of what is read from the disk. The present day is rendered at each call.
 */
export function createPlots({ clock, ledger, storedLedger, alerting }: PlotsDeps): Plots {
  const known = new Map<string, { readonly key: string; readonly part: MonthPart }>();
  const pastOf = (status: WatchdogStatus, memory: LedgerView, nowMs: number): MonthPart => {
    const { validator } = status;
    const { history } = alerting();
    const range = pastRange(status, nowMs);
    const key = `${leastKey(status)} ${pastKey(memory, history, range)}`;
    const found = known.get(validator);
    if (found?.key === key) return found.part;
    try {
      const part = monthPart(status, storedLedger(validator) ?? memory, range, history);
      known.set(validator, { key, part });
      return part;
    } catch {
      // The page matters most when something fails, such as the disk with the state. What is in memory is enough for it.
      return monthPart(status, memory, range, history);
    }
  };
  return {
    prepare: (status) => {
      const memory = ledger(status.validator);
      if (memory !== undefined) pastOf(status, memory, clock.nowMs());
    },
    render: (status) => {
      const nowMs = clock.nowMs();
      const memory = ledger(status.validator);
      const { history } = alerting();
      return plotsOf(status, memory, { nowMs, history }, (view) => pastOf(status, view, nowMs));
    },
  };
}

interface PlotsInput extends Pick<AlertingState, "history"> {
  readonly nowMs: number;
}

/** The last 24 hours, the month hour by hour, its rate with the forecast, and its incidents. */
export function validatorPlots(
  status: WatchdogStatus,
  ledger: LedgerView | undefined,
  input: PlotsInput,
): Html {
  const { nowMs, history } = input;
  return plotsOf(status, ledger, input, (view) => monthPart(status, view, pastRange(status, nowMs), history));
}

function plotsOf(
  status: WatchdogStatus,
  ledger: LedgerView | undefined,
  { nowMs, history }: PlotsInput,
  pastOf: (ledger: LedgerView) => MonthPart,
): Html {
  const { assessment, current } = status;
  if (ledger === undefined) return html`<h3>This month</h3><p>No block is counted yet.</p>`;
  const least = leastOf(status);
  const { toMs: fromMs } = pastRange(status, nowMs);
  const toMs = Math.min(nextMonthMs(monthStartMs(current.month)), nowMs + 1);
  const past = pastOf(ledger);
  const today = monthPart(status, ledger, { fromMs, toMs }, history);
  const policy = policyOf(assessment);
  const incidents = withCosts(
    { ledger, alerts: [], policy, assessment },
    joinIncidents(past.incidents, today.incidents, policy.quietMs, nowMs),
  );
  return html`<h3>Last 24 hours and this month</h3><div class="plots">${dayPlot(lastDayOf(ledger, least, nowMs))}${monthStrip(
    [past.strip, today.strip],
    current.month,
  )}${
    assessment !== undefined && forecastPlot(assessment, ratePoints(ledger, assessment, nowMs), nowMs)
  }</div>${incidentTable(incidents, past.placeless + today.placeless)}`;
}

function monthPart(
  status: WatchdogStatus,
  ledger: LedgerView,
  range: HourRange,
  history: PlotsInput["history"],
): MonthPart {
  return {
    strip: stripPart(stripOf(ledger, leastOf(status), range)),
    incidents: incidentsOf(incidentSourceOf(status, ledger, history), range.fromMs, range.toMs),
    placeless: placelessBlocks(ledger, range),
  };
}

/** The days of the month before the present one. */
function pastRange({ current }: WatchdogStatus, nowMs: number): HourRange {
  const fromMs = monthStartMs(current.month);
  const toMs = Math.min(nowMs, nextMonthMs(fromMs));
  return { fromMs, toMs: fromMs + Math.floor((toMs - fromMs) / SPANS.day) * SPANS.day };
}

function leastOf(status: WatchdogStatus): LeastRates {
  return policyOf(status.assessment).least;
}

function leastKey(status: WatchdogStatus): string {
  const { full, none } = leastOf(status);
  return `${full} ${none}`;
}

/** What the days that are over are rendered from. */
function pastKey(ledger: LedgerView, history: PlotsInput["history"], { fromMs, toMs }: HourRange): string {
  const days = ledger
    .days(fromMs, toMs)
    .map(({ startMs, counts: { good, bad, unknown } }) => `${startMs} ${good} ${bad} ${unknown}`);
  const alerts = history.filter(
    ({ validator, sinceMs, resolvedAtMs }) =>
      validator === ledger.validator && sinceMs < toMs && (resolvedAtMs ?? toMs) > fromMs,
  );
  return `${fromMs} ${toMs} ${days.join()} ${alerts.map(({ alert, resolvedAtMs }) => `${alert} ${resolvedAtMs}`).join()}`;
}
