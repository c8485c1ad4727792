import { unreachable } from "../../platform/base/errors.ts";
import { counted } from "../../platform/base/text.ts";
import type { ApiRoute } from "../../platform/http/route-about.ts";
import { DASHBOARDS, neighboursOf, pageLinks } from "../../platform/monitoring/alerts/links.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { type LivePage, livePageRoutes, type PageView } from "../../platform/web/live-page.ts";
import { overviewRoute, type PartRow, partsPages } from "../../platform/web/overview.ts";
import type { PageContent, PageSection } from "../../platform/web/page-shell.ts";
import { badge, reloadNotice, statusBanner } from "../../platform/web/parts.ts";
import type { ReloadStatus } from "../../platform/process/reloadable.ts";
import { alertCost } from "../alerts/incidents.ts";
import { incidentSourceOf } from "../alerts/miss-causes.ts";
import type { AlertingState } from "../alerts/plan-alerts.ts";
import { type Freshness, longestPollMs } from "../polling/freshness.ts";
import type { WatchdogStatus } from "../polling/watchdog-status.ts";
import type { MaintenanceWindow } from "../alerts/maintenance.ts";
import { alertLines, notificationSection, silenceSection, sourceSection } from "./sections.ts";
import type { AlertContext } from "./sections.ts";
import {
  causesOf,
  fleetPayStatus,
  fleetTable,
  payStatusOf,
  type ValidatorEntry,
  validatorParts,
  validatorPath,
} from "./pay-status.ts";
import { chainSections, standingSection } from "./chain-sections.ts";
import { STATE_KEY } from "./month-plots.ts";
import { createPlots, type PlotsDeps, type ValidatorPlots } from "./validator-plots.ts";
import { headroomSection, monthSection, payDetails, payFacts } from "./pay-section.ts";
import type { SourceLimits } from "../sources/targets.ts";
import type { NotifyConfig } from "../notify/notify-config.ts";
import type { ChannelState } from "../notify/notifier.ts";
import { deadLetters, type LostDelivery } from "../alerts/outbox.ts";
import { isActive } from "../alerts/silence.ts";

export interface PageDeps extends PlotsDeps {
  readonly version: string;
  readonly statuses: () => readonly WatchdogStatus[];
  readonly alerting: () => Pick<AlertingState, "silences" | "history" | "outbox">;
  readonly channels: () => readonly ChannelState[];
  /** Returns the status of configuration reloads; undefined if the configuration cannot be reloaded. */
  readonly reloadStatus?: () => ReloadStatus | undefined;
}

export interface PageSettings {
  /** Time between the end of a poll and the start of the next poll. */
  readonly intervalMs: number;
  readonly limits: SourceLimits;
  readonly maintenance: readonly MaintenanceWindow[];
  readonly notify: Pick<NotifyConfig, "runbooks" | "escalation" | "links">;
}

/** Creates the routes for the pages and `GET /api/overview`. */
export function createWatchdogPage(config: PageSettings, deps: PageDeps): readonly ApiRoute[] {
  const { clock, version, statuses, ledger, alerting, channels, reloadStatus } = deps;
  const { maintenance, notify } = config;
  const { runbooks, escalation, links = {} } = notify;
  const plotsOf = createPlots(deps);
  const read = (): WatchdogPageInput => ({
    statuses: statuses(),
    ledgerOf: ledger,
    plotsOf,
    silences: alerting().silences,
    history: alerting().history,
    channels: channels(),
    lost: deadLetters(alerting().outbox),
    maintenance,
    runbooks,
    escalation,
    nowMs: clock.nowMs(),
    pollMs: longestPollMs(config),
    reloads: reloadStatus?.(),
  });
  const parts = (): readonly PartRow[] => {
    const input = read();
    return validatorParts(entriesOf(input), input.ledgerOf, input.nowMs);
  };
  const frame = {
    heading: "Oracle watchdog",
    version,
    startedAtMs: clock.nowMs(),
    links: [
      { path: "/api/alerts", text: "alerts" },
      { path: "/api/silences", text: "silences" },
      { path: "/metrics", text: "metrics" },
      ...pageLinks(links, "watchdog", DASHBOARDS.paid),
    ],
  };
  const others = partsPages(parts, neighboursOf(links, "watchdog"), clock);
  const pages = watchdogPages(read, others);
  return [...livePageRoutes({ frame, pages: [...pages, ...others] }, clock), overviewRoute(parts)];
}

