import { formatDuration } from "../../platform/base/text.ts";
import { type Html, html } from "../../platform/web/html.ts";
import { timeText } from "../../platform/web/page-shell.ts";
import { badge, type Column, dataTable } from "../../platform/web/parts.ts";
import { activeWindow, type MaintenanceWindow } from "../silences/maintenance.ts";
import type { Silence } from "../silences/silence.ts";
import type { SourceStatus, WatchdogStatus } from "../status.ts";

/** What the last poll could read, and how old it is. */
export function sourceSection(
  { sources, pairs, prices, polledAtMs, pending, storeProblem }: WatchdogStatus,
  nowMs: number,
): Html {
  if (polledAtMs === undefined) return html`<h3>Sources</h3><p>The first poll has not ended yet.</p>`;
  const columns: readonly Column<SourceStatus>[] = [
    { name: "source", cell: ({ name, node }) => (node === undefined ? name : `${node}: ${name}`) },
    { name: "state", cell: sourceBadge },
    {
      name: "last success",
      isNumber: true,
      cell: ({ lastSuccessMs }) =>
        lastSuccessMs === undefined ? "never" : `${formatDuration(nowMs - lastSuccessMs)} ago`,
    },
    { name: "duration", isNumber: true, cell: ({ durationMs }) => `${Math.round(durationMs)} ms` },
    { name: "error", cell: ({ error }) => (error === "" ? "none" : error) },
  ];
  const waiting = [...pending]
    .filter(([, count]) => count > 0)
    .map(([channel, count]) => `${channel}: ${count}`);
  return html`<h3>Sources</h3>
<p>Last poll ${timeText(polledAtMs)}, ${formatDuration(nowMs - polledAtMs)} ago. Prices: ${prices}${pairs.length > 0 && ` (${pairs.length} pairs: ${pairs.join(", ")})`}. Pending notifications: ${waiting.length === 0 ? "none" : waiting.join(", ")}.</p>
${storeProblem !== undefined && html`<p>${badge("bad", "not stored")} ${storeProblem}</p>`}
${dataTable({ caption: "At the last poll", columns, rows: sources })}`;
}

function sourceBadge({ name, up }: SourceStatus): Html {
  if (up) return badge("good", "up");
  // Current programs serve no such page.
  return name === "oracle-metrics" ? badge("unknown", "not served") : badge("bad", "down");
}

/** Silences and planned maintenance: why somebody may not be notified. */
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
      ? html`<p>No silence. Every alert notifies.</p>`
      : dataTable({ caption: "Alerts that do not notify; blocks are still counted", columns, rows: open })
  }${windows.map(({ validator, reason }) => html`<p>${badge("warn", "maintenance")} of ${validator}: ${reason}</p>`)}`;
}
