import { counted, formatDuration, formatTime } from "../../platform/base/text.ts";
import { DASHBOARDS, neighboursOf, pageLinks } from "../../platform/monitoring/alerts/links.ts";
import type { ApiRoute } from "../../platform/http/route-about.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import {
  type LivePage,
  livePageRoutes,
  type LivePlace,
  type PageView,
} from "../../platform/web/live-page.ts";
import { overviewRoute, type PartRow, partsPages } from "../../platform/web/overview.ts";
import { type Bar, barPlot, type TrendBar } from "../../platform/web/plots.ts";
import { type PageContent, type PageSection, timeText } from "../../platform/web/page-shell.ts";
import { RELAYER_PAGES } from "../api/relayer-api.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import type { CostsView } from "../costs/create-costs.ts";
import { findQuery, isQueryId, type RelayerStatus } from "../health/relayer-status.ts";
import type { Registry } from "../registry/registry.ts";
import type { AttemptLog } from "../state/attempt.ts";
import type { Journal } from "../state/journal.ts";
import {
  type Activity,
  activitySection,
  attemptSection,
  deadLetterSection,
  type ResubmitAccess,
} from "./activity.ts";
import { costSection, spendingSection } from "./cost-section.ts";
import {
  factSection,
  statusSection,
  summarize,
  connectionSection,
  endpointSection,
} from "./overview-section.ts";
import { noSuchQuery, parseQueriesView, queryPage, querySection, selectQueries } from "./query-section.ts";
import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { type Column, dataTable } from "../../platform/web/parts.ts";
import { type Stretch, timelinePlot, type TimelineRow } from "../../platform/web/timeline-plot.ts";
import { coveredMs, type ProblemSpan, type ProblemTimeline, type Span } from "../health/problem-timeline.ts";

export interface RelayerPageInput {
  readonly status: RelayerStatus;
  readonly activity: Pick<Activity, "samples">;
  readonly costs: () => CostsView;
  readonly timeline: TimelineView;
  readonly deadLetters: Journal["deadLetters"];
  readonly attempts: Pick<AttemptLog, "find">;
  readonly registry: Pick<Registry, "states">;
  readonly resubmit: ResubmitAccess;
}

/**
 * Creates the relayer's pages from current data, with all text from chains escaped.
 *
 * The first page shows the overall status with reasons, four key numbers, the queries and the connections. With up to ten queries,
 * the first page fits on one screen. Every other topic has its own page.
 */
export function relayerPages(read: () => RelayerPageInput): readonly LivePage[] {
  const page = (
    place: Required<LivePlace>,
    sections: (
      input: RelayerPageInput,
      view: PageView,
    ) => readonly PageSection[] | Promise<readonly PageSection[]>,
  ): LivePage => ({
    ...place,
    content: async (view) => {
      const input = read();
      return { ...headOf(input.status, place.name), sections: await sections(input, view) };
    },
  });
  return [
    page(RELAYER_PAGES.overview, overview),
    page(RELAYER_PAGES.costs, ({ status, activity, costs }) => [
      { id: "cost", label: "Cost", content: costSection(status, activity.samples()) },
      { id: "spending", label: "Spending", content: spendingSection(costs(), status.nowMs) },
    ]),
    page(RELAYER_PAGES.attempts, async ({ status, activity, attempts }) => [
      { id: "activity", label: "Last hour", content: activitySection(activity.samples()) },
      await attemptSection(attempts, status.account),
    ]),
    page(RELAYER_PAGES.problems, ({ status, timeline }) => [
      { id: "timeline", label: "Problems over time", content: timelineSection(timeline, status.nowMs) },
    ]),
    page(RELAYER_PAGES.deadLetters, ({ deadLetters, resubmit }) => [
      { id: "dead-letters", label: "Dead letters", content: deadLetterSection(deadLetters(), resubmit) },
    ]),
    page(RELAYER_PAGES.endpoints, ({ status }) => [
      { id: "endpoints", label: "Endpoints", content: endpointSection(status.endpoints) },
    ]),
    { ...RELAYER_PAGES.query, content: ({ params }) => oneQuery(read(), params["id"] ?? "") },
  ];
}

/** Returns a page's title and time. Every title states the overall status, so that the browser tab shows problems on any page. */
function headOf(status: RelayerStatus, name: string): Pick<PageContent, "title" | "asOfMs"> {
  const { length } = status.problems;
  const place = name === "Overview" ? "relayer" : `${name}, relayer`;
  return {
    title: `${length === 0 ? "" : `(${length}) `}${summarize(status).headline} – ${place}`,
    asOfMs: status.nowMs,
  };
}

function overview({ status, activity }: RelayerPageInput, { query }: PageView): readonly PageSection[] {
  const view = parseQueriesView(query);
  const total = status.loaded ? status.queries.length : undefined;
  return [
    { id: "verdict", label: "Status", content: statusSection(status, summarize(status)) },
    { id: "facts", label: "Values", content: factSection(status, activity.samples()) },
    {
      id: "queries",
      label: "Queries",
      content: querySection(selectQueries(status.queries, view), total, view),
    },
    {
      id: "connections",
      label: "Connections",
      content: connectionSection(status),
    },
  ];
}

