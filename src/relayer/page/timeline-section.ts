import { counted, formatDuration, formatTime } from "../../platform/base/text.ts";
import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { timeText } from "../../platform/web/page-shell.ts";
import { type Column, dataTable } from "../../platform/web/parts.ts";
import { type Bar, barPlot } from "../../platform/web/plots.ts";
import { type Stretch, type TimelineRow, timelinePlot } from "../../platform/web/timeline-plot.ts";
import { coveredMs, type ProblemSpan, type ProblemTimeline, type Span } from "../health/problem-timeline.ts";

export type TimelineView = Pick<ProblemTimeline, "problems" | "runs">;

/** Maximum number of problem rows in a day's plot, longest first. The table lists all problems. */
const MAX_ROWS = 12;
/** Maximum number of problems in the table, newest first. */
const MAX_LISTED = 20;
const WEEK_HOURS = 7 * 24;

/**
 * Shows the problems of the last 24 hours exactly and of seven days by the hour. Time without a process never appears as healthy.
 */
export function timelineSection({ problems, runs }: TimelineView, nowMs: number): Html {
  const day = { fromMs: nowMs - DAY_MS, untilMs: nowMs };
  const present = problems().filter(({ untilMs }) => untilMs >= day.fromMs);
  const spans = { problems: problems(), runs: runs() };
  const listed = present.filter(({ code }) => code !== "starting");
  return html`<h2>Problems over time</h2>${dayPlot(present, spans.runs, day)}<div class="plots">${weekPlot(spans, nowMs)}</div>${problemTable(listed, nowMs)}`;
}

function dayPlot(all: readonly ProblemSpan[], runs: readonly Span[], day: Span): Html {
  const length = day.untilMs - day.fromMs;
  const place = ({ fromMs, untilMs }: Span): Stretch => ({
    from: (fromMs - day.fromMs) / length,
    to: (untilMs - day.fromMs) / length,
  });
  const { problems, unknown } = sortOut(all, runs, day);
  const rows = new Map<string, ProblemSpan[]>();
  for (const problem of problems) {
    const name = nameOf(problem);
    rows.set(name, [...(rows.get(name) ?? []), problem]);
  }
  const longest = [...rows]
    .map(([name, spans]) => ({ name, spans, ms: coveredMs(spans, day) }))
    .toSorted((a, b) => b.ms - a.ms);
  const summary = summaryOf(all, runs, day);
  const relayer: TimelineRow = {
    name: "relayer",
    summary,
    unknown: unknown.map(place),
    good: gapsOf(unknown, day).map(place),
    bad: problems.map(place),
  };
  return timelinePlot({
    caption: `Last 24 hours: ${summary}`,
    rows: [
      relayer,
      ...longest.slice(0, MAX_ROWS).map(({ name, spans, ms }) => ({
        name,
        summary: `${counted(spans.length, "time")}, ${formatDuration(ms)} in all`,
        unknown: unknown.map(place),
        good: [],
        bad: spans.map(place),
      })),
    ],
    from: `${formatTime(day.fromMs).slice(0, 16)} UTC`,
    to: "now",
  });
}

/** Separates problems from unknown periods. A period is unknown without a process, or before everything has been read once. */
function sortOut(
  spans: readonly ProblemSpan[],
  runs: readonly Span[],
  range: Span,
): { readonly problems: readonly ProblemSpan[]; readonly unknown: readonly Span[] } {
  const starting = spans.filter(({ code }) => code === "starting");
  // The last record is up to a second old.
  const stopped = gapsOf(runs, range).filter(
    ({ fromMs, untilMs }) => untilMs < range.untilMs || untilMs - fromMs > RECORD_MS,
  );
  return {
    problems: spans.filter(({ code }) => code !== "starting"),
    unknown: [...stopped, ...starting],
  };
}

const RECORD_MS = 5_000;

