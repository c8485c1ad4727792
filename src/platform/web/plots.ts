import { type Html, html } from "./html.ts";

/** A bar of {@link barPlot}: parts from the bottom up. Undefined when no data exists for that time. */
export type Bar = readonly { readonly style: "good" | "bad" | "plain"; readonly value: number }[] | undefined;

export interface BarPlot {
  /** Name of the plotted quantity, with its unit. */
  readonly title: string;
  /** The plot in words, for screen readers. */
  readonly summary: string;
  /** Oldest first, at equal distances. */
  readonly bars: readonly Bar[];
  /** Texts below the first and the last bar. */
  readonly from: string;
  readonly to: string;
  readonly format: (value: number) => string;
}

const WIDTH = 360;
const HEIGHT = 110;
const BASE = HEIGHT - 18;
const TOP = 18;

/** Renders stacked bars as a figure. The vertical axis begins at 0. */
export function barPlot({ title, summary, bars, from, to, format }: BarPlot): Html {
  const totals = bars.map((bar) => (bar ?? []).reduce((sum, { value }) => sum + value, 0));
  const most = Math.max(0, ...totals);
  const step = WIDTH / Math.max(1, bars.length);
  const toHeight = (value: number): number => (most === 0 ? 0 : (value / most) * (BASE - TOP));
  return html`<figure><figcaption>${title}: ${summary}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}: ${summary}">
${unknownArea(bars, step)}${(["good", "bad", "plain"] as const).map((style) => {
  const path = bars
    .map((bar, index) => barPath(bar, style, { x: index * step, width: step, toHeight }))
    .join("");
  return path === "" ? "" : html`<path class="b-${style}" d="${path}"/>`;
})}<path class="l-axis" d="M0 ${BASE}h${WIDTH}"/>
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

/** Marks the time before the first known bar, so that missing data does not look like inactivity. */
function unknownArea(bars: readonly Bar[], step: number): Html {
  const first = bars.findIndex((bar) => bar !== undefined);
  const count = first < 0 ? bars.length : first;
  const width = short(count * step);
  if (count === 0) return html``;
  return html`<path class="b-none" stroke-dasharray="2 3" d="M0 ${TOP}h${width}v${BASE - TOP}h-${width}z"/>${
    count * step > 120 &&
    html`<text x="${short((count * step) / 2)}" y="${(TOP + BASE) / 2}" text-anchor="middle">not running</text>`
  }`;
}

/** A coordinate with one decimal. */
export function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}
