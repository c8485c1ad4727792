import type { Clock } from "../../platform/base/clock.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import type { Html } from "../../platform/web/html.ts";
import type { AlertingState } from "../alerts/plan-alerts.ts";
import type { LedgerView } from "../ledger/ledger-view.ts";
import { SPANS } from "../ledger/rollups.ts";
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

type PlotSource = ReturnType<typeof incidentSourceOf>;

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
  const pastOf = (source: PlotSource, range: HourRange, endMs: number): MonthPart => {
    const { validator } = source.ledger;
    const key = keyOf(source, range);
    const found = known.get(validator);
    if (found?.key === key) return found.part;
    try {
      const stored = { ...source, ledger: storedLedger(validator) ?? source.ledger };
      const part = monthPart(stored, range, endMs);
      known.set(validator, { key, part });
      return part;
    } catch {
      // The page matters most when something fails, such as the disk with the state. What is in memory is enough for it.
      return monthPart(source, range, endMs);
    }
  };
  return (status) => {
    const memory = ledger(status.validator);
    if (memory === undefined) return undefined;
    const { assessment, current } = status;
    const nowMs = clock.nowMs();
    const source = incidentSourceOf(status, memory, alerting().history);
    const { least, quietMs } = source.policy;
    const fromMs = monthStartMs(current.month);
    const monthEndMs = nextMonthMs(fromMs);
    const endMs = Math.min(monthEndMs, nowMs + 1);
    const todayMs = fromMs + Math.floor((Math.min(monthEndMs, nowMs) - fromMs) / SPANS.day) * SPANS.day;
    const past = pastOf(source, { fromMs, toMs: todayMs }, endMs);
    const today = monthPart(source, { fromMs: todayMs, toMs: endMs }, endMs, past.firstMs);
    const incidents = joinIncidents(past.incidents, today.incidents, quietMs, nowMs);
    return {
      lastDay: dayPlot(lastDayOf(memory, least, nowMs)),
      month: monthStrip([past.strip, today.strip], current.month),
      forecast: assessment && forecastPlot(assessment, ratePoints(memory, assessment, nowMs), nowMs),
      incidents: incidentTable(
        withCosts({ ...source, assessment }, incidents),
        past.placeless + today.placeless,
      ),
    };
  };
}

/**
 * Returns a part of the month, which is shown up to `endMs`. Without `firstMs`, it is the first part and starts at its first day
 * with a block, or else after the range.
 */
function monthPart(source: PlotSource, range: HourRange, endMs: number, firstMs?: number): MonthPart {
  const { ledger, policy } = source;
  const all = stripOf(ledger, policy.least, range);
  const days = firstMs === undefined ? sinceFirstBlock(all) : all;
  const beginMs = firstMs ?? days[0]?.startMs ?? range.toMs;
  return {
    firstMs: beginMs,
    strip: stripPart(days, { firstMs: beginMs, shown: Math.ceil((endMs - beginMs) / SPANS.day) }),
    incidents: incidentsOf(source, range.fromMs, range.toMs),
    placeless: placelessBlocks(ledger, range),
  };
}

/** Returns a key for the input from which past days are rendered. */
function keyOf({ ledger, policy, alerts }: PlotSource, range: HourRange): string {
  const { fromMs, toMs } = range;
  const days = ledger.days(fromMs, toMs).map(({ startMs, counts }) => ({ startMs, counts }));
  const shown = alerts.filter(
    ({ sinceMs, resolvedAtMs }) => sinceMs < toMs && (resolvedAtMs ?? toMs) > fromMs,
  );
  return stringifyJson({ policy, range, days, alerts: shown });
}
