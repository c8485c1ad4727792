import type { Clock } from "../../platform/base/clock.ts";
import type { HttpRoute } from "../../platform/http/http-route.ts";
import { DASHBOARDS, pageLinks } from "../../platform/monitoring/alerts/links.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { livePageRoutes } from "../../platform/web/live-page.ts";
import type { PageContent, PageSection } from "../../platform/web/page-shell.ts";
import { badge, grouped, reloadNotice, statusBanner } from "../../platform/web/parts.ts";
import type { ReloadStatus } from "../../platform/process/reloadable.ts";
import type { Escalation } from "../alerts/notifications.ts";
import type { AlertState } from "../alerts/alert-state.ts";
import { alertCost } from "../alerts/incidents.ts";
import { incidentSourceOf } from "../alerts/miss-causes.ts";
import type { Cost } from "../policy/cost-text.ts";
import type { AlertingState } from "../alerts/plan-alerts.ts";
import type { LedgerView } from "../ledger/ledger-view.ts";
import type { WatchdogStatus } from "../polling/watchdog-status.ts";
import { MAX_LAZY } from "../polling/status-gauge.ts";
import type { MaintenanceWindow } from "../alerts/maintenance.ts";
import {
  conditionSection,
  notificationSection,
  silenceSection,
  sourceSection,
  fleetSection,
  fleetPayStatus,
  type ValidatorEntry,
} from "./sections.ts";
import { chainSections, standingSection } from "./chain-sections.ts";
import { createPlots, validatorPlots } from "./validator-plots.ts";
import { causesOf, payStatusOf } from "./pay-status.ts";
import { type Freshness, longestPollMs } from "../polling/freshness.ts";
import { headroomSection, monthSection, payFacts } from "./pay-section.ts";
import type { SourceLimits } from "../sources/targets.ts";
import type { NotifyConfig } from "../notify/notify-config.ts";
import type { ChannelState } from "../notify/notifier.ts";
import { deadLetters, type LostDelivery } from "../alerts/outbox.ts";

export interface PageDeps {
  readonly clock: Clock;
  /** Of the program. */
  readonly version: string;
  readonly statuses: () => readonly WatchdogStatus[];
  /** Counts that are in memory; undefined before the first reading. */
  readonly ledger: (validator: string) => LedgerView | undefined;
  /** The same with older ones. May throw, for example when the disk fails. */
  readonly storedLedger: (validator: string) => LedgerView | undefined;
  readonly alerting: () => Pick<AlertingState, "silences" | "history" | "outbox">;
  readonly channels: () => readonly ChannelState[];
  /** undefined when the configuration cannot be loaded again. */
  readonly reloadStatus?: () => ReloadStatus | undefined;
}

/** The part of the configuration that the page needs. */
export interface PageSettings {
  /** Time from the end of one poll to the start of the next. */
  readonly intervalMs: number;
  readonly limits: SourceLimits;
  readonly validators: readonly unknown[];
  readonly maintenance: readonly MaintenanceWindow[];
  readonly notify: Pick<NotifyConfig, "runbooks" | "escalation" | "links">;
}

/** The watchdog's page. */
export interface WatchdogPage {
  readonly routes: readonly HttpRoute[];
  /** Called after each poll of a validator. Renders its details when somebody requested the page recently, else a part of them. */
  readonly render: (status: WatchdogStatus) => void;
}

