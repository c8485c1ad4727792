import { dec18ToNumber } from "../../platform/base/decimal.ts";
import { type Month, monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import { counted, formatRoundedDuration } from "../../platform/base/text.ts";
import { type Html, html } from "../../platform/web/html.ts";
import { timeText } from "../../platform/web/page-shell.ts";
import { type Column, dataTable, grouped } from "../../platform/web/parts.ts";
import { short, type TrendBar } from "../../platform/web/plots.ts";
import { addCounts, NO_BLOCKS, sumCounts } from "../ledger/ledger-view.ts";
import type { BlockCounts, LedgerView, Rollup } from "../ledger/ledger-view.ts";
import { SPANS } from "../ledger/rollups.ts";
import { type Assessment, foundedForecast } from "../policy/assessment.ts";
import type { CostedIncident } from "../alerts/incidents.ts";
import { SCATTERED } from "../alerts/miss-causes.ts";
import { shareText } from "../policy/cost-text.ts";
import { formatPercent, isAtLeast, successRate, toRatio } from "../policy/reward-tier.ts";
import type { LeastRates, Tier } from "../policy/reward-tier.ts";

/** Display names of the reward tiers on the pages. */
export const TIER_NAMES: Readonly<Record<Tier, string>> = {
  full: "full pay",
  proportional: "a part of the pay",
  none: "no pay",
};

/**
 * The state of an hour. A "good" hour's rate is at or above the full-reward boundary. A "weak" hour's rate is between the
 * boundaries. A "bad" hour's rate is below both boundaries. Most results of an "unknown" hour are unknown. An "estimated" hour is
 * good, but most of its blocks were made before the first reading. "none" means that there are no blocks.
 */
export type HourState = "good" | "weak" | "bad" | "unknown" | "estimated" | "none";

export interface StripDay {
  readonly startMs: number;
  readonly counts: BlockCounts;
  /** The states of the day's 24 hours. Empty if only daily counts are stored. */
  readonly hours: readonly HourState[];
  readonly state: HourState;
}

/** Groups the hours of a range by day. */
export function stripOf(
  ledger: LedgerView,
  least: LeastRates,
  { fromMs, toMs }: HourRange,
): readonly StripDay[] {
  const hours = new Map(ledger.hours(fromMs, toMs).map((hour) => [hour.startMs, hour]));
  const days = new Map(ledger.days(fromMs, toMs).map((day) => [day.startMs, day]));
  return Array.from({ length: Math.ceil((toMs - fromMs) / SPANS.day) }, (_, index) => {
    const dayMs = fromMs + index * SPANS.day;
    const states = Array.from({ length: 24 }, (_hour, at) =>
      stateOf(hours.get(dayMs + at * SPANS.hour), least),
    );
    const day = days.get(dayMs);
    return {
      startMs: dayMs,
      counts: day?.counts ?? NO_BLOCKS,
      hours: states.every((state) => state === "none") ? [] : states,
      state: stateOf(day, least),
    };
  });
}

/** Omits the days before the first block. A watchdog that was started during the month has no data for these days. */
export function sinceFirstBlock(days: readonly StripDay[]): readonly StripDay[] {
  const first = days.findIndex(({ state }) => state !== "none");
  return first < 0 ? [] : days.slice(first);
}

/** A time range in ms that starts at midnight UTC. */
export interface HourRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns the state of an hour or another period. */
export function stateOf(rollup: Rollup | undefined, least: LeastRates): HourState {
  if (rollup === undefined) return "none";
  const { counts, estimated } = rollup;
  const total = counts.good + counts.bad;
  if (total + counts.unknown === 0n) return "none";
  if (counts.unknown > total) return "unknown";
  const rate = { good: counts.good, total };
  if (!isAtLeast(rate, least.none)) return "bad";
  if (!isAtLeast(rate, least.full)) return "weak";
  return (estimated.good + estimated.bad) * 2n > total ? "estimated" : "good";
}

const LEFT = 46;
const CELL = 11;
const WIDTH = LEFT + 24 * CELL + 50;
const TOP_LABELS = 16;

/** Returns the height of a day's row. Rows are lower in plots with many days, so that a whole month fits on one screen. */
function rowHeight(days: number): number {
  return days > 24 ? 11 : days > 10 ? 13 : 22;
}

/** The style of each state and the height of its bars, from 0 to 1. The states differ in shape and not only in colour. */
export const BARS = {
  good: ["good", 0.4],
  weak: ["weak", 0.7],
  bad: ["bad", 1],
  unknown: ["unknown", 1],
  estimated: ["unknown", 0.4],
} as const satisfies Readonly<Record<Exclude<HourState, "none">, TrendBar>>;

type Drawn = keyof typeof BARS;

const DRAWN = ["good", "weak", "bad", "unknown", "estimated"] as const satisfies readonly Drawn[];

/** For each state, the SVG path that draws all bars in the state. */
export type BarPaths = Readonly<Record<Drawn, string>>;

export const NO_PATHS: BarPaths = { good: "", weak: "", bad: "", unknown: "", estimated: "" };

/** Returns the SVG path of one bar. `full` is the height of the tallest bar. */
export function barPath(
  state: Drawn,
  { x, base, width, full }: Readonly<Record<"x" | "base" | "width" | "full", number>>,
): string {
  const height = short(BARS[state][1] * full);
  return `M${short(x)} ${base}v-${height}h${short(width)}v${height}z`;
}

/** Draws the bars of consecutive parts of a plot, with one SVG path per state. */
export function drawBars(parts: readonly BarPaths[]): readonly Html[] {
  return DRAWN.map((state) => {
    const path = parts.map((paths) => paths[state]).join("");
    const [style] = BARS[state];
    return path === ""
      ? html``
      : html`<path class="b-${style === "unknown" ? "hollow" : style}" d="${path}"/>`;
  });
}

/** The rendered bars, labels and totals of some days in a month. */
export interface StripPart {
  readonly days: number;
  readonly counts: BlockCounts;
  readonly paths: BarPaths;
  readonly hours: Readonly<Record<Drawn, number>>;
  readonly labels: Html;
}

/** Renders some days of a month. The whole plot has `shown` rows, and the first row is the day that starts at `firstMs`. */
export function stripPart(
  days: readonly StripDay[],
  { firstMs, shown }: { readonly firstMs: number; readonly shown: number },
): StripPart {
  const row = rowHeight(shown);
  const bottomOf = (startMs: number): number => TOP_LABELS + ((startMs - firstMs) / SPANS.day + 1) * row - 1;
  const paths = { ...NO_PATHS };
  const hours = { good: 0, weak: 0, bad: 0, unknown: 0, estimated: 0 };
  for (const { startMs, hours: states, state } of days) {
    const base = bottomOf(startMs);
    const draw = (of: HourState, x: number, width: number): void => {
      if (of !== "none") paths[of] += barPath(of, { x, base, width, full: row - 3 });
    };
    if (states.length === 0) draw(state, LEFT, 24 * CELL - 2);
    for (const [at, hour] of states.entries()) {
      draw(hour, LEFT + at * CELL, CELL - 2);
      if (hour !== "none") hours[hour] += 1;
    }
  }
  const labels = html`${days.map((day) => rowLabels(day, bottomOf(day.startMs) - 1))}`;
  return { days: days.length, counts: sumCounts(days), paths, hours, labels };
}

/** Joins consecutive parts into a month's plot, with one row per day up to now and one bar per hour. */
export function monthStrip(parts: readonly StripPart[], month: Month): Html {
  const days = parts.reduce((sum, part) => sum + part.days, 0);
  const height = TOP_LABELS + days * rowHeight(days) + 2;
  const summary = stripSummary(parts);
  return html`<figure><figcaption>Hour by hour (UTC): ${summary}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${month}, hour by hour: ${summary}">
${[0, 6, 12, 18].map((hour) => html`<text x="${short(LEFT + hour * CELL)}" y="11">${String(hour).padStart(2, "0")}:00</text>`)}
${drawBars(parts.map(({ paths }) => paths))}${parts.map(({ labels }) => labels)}
</svg></figure>`;
}

/** The legend below the plots. */
export const STATE_KEY = html`<p class="muted key-line"><span class="entry"><span class="key k-good"></span>short: good</span> <span class="entry"><span class="key k-weak"></span>middle: below full pay</span> <span class="entry"><span class="key k-bad"></span>tall: below any pay</span> <span class="entry"><span class="key k-none"></span>outline: unknown or estimated</span></p>`;

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

function rowLabels({ startMs, counts }: StripDay, y: number): Html {
  const total = counts.good + counts.bad;
  const rate = total === 0n ? "–" : `${percent(counts.good, total)} %`;
  const date = new Date(startMs);
  const day = `${WEEKDAYS[date.getUTCDay()] ?? ""} ${date.getUTCDate()}`;
  return html`<text x="2" y="${y}">${day}</text><text x="${WIDTH - 2}" y="${y}" text-anchor="end">${rate}</text>`;
}

/** Formats a percentage with two decimals, rounded down. */
function percent(good: bigint, total: bigint): string {
  const scaled = (good * 10_000n) / total;
  return `${scaled / 100n}.${(scaled % 100n).toString().padStart(2, "0")}`;
}

function stripSummary(parts: readonly StripPart[]): string {
  const { good, bad, unknown } = sumCounts(parts);
  const count = (state: Drawn): number => parts.reduce((sum, { hours }) => sum + hours[state], 0);
  return `${grouped(good)} good, ${grouped(bad)} bad and ${grouped(unknown)} unknown blocks; ${counted(count("bad"), "hour")} below any pay, ${count("weak")} below full pay, ${count("unknown")} unknown`;
}

/** Maximum number of incidents in the table, newest first. */
const MAX_INCIDENTS = 40;

/**
 * Renders the month's incidents, newest first. `placeless` is the number of bad blocks before the first reading, whose hours are
 * unknown.
 */
export function incidentTable(incidents: readonly CostedIncident[], placeless: bigint): Html {
  const text =
    placeless > 0n
      ? ` The hour of ${counted(Number(placeless), "bad block")} before the first reading is not known.`
      : "";
  if (incidents.length === 0) return html`<p>No incident: no block in a known hour was missed.${text}</p>`;
  const newest = incidents
    .toReversed()
    .toSorted((a, b) => Number(a.cause === SCATTERED) - Number(b.cause === SCATTERED));
  const rows = newest.slice(0, MAX_INCIDENTS);
  const older = incidents.length - rows.length;
  const columns: readonly Column<CostedIncident>[] = [
    { name: "from", cell: ({ fromMs }) => timeText(fromMs) },
    { name: "length", isNumber: true, cell: ({ fromMs, toMs }) => formatRoundedDuration(toMs - fromMs) },
    { name: "what", cell: ({ cause }) => cause },
    { name: "missed", isNumber: true, cell: ({ bad }) => grouped(bad) },
    { name: "of the allowance", isNumber: true, cell: ({ cost }) => shareText(cost) },
    { name: "ended by", cell: ({ cause, end }) => (cause === SCATTERED ? "–" : (end ?? "goes on")) },
  ];
  return html`${dataTable({ caption: "Incidents of this month, newest first", columns, rows })}${
    (older > 0 || text !== "") &&
    html`<p>${older > 0 && `${counted(older, "older incident")} not shown.`}${text}</p>`
  }`;
}

/** Returns the number of bad blocks whose day is known but whose hour is not. */
export function placelessBlocks(ledger: LedgerView, { fromMs, toMs }: HourRange): bigint {
  return badEstimates(ledger.days(fromMs, toMs)) - badEstimates(ledger.hours(fromMs, toMs));
}

function badEstimates(rollups: readonly Rollup[]): bigint {
  return rollups.reduce((sum, { estimated }) => sum + estimated.bad, 0n);
}

/** A point on the month's rate curve. `ratio` is the success rate of all blocks in the month up to `atMs`. */
interface RatePoint {
  readonly atMs: number;
  readonly ratio: number;
}

/** Returns the month's rate at the end of each day and at `nowMs`. */
export function ratePoints(
  ledger: LedgerView,
  { month, rate }: Assessment,
  nowMs: number,
): readonly RatePoint[] {
  const startMs = monthStartMs(month);
  let sum: BlockCounts = NO_BLOCKS;
  const points = ledger.days(startMs, nowMs).flatMap(({ startMs: dayMs, counts }): readonly RatePoint[] => {
    sum = addCounts(sum, counts);
    const soFar = successRate(sum);
    return soFar === undefined ? [] : [{ atMs: Math.min(nowMs, dayMs + SPANS.day), ratio: toRatio(soFar) }];
  });
  // Use the month's count for the last point, because sums of daily counts may lack blocks.
  return rate === undefined ? points : [...points.slice(0, -1), { atMs: nowMs, ratio: toRatio(rate) }];
}

const PLOT_WIDTH = 360;
const PLOT_HEIGHT = 190;
const RIGHT = PLOT_WIDTH - 46;
const TOP = 8;
const BASE = PLOT_HEIGHT - 20;
/** Minimum range of the rate axis, which prevents tiny changes from appearing as cliffs. */
const LEAST_RANGE = 0.02;

/** The width of the label "end of month", plus half the width of the adjacent label "now". */
const END_LABEL = 100;

/** Draws the month's rate, the boundaries, and the forecast with its 80 % band. */
export function forecastPlot(assessment: Assessment, points: readonly RatePoint[], nowMs: number): Html {
  const { month, policy } = assessment;
  const forecast = foundedForecast(assessment);
  const startMs = monthStartMs(month);
  const spanMs = nextMonthMs(startMs) - startMs;
  const least = { full: dec18ToNumber(policy.least.full), none: dec18ToNumber(policy.least.none) };
  const ratios = points.map(({ ratio }) => ratio);
  const lowest = Math.min(
    1 - LEAST_RANGE,
    least.none - 0.005,
    ...ratios,
    forecast === undefined ? 1 : toRatio(forecast.low),
  );
  const bottom = Math.max(0, lowest - (1 - lowest) * 0.08);
  const x = (atMs: number): number => Math.max(0, Math.min(1, (atMs - startMs) / spanMs)) * RIGHT;
  const y = (ratio: number): number => BASE - ((ratio - bottom) / (1 - bottom)) * (BASE - TOP);
  const now = points.at(-1);
  const summary = forecastSummary(assessment);
  return html`<figure><figcaption>Rate of ${month} and its forecast: ${summary}</figcaption>
<svg viewBox="0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}" role="img" aria-label="Rate of ${month} and its forecast: ${summary}">
${forecast !== undefined && now !== undefined && band(forecast, now, { x, y })}
${boundaryLine("l-warn", least.full, y)}${boundaryLine("l-bad", least.none, y)}
<path class="l-plain" d="${points.map(({ atMs, ratio }, index) => `${index === 0 ? "M" : "L"}${short(x(atMs))} ${short(y(ratio))}`).join("")}"/>
${now !== undefined && html`<circle class="b-plain" cx="${short(x(now.atMs))}" cy="${short(y(now.ratio))}" r="4"/>`}
<path class="l-axis" d="M0 ${BASE}h${RIGHT}"/>
<text x="2" y="${PLOT_HEIGHT - 5}">1st</text><text x="${short(Math.min(RIGHT - END_LABEL, Math.max(30, x(nowMs))))}" y="${PLOT_HEIGHT - 5}" text-anchor="middle">now</text><text x="${RIGHT}" y="${PLOT_HEIGHT - 5}" text-anchor="end">end of month</text>
${y(least.full) - TOP > 12 && html`<text x="${PLOT_WIDTH - 2}" y="${TOP + 4}" text-anchor="end">100 %</text>`}
</svg></figure>`;
}

interface Axes {
  readonly x: (atMs: number) => number;
  readonly y: (ratio: number) => number;
}

function band(forecast: NonNullable<Assessment["forecast"]>, now: RatePoint, { x, y }: Axes): Html {
  const from = `M${short(x(now.atMs))} ${short(y(now.ratio))}`;
  const to = (ratio: number): string => `L${RIGHT} ${short(y(ratio))}`;
  return html`<path class="b-band" d="${from}${to(toRatio(forecast.high))}${to(toRatio(forecast.low))}z"/><path class="l-plain" stroke-dasharray="4 4" d="${from}${to(toRatio(forecast.middle))}"/>`;
}

function boundaryLine(style: string, ratio: number, y: Axes["y"]): Html {
  const at = short(y(ratio));
  return html`<path class="${style}" d="M0 ${at}H${RIGHT}"/><text x="${PLOT_WIDTH - 2}" y="${short(y(ratio) + 4)}" text-anchor="end">${shortPercent(ratio)}</text>`;
}

function forecastSummary(assessment: Assessment): string {
  const { rate } = assessment;
  const forecast = foundedForecast(assessment);
  const now = rate === undefined ? "no rate yet" : `${formatPercent(rate)} % now`;
  if (forecast === undefined) return `${now}; no forecast yet`;
  const { low, middle, high, tiers, basis } = forecast;
  return `${now}, ${formatPercent(middle)} % at the end if the current loss goes on (80 % band ${formatPercent(low)} % to ${formatPercent(high)} %, from the ${basis}), ${TIER_NAMES[tiers.middle]}`;
}

function shortPercent(ratio: number): string {
  return `${Number((ratio * 100).toFixed(2))} %`;
}
