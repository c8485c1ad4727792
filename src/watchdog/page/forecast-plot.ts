import { DEC18_ONE, type Dec18 } from "../../platform/base/decimal.ts";
import { type Html, html } from "../../platform/web/html.ts";
import { short } from "../../platform/web/plots.ts";
import type { BlockCounts } from "../ledger/block-counts.ts";
import { addCounts, NO_BLOCKS } from "../ledger/block-counts.ts";
import { SPANS } from "../ledger/books.ts";
import type { LedgerView } from "../ledger/ledger-view.ts";
import { monthStartMs, nextMonthMs } from "../ledger/month.ts";
import type { Assessment } from "../policy/assessment.ts";
import { foundedForecast } from "../policy/early-month.ts";
import { formatPercent, successRate, toRatio } from "../policy/reward-tier.ts";

/** A point of the month's rate: time, and the rate of all blocks of the month up to it. */
interface RatePoint {
  readonly atMs: number;
  readonly ratio: number;
}

/** Returns the month's rate at the end of each day, and now. */
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
  // The month's own count is exact; days are shares of it.
  return rate === undefined ? points : [...points.slice(0, -1), { atMs: nowMs, ratio: toRatio(rate) }];
}

const WIDTH = 360;
const HEIGHT = 190;
const RIGHT = WIDTH - 46;
const TOP = 8;
const BASE = HEIGHT - 20;
/** Least height of the axis above its lowest value, so that small differences are not drawn as cliffs. */
const LEAST_RANGE = 0.02;

/** Width of "end of month" and of half of "now" beside it. */
const END_LABEL = 100;

/** Draws the month's rate, the boundaries, and the forecast with its band. */
export function forecastPlot(assessment: Assessment, points: readonly RatePoint[], nowMs: number): Html {
  const { month, policy } = assessment;
  const forecast = foundedForecast(assessment);
  const startMs = monthStartMs(month);
  const spanMs = nextMonthMs(startMs) - startMs;
  const least = { full: toNumber(policy.least.full), none: toNumber(policy.least.none) };
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
  const summary = summaryOf(assessment);
  return html`<figure><figcaption>Rate of ${month} and its forecast: ${summary}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Rate of ${month} and its forecast: ${summary}">
${forecast !== undefined && now !== undefined && band(forecast, now, { x, y })}
${boundaryLine("l-warn", least.full, y)}${boundaryLine("l-bad", least.none, y)}
<path class="l-plain" d="${points.map(({ atMs, ratio }, index) => `${index === 0 ? "M" : "L"}${short(x(atMs))} ${short(y(ratio))}`).join("")}"/>
${now !== undefined && html`<circle class="b-plain" cx="${short(x(now.atMs))}" cy="${short(y(now.ratio))}" r="4"/>`}
<path class="l-axis" d="M0 ${BASE}h${RIGHT}"/>
<text x="2" y="${HEIGHT - 5}">1st</text><text x="${short(Math.min(RIGHT - END_LABEL, Math.max(30, x(nowMs))))}" y="${HEIGHT - 5}" text-anchor="middle">now</text><text x="${RIGHT}" y="${HEIGHT - 5}" text-anchor="end">end of month</text>
${y(least.full) - TOP > 12 && html`<text x="${WIDTH - 2}" y="${TOP + 4}" text-anchor="end">100 %</text>`}
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
  return html`<path class="${style}" d="M0 ${at}H${RIGHT}"/><text x="${WIDTH - 2}" y="${short(y(ratio) + 4)}" text-anchor="end">${shortPercent(ratio)}</text>`;
}

function summaryOf(assessment: Assessment): string {
  const { rate } = assessment;
  const forecast = foundedForecast(assessment);
  const now = rate === undefined ? "no rate yet" : `${formatPercent(rate)} % now`;
  if (forecast === undefined) return `${now}; no forecast yet`;
  const { low, middle, high, tiers, basis } = forecast;
  return `${now}, ${formatPercent(middle)} % at the end (80 % band ${formatPercent(low)} % to ${formatPercent(high)} %), tier ${tiers.middle}, from the ${basis}`;
}

/** The share as a number. For drawing only. */
function toNumber(share: Dec18): number {
  return Number(share) / Number(DEC18_ONE);
}

function shortPercent(ratio: number): string {
  return `${Number((ratio * 100).toFixed(2))} %`;
}