export interface WatchdogPageInput
  extends Freshness,
    Pick<AlertingState, "silences" | "history">,
    Pick<AlertContext, "runbooks" | "escalation"> {
  /** The status of each validator. The list is never empty. */
  readonly statuses: readonly WatchdogStatus[];
  /** Returns a validator's counts, or undefined before the first reading. */
  readonly ledgerOf: PlotsDeps["ledger"];
  readonly plotsOf: (status: WatchdogStatus) => ValidatorPlots | undefined;
  readonly maintenance: readonly MaintenanceWindow[];
  readonly channels: readonly ChannelState[];
  /** Notifications that were never delivered, oldest first. */
  readonly lost: readonly LostDelivery[];
  /** The status of configuration reloads; undefined if the configuration cannot be reloaded. */
  readonly reloads?: ReloadStatus | undefined;
}

/** The pages that every validator has, with paths relative to the validator's path. */
const VALIDATOR_PAGES: readonly {
  readonly path: string;
  readonly name: string;
  readonly about: string;
  readonly sections: (entry: ValidatorEntry, input: WatchdogPageInput) => readonly PageSection[];
}[] = [
  {
    path: "",
    name: "Overview",
    about:
      "a validator's pay status, success rate, remaining allowance, pay, next risk, alerts, last 24 hours and month",
    sections: oneScreen,
  },
  {
    path: "/month",
    name: "Month",
    about: "the validator's pay, allowance and forecast, the month's incidents, and earlier months",
    sections: monthPage,
  },
  {
    path: "/chain",
    name: "Chain",
    about: "the validator's signing and jail status, the next upgrade, payments, and a comparison of prices",
    sections: ({ status }) => [
      section("chain", "Chain", html`${standingSection(status)}${chainSections(status, timeOf(status))}`),
    ],
  },
  {
    path: "/sources",
    name: "Sources",
    about: "the validator's sources with their states",
    sections: ({ status }) => [section("sources", "Sources", sourceSection(status))],
  },
];

/** A page in the navigation. Pages without a name are not listed. */
type NavPage = Pick<LivePage, "path" | "name">;

/**
 * Creates the watchdog's pages. If there is only one validator, the first page shows this validator. If there are several, the
 * first page is a table, and each validator has a page at `/validators/NAME`. All numbers on a page come from the poll whose time
 * is in the header. Text from other hosts is escaped. `others` contains additional pages for the navigation.
 */
export function watchdogPages(
  read: () => WatchdogPageInput,
  others: readonly NavPage[] = [],
): readonly LivePage[] {
  const one = (page: (typeof VALIDATOR_PAGES)[number], name: string | undefined): PageContent => {
    const input = read();
    const nav = navOf(input, name, others);
    const entry = entriesOf(input).find(({ status }) => status.validator === name);
    if (entry === undefined) return { ...noSuchValidator(name ?? "", input.nowMs), nav };
    const place = page.path === "" ? "" : `${page.name}, `;
    const { status, pay } = entry;
    return {
      title: `${countedTitle(input)}${pay.headline} – ${place}${input.statuses.length > 1 ? `${status.validator}, ` : ""}oracle watchdog`,
      asOfMs: timeOf(status),
      json: `/api/validators/${encodeURIComponent(status.validator)}`,
      nav,
      sections: page.sections(entry, input),
    };
  };
  const first = (): PageContent => {
    const input = read();
    const [only, another] = input.statuses;
    return another === undefined
      ? one(VALIDATOR_PAGES[0] ?? unreachable("a validator has a first page"), only?.validator)
      : { ...fleetPage(input), nav: navOf(input, undefined, others) };
  };
  return [
    {
      path: "/",
      about: "the validator's page or, with several validators, a table of all validators, worst first",
      content: first,
    },
    ...VALIDATOR_PAGES.map((page) => ({
      path: `/validators/:name${page.path}`,
      about: page.about,
      content: ({ params }: PageView) => one(page, params["name"]),
    })),
    {
      path: "/notifications",
      about: "notification channels, dead letters, silences and maintenance windows",
      content: () => notificationPage(read(), others),
    },
  ];
}

