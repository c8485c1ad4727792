import { type Html, html } from "./html.ts";
import { short } from "./plots.ts";

/** A period in a row of {@link timelinePlot}. Times are scaled, from 0 (the axis's start) to 1 (its end). */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** A row in {@link timelinePlot}. If periods overlap, bad periods cover good periods, and good periods cover unknown periods. */
export interface TimelineRow {
  readonly name: string;
  /** Description of the row in words, for screen readers. */
  readonly summary: string;
  /** Unknown periods, drawn as outlines. */
  readonly unknown: readonly Stretch[];
  /** Periods without a problem, drawn as low bars. */
  readonly good: readonly Stretch[];
  /** Periods with a problem, drawn as tall bars. */
  readonly bad: readonly Stretch[];
}

export interface TimelinePlot {
  /** Caption that states what the plot shows, which period it covers, and what it means. */
  readonly caption: string;
  readonly rows: readonly TimelineRow[];
  /** Labels below the start (`from`) and the end (`to`) of the time axis. */
  readonly from: string;
  readonly to: string;
}

/** Width of a row in SVG units. SVG scales the row to the width of the page. */
const WIDTH = 1_000;
const HEIGHT = 12;
/** Minimum width of a drawn period, so that even a very short period is visible. */
const LEAST = 2;

/** Renders rows of periods on a shared time axis. Good, bad and unknown periods differ in shape as well as in colour. */
export function timelinePlot({ caption, rows, from, to }: TimelinePlot): Html {
  return html`<figure class="timeline"><figcaption>${caption}<br><span aria-hidden="true"><span class="entry"><span class="key k-good"></span>low: no problem</span> <span class="entry"><span class="key k-bad"></span>tall: problem</span> <span class="entry"><span class="key k-none"></span>outline: not running or starting</span></span></figcaption>
${rows.map(rowOf)}<p class="ends"><span>${from}</span><span>${to}</span></p></figure>`;
}

function rowOf({ name, summary, good, bad, unknown }: TimelineRow): Html {
  return html`<p aria-hidden="true">${name}</p><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${name}: ${summary}">${pathOf(
    unknown,
    "b-hollow",
    HEIGHT,
  )}${pathOf(good, "b-good", HEIGHT / 3)}${pathOf(bad, "b-bad", HEIGHT)}</svg>
`;
}

function pathOf(stretches: readonly Stretch[], style: string, height: number): Html | string {
  const path = merged(stretches)
    .map(({ from, to }) => {
      const width = Math.max(LEAST, (to - from) * WIDTH);
      return `M${short(Math.min(from * WIDTH, WIDTH - LEAST))} ${HEIGHT}v${short(-height)}h${short(width)}v${short(height)}z`;
    })
    .join("");
  return path === "" ? "" : html`<path class="${style}" d="${path}"/>`;
}

/** Merges periods that are too close together to distinguish, which limits the output's size for many short periods. */
function merged(stretches: readonly Stretch[]): readonly Stretch[] {
  const found: { from: number; to: number }[] = [];
  for (const { from, to } of stretches.toSorted((a, b) => a.from - b.from)) {
    const [start, end] = [Math.max(0, from), Math.min(1, to)];
    if (end < start) continue;
    const last = found.at(-1);
    if (last !== undefined && (start - last.to) * WIDTH <= LEAST) last.to = Math.max(last.to, end);
    else found.push({ from: start, to: end });
  }
  return found;
}
