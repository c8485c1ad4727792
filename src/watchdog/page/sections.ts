import { counted, formatDuration } from "../../platform/base/text.ts";
import { runbookPath } from "../../platform/monitoring/alerts/runbook-route.ts";
import { type Html, html } from "../../platform/web/html.ts";
import { timeText } from "../../platform/web/page-shell.ts";
import { badge, type Column, dataTable } from "../../platform/web/parts.ts";
import type { AlertState } from "../alerts/alert-state.ts";
import { type Escalation, nextEscalationMs } from "../alerts/notifications.ts";
import type { AlertStatus } from "../alerts/alert-status.ts";
import { type CauseGroup, mutedBy, mutedUntilText, underCauses } from "../alerts/under-causes.ts";
import { runbookFile } from "../conditions/condition.ts";
import { conditionId } from "../alerts/event-links.ts";
import { type Cost, costText } from "../policy/cost-text.ts";
import type { SourceStatus, WatchdogStatus } from "../polling/watchdog-status.ts";
import type { SourceName } from "../sources/targets.ts";
import { activeWindow, type MaintenanceWindow } from "../alerts/maintenance.ts";
import type { Silence } from "../alerts/silence.ts";
import type { LostDelivery } from "../alerts/outbox.ts";
import type { ChannelState } from "../notify/notifier.ts";

/** Lists the sources of the last poll, with their ages at the time of the poll. */
export function sourceSection({ sources, pairs, prices, polledAtMs, chainId }: WatchdogStatus): Html {
  if (polledAtMs === undefined) return html`<h2>Sources</h2><p>The first poll has not ended yet.</p>`;
  const columns: readonly Column<SourceStatus>[] = [
    { name: "source", cell: ({ name, node }) => (node === undefined ? name : `${node}: ${name}`) },
    { name: "state", cell: (source) => html`${sourceBadge(source)}${endpointText(source)}` },
    {
      name: "last success",
      isNumber: true,
      cell: ({ lastSuccessMs }) =>
        lastSuccessMs === undefined
          ? "never"
          : lastSuccessMs === polledAtMs
            ? "this poll"
            : `${formatDuration(polledAtMs - lastSuccessMs)} before`,
    },
    { name: "duration", isNumber: true, cell: ({ durationMs }) => `${Math.round(durationMs)} ms` },
    { name: "error", cell: ({ error }) => (error === "" ? "none" : error) },
  ];
  const absent = sources.flatMap(({ name, isAbsent }) => (isAbsent ? [ABSENT_NAMES[name] ?? name] : []));
  return html`<h2>Sources</h2>
<p>Chain: ${chainId ?? "not known yet"}. Prices: ${prices}${pairs.length > 0 && ` (${pairs.length} pairs: ${pairs.join(", ")})`}.</p>
${absent.length > 0 && html`<p>The chain has no ${absent.join(" and no ")}: what needs it is not shown.</p>`}
${dataTable({ caption: "At the last poll", columns, rows: sources.filter(({ isAbsent }) => !isAbsent) })}`;
}

/** The names of the modules that a chain may lack. */
const ABSENT_NAMES: Readonly<Partial<Record<SourceName, string>>> = {
  "chain-prices": "price module",
  "chain-revenue": "revenue module",
  "chain-upgrade": "upgrade module",
  "chain-slashing": "slashing module",
};

/** Describes which of a source's URLs is in use and which URLs have failed. */
function endpointText({ endpoints = [] }: SourceStatus): Html | string {
  const used = endpoints.findIndex(({ isUsed }) => isUsed);
  if (used === -1) return "";
  const failed = endpoints.filter(({ isUp }) => !isUp).map(({ host }) => host);
  return html`<small>by ${endpoints[used]?.host ?? ""}, ${used + 1} of ${endpoints.length}${failed.length > 0 && `; failed: ${failed.join(", ")}`}</small>`;
}

function sourceBadge({ name, up }: SourceStatus): Html {
  if (up) return badge("good", "up");
  // Current nodes and sidecars do not serve the oracle metrics page.
  return name === "oracle-metrics" ? badge("unknown", "not served") : badge("bad", "down");
}