function summaryOf(all: readonly ProblemSpan[], runs: readonly Span[], range: Span): string {
  const ran = coveredMs(runs, range);
  const { problems } = sortOut(all, runs, range);
  const stopped = range.untilMs - range.fromMs - ran;
  const bad = coveredMs(problems, range);
  // A restart takes seconds. The plot shows it, so the text omits it.
  const pause = stopped < 60_000 ? "" : `, not running for ${formatDuration(stopped)}`;
  if (problems.length === 0) return `no problem in ${formatDuration(ran)} of running${pause}`;
  return `a problem for ${formatDuration(bad)} of ${formatDuration(ran)} of running${pause}`;
}

/** Returns the parts of a range that no span covers. */
function gapsOf(spans: readonly Span[], { fromMs, untilMs }: Span): readonly Span[] {
  const gaps: Span[] = [];
  let reachedMs = fromMs;
  for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (span.untilMs <= reachedMs) continue;
    const end = Math.min(span.fromMs, untilMs);
    if (end > reachedMs) gaps.push({ fromMs: reachedMs, untilMs: end });
    reachedMs = Math.max(reachedMs, span.untilMs);
  }
  if (untilMs > reachedMs) gaps.push({ fromMs: reachedMs, untilMs });
  return gaps;
}

/** Plots, for each hour, the minutes with a problem, without a problem, and unknown. */
function weekPlot(
  { problems: all, runs }: { readonly problems: readonly ProblemSpan[]; readonly runs: readonly Span[] },
  nowMs: number,
): Html {
  const lastMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  const week = { fromMs: lastMs - (WEEK_HOURS - 1) * HOUR_MS, untilMs: nowMs };
  const { problems, unknown } = sortOut(all, runs, week);
  const known = [...problems, ...unknown];
  const firstMs = runs[0]?.fromMs ?? nowMs;
  const bars = Array.from({ length: WEEK_HOURS }, (_, index): Bar => {
    const fromMs = week.fromMs + index * HOUR_MS;
    const hour = { fromMs, untilMs: Math.min(fromMs + HOUR_MS, nowMs) };
    if (hour.untilMs <= firstMs) return undefined;
    const bad = coveredMs(problems, hour);
    const both = coveredMs(known, hour);
    return [
      { style: "good", value: (hour.untilMs - hour.fromMs - both) / 60_000 },
      { style: "bad", value: bad / 60_000 },
      { style: "unknown", value: (both - bad) / 60_000 },
    ];
  });
  const inWeek = all.filter(({ untilMs }) => untilMs >= week.fromMs);
  return barPlot({
    title: "Minutes per hour over seven days",
    summary: `${summaryOf(inWeek, runs, week)} (red: a problem, grey: not running or starting)`,
    bars,
    from: "7 days ago",
    to: "now",
    format: (value) => `${Math.round(value)} min`,
  });
}

function problemTable(problems: readonly ProblemSpan[], nowMs: number): Html {
  if (problems.length === 0) return html``;
  const columns: readonly Column<ProblemSpan>[] = [
    { name: "problem", cell: nameOf },
    { name: "from", cell: ({ fromMs }) => timeText(fromMs) },
    {
      name: "until",
      cell: ({ untilMs }) => (nowMs - untilMs <= RECORD_MS ? "now" : timeText(untilMs)),
    },
    { name: "duration", isNumber: true, cell: ({ fromMs, untilMs }) => formatDuration(untilMs - fromMs) },
    { name: "last reason", cell: ({ reason }) => reason },
  ];
  const newest = problems.toSorted((a, b) => b.fromMs - a.fromMs);
  const shown = newest.slice(0, MAX_LISTED);
  const rest = newest.length - shown.length;
  return html`<details id="problem-list"><summary>${counted(problems.length, "problem")} of the last 24 hours</summary>${dataTable(
    { caption: `Newest first${rest > 0 ? `; ${rest} older ones are not shown` : ""}`, columns, rows: shown },
  )}</details>`;
}

function nameOf({ code, connectionId }: Pick<ProblemSpan, "code" | "connectionId">): string {
  return connectionId === "" ? code : `${code} (${connectionId})`;
}
