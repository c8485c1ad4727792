import { type Dec18, dec18ToNumber } from "../../platform/base/decimal.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { short, unknownArea } from "../../platform/web/plots.ts";
import { type MarketStatus, priceText } from "../forecast/market-view.ts";
import type { PricePoint } from "../gas-budget/create-market.ts";

const WIDTH = 360;
const HEIGHT = 150;
const RIGHT = WIDTH - 116;
const TOP = 14;
const BASE = HEIGHT - 18;
/** Ratio above which two prices are too far apart for a linear scale. */
const FAR = 8;
/** Minimum vertical distance between two line labels. */
const LINE_HEIGHT = 12;
const SPAN_MS = 300_000;

interface PriceLine {
  readonly text: string;
  readonly y: number;
  readonly style: string;
}

/** Plots the last day's price range for every five minutes, with lines for the minimum, ceiling and cap. */
export function pricePlot(market: MarketStatus, nowMs: number): Html {
  const { day, price, minimum, ceiling, cap, denom } = market;
  const highest = day.reduce((most, { high }) => (high > most ? high : most), price);
  const summary = `${priceText(price)} ${denom} now, at most ${priceText(highest)}; minimum ${priceText(minimum)}, ceiling ${priceText(ceiling)}, cap ${priceText(cap)}`;
  const { y, isCapInside } = axisOf(market, highest);
  const x = (atMs: number): number => Math.max(0, 1 - (nowMs - atMs) / DAY_MS) * RIGHT;
  const capText = `cap ${priceText(cap)}${isCapInside ? "" : " (off scale)"}`;
  const lines: readonly PriceLine[] = [
    { text: capText, y: isCapInside ? y(cap) : TOP, style: "l-bad" },
    { text: `ceiling ${priceText(ceiling)}`, y: y(ceiling), style: "l-warn" },
    { text: `minimum ${priceText(minimum)}`, y: y(minimum), style: "l-axis" },
  ];
  return html`<figure><figcaption>Gas price of the last day: ${summary}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Gas price of the last day: ${summary}">
${unknownArea(x(day[0]?.startMs ?? nowMs), { top: TOP, base: BASE })}${runsOf(day).map((run) => pricePath(run, { x, y }))}
${lines.map((line) => html`<path class="${line.style}" d="M0 ${short(line.y)}H${RIGHT}"/>`)}
<circle class="b-plain" cx="${RIGHT}" cy="${short(y(price))}" r="3"/>
${lineLabels(lines)}<path class="l-axis" d="M0 ${BASE}h${RIGHT}"/>
<text x="4" y="${HEIGHT - 5}">24 h ago</text><text x="${RIGHT}" y="${HEIGHT - 5}" text-anchor="end">now</text>
</svg></figure>`;
}

/**
 * Returns a function that maps a price to its vertical position. The scale is logarithmic if the prices are far apart. A cap far
 * above the other prices is off the scale, because including the cap would squeeze the other prices together.
 */
function axisOf(
  { minimum, ceiling, cap }: MarketStatus,
  highest: Dec18,
): { readonly y: Axes["y"]; readonly isCapInside: boolean } {
  const most = maxInt(highest, ceiling);
  const isCapInside = cap <= most * BigInt(FAR);
  const low = dec18ToNumber(minimum);
  const high = dec18ToNumber(isCapInside ? maxInt(most, cap) : most);
  const isLog = low > 0 && high / low > FAR;
  const scale = isLog ? Math.log : (value: number): number => value;
  const bottom = scale(isLog ? low / 1.2 : 0);
  // Leave space for the cap's line above the highest price.
  const range = scale(high * (isCapInside ? 1 : 1.2)) - bottom || 1;
  return {
    y: (price) => BASE - ((scale(dec18ToNumber(price)) - bottom) / range) * (BASE - TOP),
    isCapInside,
  };
}

/** Splits the points at gaps. A gap occurs while no process runs and reads prices. */
function runsOf(day: readonly PricePoint[]): readonly (readonly PricePoint[])[] {
  const runs: PricePoint[][] = [];
  for (const point of day) {
    const last = runs.at(-1);
    if (last !== undefined && point.startMs - (last.at(-1)?.startMs ?? 0) <= 2 * SPAN_MS) last.push(point);
    else runs.push([point]);
  }
  return runs;
}

interface Axes {
  readonly x: (atMs: number) => number;
  readonly y: (price: Dec18) => number;
}

/** Draws the area between the lowest and highest prices, and a line along the highest prices. */
function pricePath(run: readonly PricePoint[], { x, y }: Axes): Html {
  const at = ({ startMs }: PricePoint, offsetMs: number, price: Dec18): string =>
    `${short(Math.min(RIGHT, x(startMs + offsetMs)))} ${short(y(price))}`;
  const highs = run.map((point) => `${at(point, 0, point.high)}L${at(point, SPAN_MS, point.high)}`);
  const lows = run.toReversed().map((point) => `${at(point, SPAN_MS, point.low)}L${at(point, 0, point.low)}`);
  return html`<path class="b-band" d="M${highs.join("L")}L${lows.join("L")}z"/><path class="l-plain" d="M${highs.join("L")}"/>`;
}

/** Draws the lines' labels from top to bottom, and moves the labels of close lines apart. */
function lineLabels(lines: readonly PriceLine[]): readonly Html[] {
  let above = 0;
  return lines
    .toSorted((a, b) => a.y - b.y)
    .map(({ text, y }, index) => {
      // Leave space above the axis for the remaining labels.
      const lowest = BASE + 4 - LINE_HEIGHT * (lines.length - 1 - index);
      above = Math.max(above + LINE_HEIGHT, Math.min(y + 4, lowest));
      return html`<text x="${RIGHT + 5}" y="${short(above)}">${text}</text>`;
    });
}