function section(id: string, label: string, content: Html): PageSection {
  return { id, label, content };
}

function timeOf({ polledAtMs, startedAtMs }: WatchdogStatus): number {
  return polledAtMs ?? startedAtMs;
}

function entriesOf(input: WatchdogPageInput): readonly ValidatorEntry[] {
  return input.statuses.map((status) => ({ status, pay: payStatusOf(status, input) }));
}

/** Returns a title prefix with the number of firing alerts for all validators, which makes problems visible in every browser tab. */
function countedTitle({ statuses }: WatchdogPageInput): string {
  const firing = statuses.reduce((sum, { alerts }) => sum + causesOf(alerts).length, 0);
  return firing > 0 ? `(${firing}) ` : "";
}

/** Returns the navigation links. If `shown` is given, the links include the pages of this validator. */
function navOf(
  { statuses }: WatchdogPageInput,
  shown: string | undefined,
  others: readonly NavPage[],
): NonNullable<PageContent["nav"]> {
  const isOnly = statuses.length === 1;
  const path = shown === undefined ? undefined : validatorPath(shown);
  return [
    ...(isOnly ? [] : [{ path: "/", name: "Validators" }]),
    ...(path === undefined
      ? []
      : VALIDATOR_PAGES.map((page) => ({
          path: isOnly && page.path === "" ? "/" : `${path}${page.path}`,
          name: isOnly || page.path !== "" ? page.name : (shown ?? ""),
        }))),
    { path: "/notifications", name: "Notifications" },
    ...others.flatMap(({ path: other, name }) => (name === undefined ? [] : [{ path: other, name }])),
  ];
}

function noSuchValidator(name: string, nowMs: number): PageContent {
  const headline = "There is no such validator here";
  const more = html`<p>This watchdog has no validator named ${name}. <a href="/">All validators</a>.</p>`;
  return {
    title: `${headline} – oracle watchdog`,
    status: 404,
    asOfMs: nowMs,
    sections: [section("verdict", "Status", statusBanner("unknown", headline, more))],
  };
}

function fleetPage(input: WatchdogPageInput): PageContent {
  const all = entriesOf(input);
  const { tone, headline } = fleetPayStatus(all);
  return {
    title: `${countedTitle(input)}${headline} – oracle watchdog`,
    // The page is as old as the oldest poll.
    asOfMs: Math.min(...input.statuses.map(timeOf)),
    json: "/api/status",
    sections: [
      section("verdict", "Status", statusBanner(tone, headline, notices(input))),
      section("fleet", "All validators", fleetTable(all, input.ledgerOf, input.nowMs)),
    ],
  };
}

/** Renders pay, remaining allowance, alerts, the last 24 hours and the month on one screen. */
function oneScreen({ status, pay }: ValidatorEntry, input: WatchdogPageInput): readonly PageSection[] {
  const plots = input.plotsOf(status);
  const { current } = status;
  return [
    section("verdict", "Status", statusBanner(pay.tone, pay.headline, notices(input, [status]))),
    section("facts", "Values", payFacts(status, pay, timeOf(status))),
    section(
      "now",
      "Alerts and month",
      html`<div class="columns"><div><h2>Alerts</h2>${alertLines(status.alerts, alertContext(status, input))}${
        plots !== undefined && html`<h2>Last 24 hours</h2>${plots.lastDay}`
      }</div><div><h2>${current.month}</h2>${
        plots === undefined ? html`<p>No block is counted yet.</p>` : html`${plots.month}${STATE_KEY}`
      }</div></div>`,
    ),
  ];
}

