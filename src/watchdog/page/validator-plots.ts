import type { Clock } from "../../platform/base/clock.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import { type Html, html } from "../../platform/web/html.ts";
import type { AlertingState } from "../alerts/plan-alerts.ts";
import { addCounts, allBlocks, NO_BLOCKS, sumCounts } from "../ledger/ledger-view.ts";
import type { BlockCounts, LedgerView, Rollup } from "../ledger/ledger-view.ts";
import { SPANS } from "../ledger/rollups.ts";
import type { WatchdogStatus } from "../polling/watchdog-status.ts";
import { incidentsOf, joinIncidents, withCosts } from "../alerts/incidents.ts";
import { type Incident, incidentSourceOf } from "../alerts/miss-causes.ts";
import {
  barPath,
  drawBars,
  forecastPlot,
  incidentTable,
  monthStrip,
  NO_PATHS,
  placelessBlocks,
  ratePoints,
  sinceFirstBlock,
  stateOf,
  stripOf,
  stripPart,
} from "./month-plots.ts";
import type { HourRange, HourState, StripPart } from "./month-plots.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../platform/base/time.ts";
import { counted } from "../../platform/base/text.ts";
import { grouped } from "../../platform/web/parts.ts";
import { short, unknownArea } from "../../platform/web/plots.ts";
import type { LeastRates } from "../policy/reward-tier.ts";

const SLOT_MS = 15 * MINUTE_MS;
const SLOTS = DAY_MS / SLOT_MS;

export interface LastDay {
  readonly fromMs: number;
  /** The state of each quarter-hour, oldest first. */
  readonly slots: readonly HourState[];
  readonly counts: BlockCounts;
}

/**
 * Groups the last 24 hours into quarter-hours. Minutes are stored for only 12 hours, so an older quarter-hour has the state of its
 * hour. The hour is not used if the stored minutes already contain all of its blocks.
 */
export function lastDayOf(ledger: LedgerView, least: LeastRates, nowMs: number): LastDay {
  const fromMs = Math.floor(nowMs / SLOT_MS + 1) * SLOT_MS - DAY_MS;
  const minutes = new Map<number, Rollup>();
  for (const { startMs, counts, estimated } of ledger.minutes(fromMs, nowMs + 1)) {
    const slotMs = Math.floor(startMs / SLOT_MS) * SLOT_MS;
    const before = minutes.get(slotMs) ?? { startMs: slotMs, counts: NO_BLOCKS, estimated: NO_BLOCKS };
    minutes.set(slotMs, {
      startMs: slotMs,
      counts: addCounts(before.counts, counts),
      estimated: addCounts(before.estimated, estimated),
    });
  }
  const hours = ledger.hours(fromMs - HOUR_MS + 1, nowMs + 1);
  const byHour = new Map(hours.map((hour) => [hour.startMs, hour]));
  const oldestMs = Math.min(...minutes.keys());
  const hourOf = (slotMs: number): Rollup | undefined => {
    const startMs = Math.floor(slotMs / HOUR_MS) * HOUR_MS;
    const hour = byHour.get(startMs);
    const known = [...minutes.values()].filter(
      (slot) => Math.floor(slot.startMs / HOUR_MS) * HOUR_MS === startMs,
    );
    const inMinutes = known.reduce((sum, { counts }) => sum + allBlocks(counts), 0n);
    return hour === undefined || allBlocks(hour.counts) <= inMinutes ? undefined : hour;
  };
  const slots = Array.from({ length: SLOTS }, (_, index) => {
    const slotMs = fromMs + index * SLOT_MS;
    return stateOf(minutes.get(slotMs) ?? (slotMs < oldestMs ? hourOf(slotMs) : undefined), least);
  });
  return {
    fromMs,
    slots,
    counts: sumCounts(hours.filter(({ startMs }) => startMs >= fromMs)),
  };
}

const WIDTH = 360;
const STEP = WIDTH / SLOTS;
const TOP = 6;
const BASE = 62;
const HEIGHT = BASE + 18;

