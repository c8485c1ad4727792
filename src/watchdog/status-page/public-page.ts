import { formatDuration } from "../../platform/base/text.ts";
import { isoTime } from "../../platform/base/time.ts";
import { html, type Html, rawElement } from "../../platform/web/html.ts";
import { contentPolicy, timeText } from "../../platform/web/page-shell.ts";
import { PAGE_STYLE } from "../../platform/web/page-style.ts";
import { badge, type Column, dataTable, statusBanner, type Tone } from "../../platform/web/parts.ts";
import { short } from "../../platform/web/plots.ts";
import { formatPercent } from "../policy/reward-tier.ts";
import { gravest, type PublicComponent, type PublicIncident, unknownPercent } from "./public-status.ts";
import type { PublicState, PublicStatus, PublicValidator } from "./public-status.ts";
import { DAY_STATES, type DayState, type PublicDay, SHOWN_DAYS } from "./public-days.ts";

const STYLE = `${PAGE_STYLE}
svg.days{max-width:none;height:2.5rem;border:0;border-radius:0;background:none}
.row{margin:1rem 0}.row>p{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.25rem 1rem;margin:0 0 .25rem}
.ends{font-size:.85rem}`;

/**
 * The script reloads the page unless the reader is using the page or the server does not respond. Once the data is stale, the
 * script marks the page as old, because an open tab, a cached page or an exported file would otherwise appear current.
 */
const SCRIPT = `"use strict";
(() => {
const { asOf, stale, reload } = document.body.dataset, at = Date.parse(asOf), title = document.title;
const duration = (s) => s < 120 ? s + " s" : s < 7200 ? Math.floor(s / 60) + " min" : s < 172800 ? Math.floor(s / 3600) + " h" : Math.floor(s / 86400) + " days";
const tell = () => {
  const age = Math.max(0, Math.round((Date.now() - at) / 1000)), isOld = !(age <= Number(stale));
  document.documentElement.classList.toggle("stale", isOld);
  document.getElementById("stream-state").textContent = isOld ? "\\u2715 This page is old and says nothing about the present." : "";
  document.getElementById("age").textContent = Number.isNaN(at) ? "" : ", " + duration(age) + " ago";
  document.title = isOld ? "(old) " + title : title;
};
const isUsed = () => document.activeElement !== document.body || String(getSelection()) !== "";
const load = async () => {
  if (isUsed()) return;
  try { if ((await fetch(location.href, { method: "HEAD", cache: "no-store" })).ok) location.reload(); } catch { tell(); }
};
tell();
setInterval(tell, 5000);
if (reload) setInterval(load, reload * 1000);
})();`;

/** The page's content security policy, which only allows the page's own style, script and server. */
export const PUBLIC_PAGE_POLICY: string = contentPolicy(STYLE, SCRIPT, [
  "connect-src 'self'",
  "form-action 'none'",
]);

/** The tone and label for each validator state. */
const STATES: Readonly<Record<PublicState, readonly [Tone, string]>> = {
  outage: ["bad", "outage"],
  unknown: ["unknown", "no current data"],
  degraded: ["warn", "reduced"],
  operational: ["good", "operational"],
};

const NAMES: Readonly<Record<PublicComponent["name"], string>> = {
  prices: "Price requests",
  votes: "Oracle votes in blocks",
};

/**
 * Renders the page as a complete document. Browsers reload the page every `reloadSeconds`. An exported file has no `reloadSeconds`
 * and is never reloaded.
 */