function monthPage({ status }: ValidatorEntry, input: WatchdogPageInput): readonly PageSection[] {
  const plots = input.plotsOf(status);
  return [
    section("pay", "Pay", html`<h2>Pay of ${status.current.month}</h2>${payDetails(status)}`),
    section("headroom", "Allowance", headroomSection(status)),
    ...(plots === undefined
      ? []
      : [
          section(
            "month",
            "Month",
            html`<h2>Day by day</h2><div class="plots">${plots.month}${plots.forecast}</div>${STATE_KEY}`,
          ),
          section("incidents", "Incidents", html`<h2>Incidents</h2>${plots.incidents}`),
        ]),
    section("months", "Months", monthSection(status.months)),
  ];
}

function notificationPage(input: WatchdogPageInput, others: readonly NavPage[]): PageContent {
  const { statuses, nowMs, silences, maintenance, channels, lost } = input;
  const [only, another] = statuses;
  const pending = only?.pending ?? new Map<string, number>();
  const names = statuses.map(({ validator }) => validator);
  return {
    title: `${countedTitle(input)}Notifications – oracle watchdog`,
    asOfMs: nowMs,
    json: "/api/alerts",
    nav: navOf(input, another === undefined ? only?.validator : undefined, others),
    sections: [
      section("notifications", "Notifications", notificationSection(channels, lost, pending)),
      section("silences", "Silences and maintenance", silenceSection(silences, maintenance, names, nowMs)),
    ],
  };
}

/** Lists problems that do not concern pay, such as failed channels. Each problem has one line. */
function notices(input: WatchdogPageInput, shown = input.statuses): Html {
  const { channels, lost, silences, reloads, nowMs } = input;
  const silent = silences.filter((silence) => isActive(silence, nowMs)).length;
  const storeProblem = shown.find((one) => one.storeProblem !== undefined)?.storeProblem;
  const clockProblem = shown.find((one) => one.clockProblem !== undefined)?.clockProblem;
  const lines = [
    channels.length === 0 &&
      html`${badge("bad", "nobody is notified")} <a href="/notifications">No channel is configured</a>: alerts appear only on this page and in the log.`,
    lost.length > 0 &&
      html`${badge("bad", "not delivered")} <a href="/notifications">${counted(lost.length, "notification")}</a> never reached anybody.`,
    silent > 0 &&
      html`${badge("warn", "silent")} <a href="/notifications">${counted(silent, "silence")}</a>: the alerts concerned do not notify.`,
    storeProblem !== undefined && html`${badge("bad", "not stored")} ${storeProblem}`,
    clockProblem !== undefined &&
      html`${badge("bad", "clock not believed")} The clock of this machine: ${clockProblem}. Blocks are still counted; without the chain's time, no month is closed.`,
  ].filter((line) => line !== false);
  return html`${lines.map((line) => html`<p>${line}</p>`)}${reloadNotice(reloads)}`;
}

function alertContext(
  status: WatchdogStatus,
  { runbooks, escalation, ledgerOf, history }: WatchdogPageInput,
): AlertContext {
  const { assessment, validator } = status;
  const ledger = ledgerOf(validator);
  const nowMs = timeOf(status);
  const costOf: AlertContext["costOf"] = (alert) => {
    if (assessment === undefined || ledger === undefined) return undefined;
    return alertCost(incidentSourceOf(status, ledger, history), assessment, alert, nowMs);
  };
  return { nowMs, runbooks, escalation, costOf, isPolled: status.polledAtMs !== undefined };
}