/** Renders silences and planned maintenance, which suppress notifications. */
export function silenceSection(
  all: readonly Silence[],
  maintenance: readonly MaintenanceWindow[],
  validators: readonly string[],
  nowMs: number,
): Html {
  const open = all.filter(({ endsAtMs }) => endsAtMs > nowMs);
  const windows = validators.flatMap((validator) => {
    const window = activeWindow(maintenance, validator, nowMs);
    return window === undefined ? [] : [{ validator, reason: window.reason }];
  });
  const columns: readonly Column<Silence>[] = [
    { name: "alerts", cell: ({ alerts }) => (alerts.length === 0 ? "all" : alerts.join(", ")) },
    { name: "validators", cell: ({ validators: names }) => (names.length === 0 ? "all" : names.join(", ")) },
    {
      name: "state",
      cell: ({ startsAtMs }) => (startsAtMs <= nowMs ? badge("warn", "silent") : badge("unknown", "planned")),
    },
    {
      name: "ends",
      cell: ({ endsAtMs }) =>
        html`${timeText(endsAtMs)}<small>in ${formatDuration(endsAtMs - nowMs)}</small>`,
    },
    { name: "reason", cell: ({ reason, author }) => html`${reason}<small>by ${author}</small>` },
  ];
  return html`<h2>Silences and maintenance</h2>${
    open.length === 0
      ? html`<p>No silence.</p>`
      : dataTable({ caption: "Alerts that do not notify; blocks are still counted", columns, rows: open })
  }${windows.map(({ validator, reason }) => html`<p>${badge("warn", "maintenance")} of ${validator}: ${reason}</p>`)}`;
}

/** Renders the channels and the notifications that were never delivered. `pending` is the number of pending notifications by channel. */
export function notificationSection(
  channels: readonly ChannelState[],
  lost: readonly LostDelivery[],
  pending: ReadonlyMap<string, number>,
): Html {
  const hasAccepted = channels.some(({ acceptedAtMs }) => acceptedAtMs !== undefined);
  const line =
    channels.length === 0
      ? html`<p>${badge("bad", "nobody is notified")} No channel is configured: alerts appear only on this page and in the log.</p>`
      : hasAccepted
        ? html`<p>Every alert notifies, subject to its severity and the channels below.</p>`
        : html`<p>${badge("warn", "not tested")} No channel has accepted anything since the start. <code>relaywatch alerts test</code> sends a test to each.</p>`;
  const letters = dataTable({
    caption: "Never delivered. relaywatch alerts dead-letters sends them again or drops them",
    columns: [
      { name: "channel", cell: ({ channel }) => channel },
      {
        name: "alert",
        cell: ({ event }) => html`${event.alert}<small>${event.kind}, ${event.validator}</small>`,
      },
      { name: "given up", cell: ({ dead }) => timeText(dead.atMs) },
      { name: "reason", cell: ({ dead }) => dead.reason },
    ],
    rows: lost.toReversed(),
  });
  const states = dataTable({
    caption: "Channels",
    columns: [
      { name: "channel", cell: ({ name, kind }) => html`${name}<small>${kind}</small>` },
      {
        name: "last accepted, since the start",
        cell: ({ acceptedAtMs }) => (acceptedAtMs === undefined ? "nothing yet" : timeText(acceptedAtMs)),
      },
      { name: "pending", isNumber: true, cell: ({ name }) => pending.get(name) ?? 0 },
    ],
    rows: channels,
  });
  return html`<h2>Notifications</h2>${line}${channels.length > 0 && states}${lost.length > 0 && letters}`;
}

export interface AlertContext {
  readonly nowMs: number;
  /** True once the first poll is complete. */
  readonly isPolled: boolean;
  /** URL of the runbook folder, with a trailing slash. If empty, the watchdog's own runbooks are used. */
  readonly runbooks: string;
  /** Returns a firing alert's cost so far, or undefined if the alert is not about missed votes. */
  readonly costOf: (alert: AlertState) => Cost | undefined;
  /** The steps for notifying more people of unacknowledged alerts. If absent, nothing is escalated. */
  readonly escalation?: Escalation | undefined;
}

type OpenAlert = AlertStatus & { readonly state: AlertState };

/** Maximum number of lines that are visible without expanding the list. */
const MAX_LINES = 8;

/** Lists firing, pending and recently resolved alerts. Each line expands to the alert's meaning, cost and action. */
export function alertLines(alerts: readonly AlertStatus[], context: AlertContext): Html {
  const open = alerts.flatMap((alert): readonly OpenAlert[] =>
    alert.state === undefined ? [] : [{ ...alert, state: alert.state }],
  );
  if (open.length === 0)
    return html`<p>${context.isPolled ? `None of the ${alerts.length} conditions held at the last poll.` : "None has been evaluated yet: the first poll has not ended."}</p>`;
  const groups = underCauses(
    open.toSorted((a, b) => rank(a) - rank(b)),
    ({ validator, rule, state }) => ({ validator, name: rule.condition.name, quiet: state.quietReason }),
  );
  const [lines, rest] = [groups.slice(0, MAX_LINES), groups.slice(MAX_LINES)];
  const list = (of: typeof groups): Html =>
    html`<ul class="problems lines">${of.map((group) => item(group, context))}</ul>`;
  return html`${list(lines)}${rest.length > 0 && html`<details id="more-alerts"><summary>${counted(rest.length, "more alert")}</summary>${list(rest)}</details>`}`;
}