export function publicPage(
  status: PublicStatus,
  { reloadSeconds }: { readonly reloadSeconds: number | undefined },
): string {
  const { title, asOfMs, staleMs, validators } = status;
  const worst = gravest(status);
  const state = worst?.present.state ?? "unknown";
  const headline = headlineOf(status, worst);
  const asOf = asOfMs === undefined ? "" : isoTime(asOfMs);
  const body = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${reloadSeconds !== undefined && html`<noscript><meta http-equiv="refresh" content="${reloadSeconds}"></noscript>`}
${reloadSeconds === undefined && html`<meta http-equiv="Content-Security-Policy" content="${FILE_POLICY}">`}
<title>${headline} – ${title}</title>
${rawElement("style", STYLE)}
</head>
<body data-as-of="${asOf}" data-stale="${Math.round(staleMs / 1000)}"${reloadSeconds !== undefined && html` data-reload="${reloadSeconds}"`}>
<a class="skip" href="#main">Skip to the content</a>
<header>
<h1>${title}</h1>
<p id="stream"><span id="stream-state" role="status"></span>
<span id="stream-time">${asOfMs === undefined ? "No data yet" : html`As of ${timeText(asOfMs)}<span id="age"></span>`}</span></p>
</header>
<main id="main" tabindex="-1">
${statusBanner(STATES[state][0], headline, html`<p>Each bar is a day in UTC. ${KEY}</p>`)}
${validators.map(validatorSection)}</main>
<footer><p><a href="status.json">This page as JSON</a></p></footer>
${rawElement("script", SCRIPT)}
</body>
</html>`;
  return `<!doctype html>\n${body.text}\n`;
}

/** The content security policy for exported files. `frame-ancestors` is omitted, because a `meta` element cannot forbid framing. */
const FILE_POLICY = PUBLIC_PAGE_POLICY.replace("; frame-ancestors 'none'", "");

const KEY = html`<span class="entry"><span class="key k-good"></span>tall: success</span> <span class="entry"><span class="key k-weak"></span>middle: reduced</span> <span class="entry"><span class="key k-bad"></span>short: outage</span> <span class="entry"><span class="key k-none"></span>outline: not known</span>`;

function headlineOf({ validators }: PublicStatus, worst: PublicValidator | undefined): string {
  if (worst === undefined) return "No current data";
  if (validators.length === 1) return worst.present.text;
  const { state, text } = worst.present;
  if (state === "operational") return `All ${validators.length} validators are operational`;
  const same = validators.filter(({ present }) => present.state === state).length;
  return same === 1
    ? `${worst.title}: ${lowerFirst(text)}`
    : `${same} of ${validators.length}: ${STATES[state][1]}`;
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

function validatorSection(one: PublicValidator): Html {
  const { title, chainId, present, seenAtMs, components, incidents, pay } = one;
  return html`<section><h2>${title}${chainId !== undefined && html` <small class="muted">${chainId}</small>`}</h2>
<p>${badge(...STATES[present.state])} ${present.state !== "operational" && `${present.text}. `}<span class="muted">${
    seenAtMs === undefined ? "Not seen yet." : html`Last seen ${timeText(seenAtMs)}.`
  }</span></p>
${pay !== undefined && html`<p>Pay of ${pay.month} if it ended now: ${pay.soFar} of ${pay.of}.</p>`}
${components.map((component) => componentRow(component, title))}
${incidentTable(incidents, title)}</section>
`;
}

function componentRow({ name, days, uptime }: PublicComponent, title: string): Html {
  const rate =
    uptime.rate === undefined
      ? "Not known yet"
      : `Uptime ${formatPercent(uptime.rate)} % of the known blocks`;
  return html`<div class="row"><p><strong>${NAMES[name]}</strong><span>${rate}, ${uptime.knownDays} of ${SHOWN_DAYS} days known</span></p>
${dayBars(days, `${title}, ${NAMES[name]}, last ${SHOWN_DAYS} days: ${daysInWords(days)}`)}
<p class="ends muted"><span>${SHOWN_DAYS - 1} days ago</span><span>today</span></p></div>
`;
}

const CELL = 8;
const HEIGHT = 40;
/** The height of a day's bar for each state. States differ in height and not only in colour, for readers who cannot distinguish colours. */
const HEIGHTS: Readonly<Record<Exclude<DayState, "unknown">, number>> = { good: 40, weak: 27, bad: 14 };
/** Minimum unknown fraction of a day that is drawn. */
const LEAST_SHARE = 0.005;

/** Draws the history with one bar per day. The unknown part of a day is an outline above the day's bar. */
function dayBars(days: readonly PublicDay[], summary: string): Html {
  const bars = (state: DayState): Html | string => {
    const own = days.flatMap((day, index) => (day.state === state ? [bar(day, index)] : []));
    return own.length === 0
      ? ""
      : html`<g class="${state === "unknown" ? "b-hollow" : `b-${state}`}">${own}</g>`;
  };
  const partly = days.flatMap(({ state, unknownShare }, index) =>
    state !== "unknown" && unknownShare > LEAST_SHARE ? [outline(index)] : [],
  );
  return html`<svg class="days" viewBox="0 0 ${days.length * CELL} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${summary}">${
    partly.length > 0 && html`<path class="b-hollow" d="${partly.join("")}"/>`
  }${DAY_STATES.map(bars)}</svg>`;
}

function bar(day: PublicDay, index: number): Html {
  const { state, unknownShare } = day;
  const title = html`<title>${dayInWords(day)}</title>`;
  if (state === "unknown") return html`<path d="${outline(index)}">${title}</path>`;
  const height = HEIGHTS[state] * (unknownShare > LEAST_SHARE ? 1 - unknownShare : 1);
  return html`<path d="M${index * CELL + 1} ${HEIGHT}v${short(-height)}h${CELL - 2}v${short(height)}z">${title}</path>`;
}

function outline(index: number): string {
  return `M${index * CELL + 1.5} .5h${CELL - 3}v${HEIGHT - 1}h-${CELL - 3}z`;
}

function dayInWords({ dayMs, rate, unknownShare }: PublicDay): string {
  const day = isoTime(dayMs).slice(0, 10);
  if (rate === undefined) return `${day}: not known`;
  const unknown = unknownShare > 0 ? `, ${unknownPercent(unknownShare)} % not known` : "";
  return `${day}: ${formatPercent(rate)} %${unknown}`;
}

/** Maximum number of days that the summary lists by date. */
const NAMED = 20;

/** Describes the bars in words. The text states how many days had each state, and lists the days that were not good. */
function daysInWords(days: readonly PublicDay[]): string {
  const of = (state: DayState): readonly PublicDay[] => days.filter((day) => day.state === state);
  const worse = [...of("bad"), ...of("weak")];
  const named = worse.slice(0, NAMED).map(dayInWords).join("; ");
  const more = worse.length > NAMED ? `; and ${worse.length - NAMED} more` : "";
  const partly = days.filter(({ state, unknownShare }) => state !== "unknown" && unknownShare > LEAST_SHARE);
  return `${of("good").length} good, ${of("weak").length} reduced, ${of("bad").length} with an outage, ${of("unknown").length} not known${
    partly.length > 0 ? `, ${partly.length} known in part` : ""
  }${named === "" ? "" : `. ${named}${more}`}`;
}

function incidentTable(incidents: readonly PublicIncident[], title: string): Html {
  if (incidents.length === 0) return html`<p class="muted">No incident is known.</p>`;
  const hasCost = incidents.some(({ cost }) => cost !== undefined);
  const columns: readonly Column<PublicIncident>[] = [
    { name: "begin", cell: ({ fromMs }) => timeText(fromMs) },
    { name: "end", cell: ({ toMs }) => (toMs === undefined ? badge("bad", "goes on") : timeText(toMs)) },
    {
      name: "length",
      isNumber: true,
      cell: ({ fromMs, toMs }) => (toMs === undefined ? "–" : formatDuration(toMs - fromMs)),
    },
    { name: "cause", cell: ({ cause }) => cause },
    ...(hasCost ? [{ name: "cost", cell: ({ cost = "–" }: PublicIncident) => cost }] : []),
  ];
  return dataTable({ caption: `Incidents of ${title}, newest first`, columns, rows: incidents });
}