/** Creates the page. */
export function createWatchdogPage(config: PageSettings, deps: PageDeps): WatchdogPage {
  const { clock, version, statuses, ledger, alerting, channels, reloadStatus } = deps;
  const { maintenance, notify } = config;
  const { runbooks, escalation } = notify;
  const details = createDetails(deps, { runbooks, escalation, ledgerOf: ledger });
  let requestedAtMs = Number.NEGATIVE_INFINITY;
  const content = (): PageContent => {
    requestedAtMs = clock.monotonicMs();
    return watchdogPage({
      statuses: statuses(),
      ledgerOf: ledger,
      detailsOf: details.render,
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
  };
  const render = (status: WatchdogStatus): void => {
    const isWatched = clock.monotonicMs() - requestedAtMs < WATCHED_MS;
    if (isWatched || config.validators.length > MAX_LAZY) details.render(status);
    else details.prepare(status);
  };
  const frame = {
    heading: "Oracle watchdog",
    version,
    startedAtMs: clock.nowMs(),
    links: [
      { path: "/api/status", text: "Status as JSON" },
      { path: "/api/alerts", text: "alerts" },
      { path: "/api/silences", text: "silences" },
      { path: "/metrics", text: "metrics" },
      ...pageLinks(notify.links ?? {}, "watchdog", DASHBOARDS.paid),
    ],
  };
  return { routes: livePageRoutes({ frame, pages: [{ path: "/", content }] }, clock), render };
}

/** The page is rendered ahead of requests for this long after the last one. */
const WATCHED_MS = 600_000;

/** Renders the details of a validator. */
interface Details {
  /** Renders what a request would need the most time for: the days of the month that are over. */
  readonly prepare: (status: WatchdogStatus) => void;
  readonly render: (status: WatchdogStatus) => Html;
}

/** Creates a renderer that renders the details of a validator once for each poll and change of its alerts. */
function createDetails(deps: PageDeps, input: Omit<DetailsContext, "history" | "nowMs">): Details {
  const plots = createPlots(deps);
  const known = new Map<string, { readonly key: readonly unknown[]; readonly html: Html }>();
  const render = (status: WatchdogStatus): Html => {
    const key = [status.polledAtMs, status.storeProblem, ...status.alerts.map(({ state }) => state)];
    const found = known.get(status.validator);
    if (found !== undefined && found.key.every((part, index) => part === key[index])) return found.html;
    const fresh = validatorDetails(status, plots.render(status), {
      ...input,
      history: deps.alerting().history,
      nowMs: deps.clock.nowMs(),
    });
    known.set(status.validator, { key, html: fresh });
    return fresh;
  };
  return { prepare: plots.prepare, render };
}

/** Content of the watchdog's page. */
export interface WatchdogPageInput extends Freshness, Pick<AlertingState, "silences" | "history"> {
  /** One for each validator, at least one. */
  readonly statuses: readonly WatchdogStatus[];
  /** Counts of a validator; undefined before its first reading. */
  readonly ledgerOf: (validator: string) => LedgerView | undefined;
  /** Returns what is below the headline of a validator. Default: it is rendered. */
  readonly detailsOf?: (status: WatchdogStatus) => Html;
  readonly maintenance: readonly MaintenanceWindow[];
  readonly channels: readonly ChannelState[];
  /** Notifications that were never delivered, oldest first. */
  readonly lost: readonly LostDelivery[];
  /** URL of the folder of the runbooks, with a slash at its end; empty: those that the watchdog serves. */
  readonly runbooks: string;
  /** Absent: nothing is escalated. */
  readonly escalation?: Escalation;
  /** undefined when the configuration cannot be loaded again. */
  readonly reloads?: ReloadStatus | undefined;
}

/**
 * Creates the content of the watchdog's page: is every validator paid, why not, how far the boundaries are, the month hour by
 * hour, the forecast, the sources. Several validators begin with a table of all. Texts of other hosts are escaped.
 */
export function watchdogPage(input: WatchdogPageInput): PageContent {
  const { statuses, nowMs, silences, maintenance } = input;
  const all = statuses.map(
    (status, index): ValidatorEntry => ({
      id: `validator-${index + 1}`,
      status,
      pay: payStatusOf(status, input),
    }),
  );
  const names = statuses.map(({ validator }) => validator);
  const silent = silenceSection(silences, maintenance, names, nowMs);
  const { headline } = all.length === 1 ? (all[0]?.pay ?? fleetPayStatus(all)) : fleetPayStatus(all);
  const firing = statuses.reduce((sum, { alerts }) => sum + causesOf(alerts).length, 0);
  return {
    title: `${firing > 0 ? `(${firing}) ` : ""}${headline} – oracle watchdog`,
    // What was polled longest ago decides how old the page is.
    asOfMs: Math.min(...statuses.map(({ polledAtMs, startedAtMs }) => polledAtMs ?? startedAtMs)),
    sections: [
      ...(all.length > 1
        ? [{ id: "fleet", label: "All validators", content: fleetSection(all, nowMs) }]
        : []),
      ...all.map((one) => validatorSection(one, input, all.length > 1)),
      ...(input.reloads === undefined
        ? []
        : [{ id: "configuration", label: "Configuration", content: html`${reloadNotice(input.reloads)}` }]),
      {
        id: "notifications",
        label: "Notifications",
        content: notificationSection(input.channels, input.lost),
      },
      { id: "silences", label: "Silences and maintenance", content: silent },
    ],
  };
}

function validatorSection(
  entry: ValidatorEntry,
  input: WatchdogPageInput,
  isOneOfMany: boolean,
): PageSection {
  const { id, status, pay } = entry;
  const name = `${status.validator}, ${status.chainId ?? "chain not known yet"}`;
  const details =
    input.detailsOf?.(status) ??
    validatorDetails(status, validatorPlots(status, input.ledgerOf(status.validator), input), input);
  const head = statusBanner(pay.tone, pay.headline, payLine(status));
  const content = isOneOfMany
    ? html`<details id="${id}-details"${pay.kind !== "paid" && html` open`}><summary>${badge(pay.tone, pay.short)} ${name}</summary><h2>${name}</h2>${head}${details}</details>`
    : html`${head}<h2>${name}</h2>${details}`;
  return { id, label: name, content };
}

function payLine({ current, assessment }: WatchdogStatus): Html {
  const nearest = assessment?.headroom.find(({ state }) => state === "open");
  const left =
    nearest === undefined
      ? ""
      : ` ${grouped(nearest.misses)} more bad blocks until ${nearest.boundary === "full" ? "full pay is lost" : "all pay is lost"}.`;
  const { good, bad, unknown } = current.counts;
  return html`<p>${current.month}: ${grouped(good)} good, ${grouped(bad)} bad, ${grouped(unknown)} unknown blocks.${left}</p>`;
}

/** What the details of a validator need besides its status and plots. */
type DetailsContext = Pick<WatchdogPageInput, "runbooks" | "escalation" | "ledgerOf" | "history" | "nowMs">;

function validatorDetails(
  status: WatchdogStatus,
  plots: Html,
  { nowMs, runbooks, escalation, ledgerOf, history }: DetailsContext,
): Html {
  const { assessment, validator } = status;
  const ledger = ledgerOf(validator);
  const costOf = (alert: AlertState): Cost | undefined => {
    if (assessment === undefined || ledger === undefined) return undefined;
    return alertCost(incidentSourceOf(status, ledger, history), assessment, alert, nowMs);
  };
  return html`${payFacts(status)}
${conditionSection(status.alerts, { nowMs, runbooks, costOf, escalation, isPolled: status.polledAtMs !== undefined })}
${headroomSection(status)}
${chainSections(status, nowMs)}
${standingSection(status)}
${plots}
${sourceSection(status)}
${monthSection(status.months)}`;
}