const PHASES: readonly AlertState["phase"][] = ["firing", "pending", "resolved"];
const SEVERITY_RANK = { critical: 0, warning: 1, info: 2 } as const;

function rank({ rule, state }: OpenAlert): number {
  const isMuted = mutedBy(state.quietReason) !== undefined;
  return PHASES.indexOf(state.phase) * 10 + (isMuted ? 5 : 0) + SEVERITY_RANK[rule.severity];
}

function item({ alert, consequences }: CauseGroup<OpenAlert>, context: AlertContext): Html {
  const { rule, state, validator } = alert;
  const { condition } = rule;
  const { name, title, description, impact, action } = condition;
  return html`<li id="${conditionId(validator, name)}"><details><summary>${phaseBadge(alert)} <strong>${title}</strong>: ${state.reason}</summary>
<p><small class="muted">Since ${timeText(state.sinceMs)}${costSuffix(state, context)}. ${nextText(alert, context)}${
    state.quietReason !== undefined && html` Not notified: ${state.quietReason}.`
  }${acknowledgedText(alert, context)}</small></p>${
    state.phase !== "resolved" &&
    html`<p>${description} ${impact}</p><p><strong>To do:</strong> ${action} ${runbook(name, context.runbooks)}.</p>`
  }${consequences.length > 0 && html`<p>${consequenceList(consequences, context)}</p>`}</details></li>
`;
}

/** Lists the consequences of an alert in small print. Each consequence has an anchor and a link to its runbook. */
function consequenceList(consequences: readonly OpenAlert[], { runbooks }: AlertContext): Html {
  const parts = consequences.map(({ rule: { condition }, state, validator }, index) => {
    const { name, title } = condition;
    const phase = state.phase === "firing" ? "muted" : state.phase;
    return html`${index > 0 && ", "}<span id="${conditionId(validator, name)}" title="${state.reason}">${runbook(name, runbooks, title)} (${phase})</span>`;
  });
  return html`<small class="muted">Also: ${parts}.</small>`;
}

/** States who has acknowledged a firing alert. If nobody has, states when the alert escalates. */
function acknowledgedText({ rule, state }: OpenAlert, { nowMs, escalation }: AlertContext): Html | string {
  if (state.phase !== "firing") return "";
  const { acknowledged, escalation: taken } = state;
  if (acknowledged !== undefined)
    return html` Acknowledged at ${timeText(acknowledged.atMs)} by ${acknowledged.author}: ${acknowledged.note}.`;
  const escalated = taken && html` Escalated at ${timeText(taken.atMs)}.`;
  const nextMs = nextEscalationMs(state, rule.severity, escalation);
  const next =
    nextMs !== undefined &&
    html` Escalates ${nextMs > nowMs ? html`at ${timeText(nextMs)}, in ${formatDuration(nextMs - nowMs)},` : "at the next poll"} unless it is acknowledged.`;
  return html`${escalated}${next}`;
}

function phaseBadge({ rule: { severity }, state: { phase, heldUntilMs } }: OpenAlert): Html {
  if (heldUntilMs !== undefined) return badge("unknown", mutedUntilText(heldUntilMs));
  if (phase === "resolved") return badge("good", "resolved");
  if (phase === "pending") return badge("warn", `pending, ${severity}`);
  return badge(severity === "critical" ? "bad" : severity === "warning" ? "warn" : "unknown", severity);
}

function costSuffix(state: AlertState, { costOf }: AlertContext): string {
  const cost = state.phase === "firing" ? costOf(state) : undefined;
  return cost === undefined ? "" : `, ${costText(cost)}`;
}

function nextText({ rule, state }: OpenAlert, { nowMs }: AlertContext): Html | string {
  if (state.phase === "resolved")
    return html`Resolved at ${state.resolvedAtMs === undefined ? "–" : timeText(state.resolvedAtMs)}.`;
  if (state.phase === "firing")
    return `Firing; resolved once it has been clear for ${formatDuration(rule.resolveForMs)}.`;
  const atMs = (state.heldUntilMs ?? state.sinceMs) + rule.forMs;
  return html`Fires at ${timeText(atMs)}, in ${formatDuration(atMs - nowMs)}, unless it ends first.`;
}

function runbook(name: string, runbooks: string, text = "Runbook"): Html {
  const url = runbooks === "" ? `/${runbookPath(name)}` : `${runbooks}${runbookFile(name)}`;
  return html`<a href="${url}">${text}</a>`;
}
