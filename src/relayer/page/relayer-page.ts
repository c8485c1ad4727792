import { counted } from "../../platform/base/text.ts";
import { DASHBOARDS, neighboursOf, pageLinks } from "../../platform/monitoring/alerts/links.ts";
import type { ApiRoute } from "../../platform/http/route-about.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import {
  type LivePage,
  type LivePlace,
  livePageRoutes,
  type PageView,
} from "../../platform/web/live-page.ts";
import { overviewRoute, type PartRow, partsPages } from "../../platform/web/overview.ts";
import type { TrendBar } from "../../platform/web/plots.ts";
import type { PageContent, PageSection } from "../../platform/web/page-shell.ts";
import { RELAYER_PAGES } from "../api/relayer-api.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import type { CostsView } from "../costs/create-costs.ts";
import { findQuery, isQueryId, type RelayerStatus } from "../health/relayer-status.ts";
import type { Registry } from "../registry/registry.ts";
import type { AttemptLog } from "../state/attempt.ts";
import type { Journal } from "../state/journal.ts";
import type { Activity } from "./activity.ts";
import {
  activitySection,
  attemptSection,
  deadLetterSection,
  type ResubmitAccess,
} from "./attempt-section.ts";
import { connectionSection, endpointSection } from "./connection-section.ts";
import { costSection, spendingSection } from "./cost-section.ts";
import { factSection, statusSection, summarize } from "./overview-section.ts";
import { noSuchQuery, parseQueriesView, queryPage, querySection, selectQueries } from "./query-section.ts";
import { timelineSection, type TimelineView } from "./timeline-section.ts";

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
 * Creates the relayer's pages from current data. Escapes texts from chains.
 *
 * The first page fits on one screen for up to ten queries. The first page shows whether everything is current, why not, four
 * numbers, the queries and the connections. Every other subject has its own page.
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

/** Every title states the overall status, so that a browser tab reveals a problem on any page. */
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
