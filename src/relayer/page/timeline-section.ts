import { counted, formatDuration, formatTime } from "../../platform/base/text.ts";
import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { timeText } from "../../platform/web/page-shell.ts";
import { type Column, dataTable } from "../../platform/web/parts.ts";
import { type Bar, barPlot } from "../../platform/web/plots.ts";
import { type Stretch, type TimelineRow, timelinePlot } from "../../platform/web/timeline-plot.ts";
import { coveredMs, type ProblemSpan, type ProblemTimeline, type Span } from "../health/problem-timeline.ts";

/** The part of the time line that the page shows. */
export type TimelineView = Pick<ProblemTimeline, "problems" | "runs">;

/** Rows of problems in the plot of a day; the longest ones. The table has all. */
const MAX_ROWS = 12;
/** Problems in the table, the newest first. */
const MAX_LISTED = 20;
const WEEK_HOURS = 7 * 24;

/** Which problems were there when: the last 24 hours exactly, seven days by the hour. Time without a process is never healthy. */
export function timelineSection({ problems, runs }: TimelineView, nowMs: number): Html {
  const day = { fromMs: nowMs - DAY_MS, untilMs: nowMs };
  const present = problems().filter(({ untilMs }) => untilMs >= day.fromMs);
  const spans = { problems: problems(), runs: runs() };
  return html`<h2>Problems over time</h2>${dayPlot(present, spans.runs, day)}<div class="plots">${weekPlot(spans, nowMs)}</div>${problemTable(present, nowMs)}`;
}

function dayPlot(problems: readonly ProblemSpan[], runs: readonly Span[], day: Span): Html {
  const length = day.untilMs - day.fromMs;
  const place = ({ fromMs, untilMs }: Span): Stretch => ({
    from: (fromMs - day.fromMs) / length,
    to: (untilMs - day.fromMs) / length,
  });
  const stopped = gapsOf(runs, day).map(place);
  const rows = new Map<string, ProblemSpan[]>();
  for (const problem of problems) {
    const name = nameOf(problem);
    rows.set(name, [...(rows.get(name) ?? []), problem]);
  }
  const longest = [...rows]
    .map(([name, spans]) => ({ name, spans, ms: coveredMs(spans, day) }))
    .toSorted((a, b) => b.ms - a.ms);
  const summary = summaryOf(problems, runs, day);
  const all: TimelineRow = {
    name: "relayer",
    summary,
    good: runs.filter(({ untilMs }) => untilMs > day.fromMs).map(place),
    bad: problems.map(place),
    unknown: stopped,
  };
  return timelinePlot({
    caption: `Last 24 hours: ${summary}`,
    rows: [
      all,
      ...longest.slice(0, MAX_ROWS).map(({ name, spans, ms }) => ({
        name,
        summary: `${counted(spans.length, "time")}, ${formatDuration(ms)} in all`,
        good: [],
        bad: spans.map(place),
        unknown: stopped,
      })),
    ],
    from: `${formatTime(day.fromMs).slice(0, 16)} UTC`,
    to: "now",
  });
}

function summaryOf(problems: readonly ProblemSpan[], runs: readonly Span[], day: Span): string {
  const ran = coveredMs(runs, day);
  const stopped = day.untilMs - day.fromMs - ran;
  const bad = coveredMs(problems, day);
  // A restart takes seconds. They are in the plot, and need no words.
  const pause = stopped < 60_000 ? "" : `, not running for ${formatDuration(stopped)}`;
  if (problems.length === 0) return `no problem in ${formatDuration(ran)} of running${pause}`;
  return `a problem for ${formatDuration(bad)} of ${formatDuration(ran)} of running${pause}`;
}

/** The times within a range that lie in no run. */
function gapsOf(runs: readonly Span[], { fromMs, untilMs }: Span): readonly Span[] {
  const gaps: Span[] = [];
  let reachedMs = fromMs;
  for (const run of runs.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (run.untilMs <= reachedMs) continue;
    if (run.fromMs > reachedMs) gaps.push({ fromMs: reachedMs, untilMs: Math.min(run.fromMs, untilMs) });
    reachedMs = Math.max(reachedMs, run.untilMs);
  }
  // The last record is up to a second old.
  if (untilMs - reachedMs > RECORD_MS) gaps.push({ fromMs: reachedMs, untilMs });
  return gaps;
}

const RECORD_MS = 5_000;

/** Minutes of each hour: without a problem, with one, and without a process. */
function weekPlot(
  { problems, runs }: { readonly problems: readonly ProblemSpan[]; readonly runs: readonly Span[] },
  nowMs: number,
): Html {
  const lastMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  const hours = Array.from({ length: WEEK_HOURS }, (_, index): Span => {
    const fromMs = lastMs - (WEEK_HOURS - 1 - index) * HOUR_MS;
    return { fromMs, untilMs: Math.min(fromMs + HOUR_MS, nowMs) };
  });
  const firstMs = runs[0]?.fromMs ?? nowMs;
  const bars = hours.map((hour): Bar => {
    if (hour.untilMs <= firstMs) return undefined;
    const ran = coveredMs(runs, hour);
    const bad = Math.min(ran, coveredMs(problems, hour));
    return [
      { style: "good", value: (ran - bad) / 60_000 },
      { style: "bad", value: bad / 60_000 },
      { style: "unknown", value: (hour.untilMs - hour.fromMs - ran) / 60_000 },
    ];
  });
  const week = { fromMs: hours[0]?.fromMs ?? nowMs, untilMs: nowMs };
  return barPlot({
    title: "Minutes of each hour of seven days",
    summary: `${summaryOf(
      problems.filter(({ untilMs }) => untilMs >= week.fromMs),
      runs,
      week,
    )} (red: a problem, grey: not running)`,
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
    { caption: `Newest first${rest > 0 ? `; ${rest} older ones are left out` : ""}`, columns, rows: shown },
  )}</details>`;
}

function nameOf({ code, connectionId }: Pick<ProblemSpan, "code" | "connectionId">): string {
  return connectionId === "" ? code : `${code} (${connectionId})`;
}
