import { type Html, html } from "./html.ts";

/** A stacked bar's segments in {@link barPlot}, from the bottom up; undefined for a time without data. */
export type Bar =
  | readonly { readonly style: "good" | "bad" | "plain" | "unknown"; readonly value: number }[]
  | undefined;

export interface BarPlot {
  /** Name of the plotted quantity, with its unit. */
  readonly title: string;
  /** Description of the plot in words, for the caption and for screen readers. */
  readonly summary: string;
  /** Evenly spaced bars, oldest first. */
  readonly bars: readonly Bar[];
  /** Labels below the first bar (`from`) and the last bar (`to`). */
  readonly from: string;
  readonly to: string;
  readonly format: (value: number) => string;
  /** A threshold to compare with the bars, drawn as a labelled line. */
  readonly limit?: { readonly value: number; readonly text: string };
}

const WIDTH = 360;
const HEIGHT = 110;
const BASE = HEIGHT - 18;
const TOP = 18;

/** Renders a figure of stacked bars. The vertical axis starts at 0. */
export function barPlot({ title, summary, bars, from, to, format, limit }: BarPlot): Html {
  const totals = bars.map((bar) => (bar ?? []).reduce((sum, { value }) => sum + value, 0));
  const most = Math.max(0, ...totals, limit?.value ?? 0);
  const step = WIDTH / Math.max(1, bars.length);
  const toHeight = (value: number): number => (most === 0 ? 0 : (value / most) * (BASE - TOP));
  return html`<figure><figcaption>${title}: ${summary}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}: ${summary}">
${unknownArea(unknownBars(bars) * step, { top: TOP, base: BASE })}${(
  ["good", "bad", "plain", "unknown"] as const
).map((style) => {
  const path = bars
    .map((bar, index) => barPath(bar, style, { x: index * step, width: step, toHeight }))
    .join("");
  return path === "" ? "" : html`<path class="b-${style}" d="${path}"/>`;
})}${limit !== undefined && limitLine(limit.text, BASE - toHeight(limit.value))}<path class="l-axis" d="M0 ${BASE}h${WIDTH}"/>
<text x="4" y="13">${format(most)}</text><text x="4" y="${HEIGHT - 5}">${from}</text><text x="${WIDTH - 4}" y="${HEIGHT - 5}" text-anchor="end">${to}</text>
</svg></figure>`;
}

interface BarPlace {
  readonly x: number;
  readonly width: number;
  readonly toHeight: (value: number) => number;
}

function barPath(bar: Bar, style: string, { x, width, toHeight }: BarPlace): string {
  let below = 0;
  let path = "";
  for (const part of bar ?? []) {
    const height = toHeight(part.value);
    if (part.style === style && height > 0)
      path += `M${short(x)} ${short(BASE - below)}v${short(-height)}h${short(width * 0.85)}v${short(height)}z`;
    below += height;
  }
  return path;
}

function limitLine(text: string, y: number): Html {
  return html`<path class="l-warn" d="M0 ${short(y)}h${WIDTH}"/><text x="${WIDTH - 4}" y="${short(y - 5)}" text-anchor="end">${text}</text>`;
}

function unknownBars(bars: readonly Bar[]): number {
  const first = bars.findIndex((bar) => bar !== undefined);
  return first < 0 ? bars.length : first;
}

/** Renders a marked area for the time before the first known value, so that missing data does not look like inactivity. */
export function unknownArea(
  width: number,
  { top, base }: { readonly top: number; readonly base: number },
  text = "not running",
): Html {
  if (width === 0) return html``;
  return html`<path class="b-none" stroke-dasharray="2 3" d="M0 ${top}h${short(width)}v${base - top}h-${short(width)}z"/>${
    width > 120 &&
    html`<text x="${short(width / 2)}" y="${(top + base) / 2}" text-anchor="middle">${text}</text>`
  }`;
}

/** Formats a coordinate, rounded to one decimal. */
export function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** A bar in {@link sparkline}: its style, and its height from 0 to 1; null for a time without data. */
export type TrendBar = readonly [style: (typeof TREND_STYLES)[number], share: number] | null;

export const TREND_STYLES = ["good", "weak", "bad", "unknown", "plain"] as const;

/** A value's recent history as evenly spaced bars, oldest first. */
export interface Trend {
  /** Description of the trend and its period, for example "last 24 hours: 2 hours below full pay". */
  readonly text: string;
  readonly bars: readonly TrendBar[];
}

const SPARK_HEIGHT = 16;

export function sparkline({ text, bars }: Trend): Html {
  const paths = TREND_STYLES.map((style) => {
    const path = bars
      .map((bar, index) => {
        if (bar === null || bar[0] !== style) return "";
        const height = Math.max(1, Math.round(Math.min(1, bar[1]) * SPARK_HEIGHT));
        return `M${index * 4} ${SPARK_HEIGHT}v-${height}h3v${height}z`;
      })
      .join("");
    return path === "" ? "" : html`<path class="b-${style === "unknown" ? "hollow" : style}" d="${path}"/>`;
  });
  return html`<svg class="spark" viewBox="0 0 ${Math.max(1, bars.length) * 4} ${SPARK_HEIGHT}" role="img" aria-label="${text}">${paths}</svg>`;
}

/** Draws a bar for a remaining share from 0 to 1. `text` is the bar's label for screen readers. */
export function gaugeBar(share: number, text: string, style: "good" | "weak" | "bad"): Html {
  const width = short(Math.max(0, Math.min(1, share)) * 100);
  return html`<svg class="gauge" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label="${text}"><path class="b-${style}" d="M0 0h${width}v4h-${width}z"/></svg>`;
}