/** Draws the last 24 hours with one bar per quarter-hour. */
export function dayPlot({ fromMs, slots, counts }: LastDay): Html {
  const first = slots.findIndex((state) => state !== "none");
  const before = first === -1 ? SLOTS : first;
  const summary = daySummary(slots, counts);
  const paths = { ...NO_PATHS };
  for (const [index, state] of slots.entries())
    if (state !== "none")
      paths[state] += barPath(state, { x: index * STEP, base: BASE, width: STEP * 0.8, full: BASE - TOP });
  return html`<figure><figcaption>By quarter of an hour (UTC): ${summary}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Last 24 hours, by quarter of an hour: ${summary}">
${unknownArea(before * STEP, { top: TOP, base: BASE }, "not counted yet")}${drawBars([paths])}<path class="l-axis" d="M0 ${BASE}h${WIDTH}"/>
${hourLabels(fromMs)}
</svg></figure>`;
}

/** The width of the label "18:00", plus the label's distance from the tick. */
const LABEL_WIDTH = 40;

function hourLabels(fromMs: number): readonly Html[] {
  const every = 6 * HOUR_MS;
  const firstMs = Math.ceil(fromMs / every) * every;
  return [0, 1, 2, 3].map((index) => {
    const atMs = firstMs + index * every;
    const x = ((atMs - fromMs) / DAY_MS) * WIDTH;
    const text = `${String((atMs % DAY_MS) / HOUR_MS).padStart(2, "0")}:00`;
    const isAtEnd = x > WIDTH - LABEL_WIDTH;
    return html`<path class="l-axis" d="M${short(x)} ${BASE}v4"/><text x="${short(isAtEnd ? WIDTH - 2 : x + 2)}" y="${HEIGHT - 4}"${isAtEnd && html` text-anchor="end"`}>${text}</text>`;
  });
}

function daySummary(slots: readonly HourState[], { good, bad, unknown }: BlockCounts): string {
  const count = (state: HourState): number => slots.filter((slot) => slot === state).length;
  const part = (state: HourState, text: string): readonly string[] =>
    count(state) === 0 ? [] : [`${counted(count(state), "quarter")} ${text}`];
  const worse = [
    ...part("bad", "below any pay"),
    ...part("weak", "below full pay"),
    ...part("unknown", "unknown"),
    ...part("none", "without a block"),
  ];
  const blocks = `${grouped(good)} good, ${grouped(bad)} bad and ${grouped(unknown)} unknown blocks`;
  return worse.length === 0 ? blocks : `${blocks}; ${worse.join(", ")}`;
}

export interface PlotsDeps {
  readonly clock: Clock;
  /** Returns a validator's counts from memory, or undefined before the first reading. */
  readonly ledger: (validator: string) => LedgerView | undefined;
  /** Returns the counts from memory plus older counts from disk. May throw, e.g. if the disk is failing. */
  readonly storedLedger: (validator: string) => LedgerView | undefined;
  readonly alerting: () => Pick<AlertingState, "history">;
}

export interface ValidatorPlots {
  readonly lastDay: Html;
  /** The plot of the month up to now, by hour. */
  readonly month: Html;
  /** The plot of the month's forecast; undefined before the first poll. */
  readonly forecast: Html | undefined;
  readonly incidents: Html;
}

interface MonthPart {
  /** Start of the first day shown. */
  readonly firstMs: number;
  readonly strip: StripPart;
  readonly incidents: readonly Incident[];
  readonly placeless: bigint;
}

type PlotSource = ReturnType<typeof incidentSourceOf>;

/**
 * Creates a function that renders a validator's plots, or returns undefined before the first reading. Rendering past days is slow
 * and requires disk reads. Past days are therefore only rendered again if their counts, their alerts or the policy have changed.
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
      // Fall back to the state in memory, because operators need the page most during a failure, for example of the disk.
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
 * Renders a part of a month's plot that ends at `endMs`. If `firstMs` is absent, the plot starts at the first day with a block. If
 * no day has a block, the plot starts at the end of the range.
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

/** Returns a cache key that changes whenever past days must be rendered again. */
function keyOf({ ledger, policy, alerts }: PlotSource, range: HourRange): string {
  const { fromMs, toMs } = range;
  const days = ledger.days(fromMs, toMs).map(({ startMs, counts }) => ({ startMs, counts }));
  const shown = alerts.filter(
    ({ sinceMs, resolvedAtMs }) => sinceMs < toMs && (resolvedAtMs ?? toMs) > fromMs,
  );
  return stringifyJson({ policy, range, days, alerts: shown });
}