async function oneQuery({ status, registry, attempts }: RelayerPageInput, id: string): Promise<PageContent> {
  const found = isQueryId(id) ? findQuery(status, registry, BigInt(id)) : undefined;
  return found === undefined ? noSuchQuery(id, status.nowMs) : queryPage({ status, ...found, attempts });
}

/** Returns the relayer's row for overview pages. */
function relayerPart(status: RelayerStatus, samples: ReturnType<Activity["samples"]>): PartRow {
  const { tone, headline } = summarize(status);
  const most = Math.max(
    1,
    ...samples.map((sample) => (sample === undefined ? 0 : sample.included + sample.failed)),
  );
  const results = samples.reduce((sum, sample) => sum + (sample?.included ?? 0), 0);
  return {
    name: "relayer",
    tone,
    verdict: headline,
    number: `${counted(status.queries.length, "query", "queries")}, ${counted(results, "result")} in the last hour`,
    asOfMs: status.nowMs,
    href: "/",
    trend: {
      text: `results per minute in the last hour, ${results} in total`,
      bars: samples.map(
        (sample): TrendBar =>
          sample === undefined
            ? null
            : [sample.failed > 0 ? "bad" : "good", (sample.included + sample.failed) / most],
      ),
    },
  };
}

interface PageDeps extends Pick<RelayerPageInput, "registry" | "timeline"> {
  readonly status: () => RelayerStatus;
  readonly activity: Activity;
  readonly costs: () => CostsView;
  readonly store: { readonly journal: Pick<Journal, "deadLetters"> } & Pick<RelayerPageInput, "attempts">;
  /** True if `POST /resubmit-txs` needs no token. */
  readonly openResubmit: boolean;
}

export function createRelayerPage(
  { status, store: { journal, attempts }, openResubmit, ...rest }: PageDeps,
  { hasToken, links }: { readonly hasToken: boolean } & Pick<RelayerConfig, "links">,
  { build, clock }: Pick<DaemonContext, "build" | "clock">,
): readonly ApiRoute[] {
  const resubmit = openResubmit ? "open" : hasToken ? "token" : "nobody";
  const parts = (): readonly PartRow[] => [relayerPart(status(), rest.activity.samples())];
  const pages = relayerPages(() => ({
    ...rest,
    attempts,
    status: status(),
    deadLetters: journal.deadLetters,
    resubmit,
  }));
  const routes = livePageRoutes(
    {
      frame: {
        heading: "Interchain-query relayer",
        version: build.version,
        startedAtMs: clock.nowMs(),
        links: [
          { path: "/api/status", text: "Status as JSON" },
          { path: "/api/queries", text: "queries" },
          { path: "/api/attempts", text: "attempts" },
          { path: "/api/spending", text: "spending" },
          { path: "/unsuccessful-txs", text: "dead letters" },
          { path: "/metrics", text: "metrics" },
          { path: "/readyz", text: "readiness" },
          ...pageLinks(links, "relayer", DASHBOARDS.relayer),
        ],
      },
      pages: [...pages, ...partsPages(parts, neighboursOf(links, "relayer"), clock)],
    },
    clock,
  );
  return [...routes, overviewRoute(parts)];
}

type TimelineView = Pick<ProblemTimeline, "problems" | "runs">;

/** Maximum number of rows in the 24-hour plot, which shows the longest problems. */
const MAX_ROWS = 12;
/** Maximum number of problems in the table, which shows the newest problems. */
const MAX_LISTED = 20;
const WEEK_HOURS = 7 * 24;

/**
 * Plots the exact times of problems over the last 24 hours, and hourly sums over seven days. Periods in which no process ran are
 * shown as unknown.
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

/** Separates problems from unknown periods, in which no process was running or the initial reads had not finished. */
function sortOut(
  spans: readonly ProblemSpan[],
  runs: readonly Span[],
  range: Span,
): { readonly problems: readonly ProblemSpan[]; readonly unknown: readonly Span[] } {
  const starting = spans.filter(({ code }) => code === "starting");
  // Ignore a short gap after the last record, which does not mean that the process has stopped.
  const stopped = gapsOf(runs, range).filter(
    ({ fromMs, untilMs }) => untilMs < range.untilMs || untilMs - fromMs > RECORD_MS,
  );
  return {
    problems: spans.filter(({ code }) => code !== "starting"),
    unknown: [...stopped, ...starting],
  };
}

/** Maximum age of a current record. A running process writes a record every second. */
const RECORD_MS = 5_000;

function summaryOf(all: readonly ProblemSpan[], runs: readonly Span[], range: Span): string {
  const ran = coveredMs(runs, range);
  const { problems } = sortOut(all, runs, range);
  const stopped = range.untilMs - range.fromMs - ran;
  const bad = coveredMs(problems, range);
  // Omit pauses under a minute, such as a restart. The plot still shows them.
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

/** Plots how many minutes of each hour had a problem, had no problem, or are unknown. */
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
