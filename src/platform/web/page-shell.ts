import { createHash } from "node:crypto";
import { formatTime } from "../base/text.ts";
import { isoTime } from "../base/time.ts";
import type { HttpReply } from "../http/http-route.ts";
import { type Html, html, rawElement } from "./html.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import { PAGE_STYLE } from "./page-style.ts";

/** A section of a page. Each update replaces a section as a whole. */
export interface PageSection {
  /** Id of the section's element, which stays the same in every update. */
  readonly id: string;
  /** Name of the section that screen readers announce. */
  readonly label: string;
  readonly content: Html;
}

export interface PageContent {
  /** Title of the browser tab, which starts with the current problem, if any. */
  readonly title: string;
  /** HTTP status: 404 if the page's subject does not exist, otherwise 200. */
  readonly status?: 404;
  /** Wall-clock time at which the data was read, in ms. */
  readonly asOfMs: number;
  /** Path of a route that returns the page's data as JSON. */
  readonly json?: string;
  /** Navigation for this page; by default, the program's navigation. */
  readonly nav?: PagePlace["nav"];
  /** The page's sections, from top to bottom. */
  readonly sections: readonly PageSection[];
}

/** The content of a page that does not change while the page is open. */
export interface PageFrame {
  /** Heading of every page, for example "Interchain-query relayer". */
  readonly heading: string;
  readonly version: string;
  /** Wall-clock time at which the program started, in ms. */
  readonly startedAtMs: number;
  readonly links: readonly { readonly path: string; readonly text: string }[];
  /** Explanation of where users find the token for actions; by default, in the configuration. */
  readonly token?: Html;
}

interface PagePlace extends PageFrame {
  /** The pages in the navigation; empty for a program with a single page. */
  readonly nav: readonly { readonly path: string; readonly name: string }[];
  readonly path: string;
}

interface PageTimes {
  /** Current wall-clock time, in ms. */
  readonly nowMs: number;
  /** Time between page updates, in ms. */
  readonly everyMs: number;
}

/** Seconds after which a page reloads itself if scripts are disabled. */
const RELOAD_SECONDS = 10;

const POLICY = contentPolicy(PAGE_STYLE, PAGE_SCRIPT, ["connect-src 'self'", "form-action 'self'"]);

/** Returns a content security policy that allows only the given style and script, and what the directives in `more` add. */
export function contentPolicy(style: string, script: string, more: readonly string[]): string {
  return [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(script)}'`,
    ...more,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

export function pageReply(place: PagePlace, content: PageContent, times: PageTimes): HttpReply {
  return {
    status: content.status ?? 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": POLICY,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    },
    body: `<!doctype html>\n${document(place, content, times).text}\n`,
  };
}

function document(
  { heading, version, startedAtMs, links, token = CONFIGURED_TOKEN, path: here, ...place }: PagePlace,
  { title, asOfMs, sections, json, nav = place.nav }: PageContent,
  { nowMs, everyMs }: PageTimes,
): Html {
  const age = ageSeconds(asOfMs, nowMs);
  return html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<noscript><meta http-equiv="refresh" content="${RELOAD_SECONDS}"></noscript>
<title>${title}</title>
${rawElement("style", PAGE_STYLE)}
</head>
<body data-every="${everyMs}" data-as-of="${isoTime(asOfMs)}" data-age="${age}">
<a class="skip" href="#main">Skip to content</a>
<header>
<h1>${heading}</h1>
<p id="stream"><span id="stream-state" role="status"><span class="no-js">Reloads every ${RELOAD_SECONDS} s.</span></span>
<span id="stream-time">As of ${timeText(asOfMs)}, ${age} s ago</span></p>
${
  nav.length > 1 &&
  html`<nav aria-label="Pages">${nav.map(
    ({ path, name }) => html`<a href="${path}"${path === here && html` aria-current="page"`}>${name}</a> `,
  )}</nav>
`
}</header>
<main id="main" tabindex="-1">
<p id="result" class="js" role="status"></p>
${sections.map(
  ({
    id,
    label,
    content,
  }) => html`<section id="${id}" aria-label="${label}" tabindex="-1">${content}</section>
`,
)}</main>
<footer>
<p>${json !== undefined && html`<a href="${json}">This page as JSON</a> · `}${links.map(({ path, text }) => html`<a href="${path}">${text}</a> · `)}Relaywatch ${version}, running since ${timeText(startedAtMs)}</p>
</footer>
${tokenDialog(token)}
${rawElement("script", PAGE_SCRIPT)}
</body>
</html>`;
}

const CONFIGURED_TOKEN = html`It is the value of <code>http.token</code> in the configuration.`;

const tokenDialog = (
  where: Html,
): Html => html`<dialog id="token" aria-labelledby="token-title"><form method="dialog">
<h2 id="token-title">This needs the token</h2>
<p>${where} This page keeps it until it is closed or reloaded, and stores it nowhere.</p>
<p><label for="token-value">Token</label><input id="token-value" type="password" autocomplete="off" required></p>
<p><button value="send">Send</button> <button value="cancel" formnovalidate>Cancel</button></p>
</form></dialog>`;

/** Returns a time's age in whole seconds, or 0 for a time in the future. */
export function ageSeconds(atMs: number, nowMs: number): number {
  return Math.max(0, Math.round((nowMs - atMs) / 1_000));
}

/** Formats an absolute time in UTC, as in "2026-11-21 12:00:05 UTC". */
export function timeText(ms: number): Html {
  const text = isoTime(ms);
  return html`<time datetime="${text}">${formatTime(ms)} UTC</time>`;
}
