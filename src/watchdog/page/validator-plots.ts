import type { Clock } from "../../platform/base/clock.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import type { Html } from "../../platform/web/html.ts";
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
  sinceFirstBlock,
  stripOf,
  type StripPart,
  stripPart,
} from "./month-plots.ts";

export interface PlotsDeps {
  readonly clock: Clock;
  /** Returns the counts in memory; undefined before the first reading. */
  readonly ledger: (validator: string) => LedgerView | undefined;
  /** Returns the same counts, plus older ones. May throw, e.g. if the disk fails. */
  readonly storedLedger: (validator: string) => LedgerView | undefined;
  readonly alerting: () => Pick<AlertingState, "history">;
}

export interface ValidatorPlots {
  readonly lastDay: Html;
  /** The month hour by hour, up to now. */
  readonly month: Html;
  /** Undefined before the first poll. */
  readonly forecast: Html | undefined;
  readonly incidents: Html;
}

/** A part of the month as it is shown. */
interface MonthPart {
  /** The first day of the month to be shown. */
  readonly firstMs: number;
  readonly strip: StripPart;
  readonly incidents: readonly Incident[];
  readonly placeless: bigint;
}

/**
 * Creates a renderer for plots, which returns undefined if no block has been counted yet. Past days are rendered again only if
 * their counts or alerts have changed: they account for most of the work, and for everything read from disk.
 */
export function createPlots({
  clock,
  ledger,
  storedLedger,
  alerting,
}: PlotsDeps): (status: WatchdogStatus) => ValidatorPlots | undefined {
  const known = new Map<string, { readonly key: string; readonly part: MonthPart }>();
  const pastOf = (status: WatchdogStatus, memory: LedgerView, nowMs: number): MonthPart => {
    const { validator } = status;
    const { history } = alerting();
    const range = pastRange(status, nowMs);
    const key = pastKey(status, memory, history, range);
    const found = known.get(validator);
    if (found?.key === key) return found.part;
    const partOf = (view: LedgerView): MonthPart => monthPart(status, view, { ...range, nowMs }, history);
    try {
      const part = partOf(storedLedger(validator) ?? memory);
      known.set(validator, { key, part });
      return part;
    } catch {
      // The page matters most when something fails, such as the disk with the state. What is in memory is enough for it.
      return partOf(memory);
    }
  };
  return (status) => {
    const memory = ledger(status.validator);
    if (memory === undefined) return undefined;
    const nowMs = clock.nowMs();
    return plotsOf(status, memory, {
      nowMs,
      history: alerting().history,
      past: pastOf(status, memory, nowMs),
    });
  };
}

interface PlotsInput extends Pick<AlertingState, "history"> {
  readonly nowMs: number;
  /** The part that is over. */
  readonly past: MonthPart;
}

function plotsOf(
  status: WatchdogStatus,
  ledger: LedgerView,
  { nowMs, history, past }: PlotsInput,
): ValidatorPlots {
  const { assessment, current } = status;
  const { toMs: fromMs } = pastRange(status, nowMs);
  const toMs = Math.min(nextMonthMs(monthStartMs(current.month)), nowMs + 1);
  const { firstMs } = past;
  const today = monthPart(status, ledger, { fromMs, toMs, nowMs, firstMs }, history);
  const policy = policyOf(assessment);
  const incidents = withCosts(
    { ledger, alerts: [], policy, assessment },
    joinIncidents(past.incidents, today.incidents, policy.quietMs, nowMs),
  );
  return {
    lastDay: dayPlot(lastDayOf(ledger, leastOf(status), nowMs)),
    month: monthStrip([past.strip, today.strip], current.month),
    forecast: assessment && forecastPlot(assessment, ratePoints(ledger, assessment, nowMs), nowMs),
    incidents: incidentTable(incidents, past.placeless + today.placeless),
  };
}

/** Returns a part. Without `firstMs`, it is the first part and starts at its first day with a block, or else after the range. */
function monthPart(
  status: WatchdogStatus,
  ledger: LedgerView,
  range: HourRange & { readonly nowMs: number; readonly firstMs?: number },
  history: PlotsInput["history"],
): MonthPart {
  const all = stripOf(ledger, leastOf(status), range);
  const days = range.firstMs === undefined ? sinceFirstBlock(all) : all;
  const firstMs = range.firstMs ?? days[0]?.startMs ?? range.toMs;
  return {
    firstMs,
    strip: stripPart(days, { firstMs, shown: daysUntil(status, firstMs, range.nowMs) }),
    incidents: incidentsOf(incidentSourceOf(status, ledger, history), range.fromMs, range.toMs),
    placeless: placelessBlocks(ledger, range),
  };
}

/** Returns the range of the month's days before today. */
function pastRange({ current }: WatchdogStatus, nowMs: number): HourRange {
  const fromMs = monthStartMs(current.month);
  const toMs = Math.min(nowMs, nextMonthMs(fromMs));
  return { fromMs, toMs: fromMs + Math.floor((toMs - fromMs) / SPANS.day) * SPANS.day };
}

/** Returns how many days of the month have begun, counted from a given day. */
function daysUntil({ current }: WatchdogStatus, firstMs: number, nowMs: number): number {
  const endMs = nextMonthMs(monthStartMs(current.month));
  return Math.ceil((Math.min(nowMs + 1, endMs) - firstMs) / SPANS.day);
}

function leastOf(status: WatchdogStatus): LeastRates {
  return policyOf(status.assessment).least;
}

/** Returns a key for the input from which past days are rendered. */
function pastKey(
  status: WatchdogStatus,
  ledger: LedgerView,
  history: PlotsInput["history"],
  range: HourRange,
): string {
  const { fromMs, toMs } = range;
  const days = ledger.days(fromMs, toMs).map(({ startMs, counts }) => ({ startMs, counts }));
  const alerts = history
    .filter(
      ({ validator, sinceMs, resolvedAtMs }) =>
        validator === ledger.validator && sinceMs < toMs && (resolvedAtMs ?? toMs) > fromMs,
    )
    .map(({ alert, resolvedAtMs }) => ({ alert, resolvedAtMs }));
  return stringifyJson({ least: leastOf(status), range, days, alerts });
}
