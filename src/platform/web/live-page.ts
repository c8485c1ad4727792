import type { Clock } from "../base/clock.ts";
import { errorReply, type HttpReply, type HttpStream, withHeaders } from "../http/http-route.ts";
import { type ApiRoute, errorOf, getText, type RouteDefinition, serveRoute } from "../http/route-about.ts";
import { ageSeconds, type PageContent, type PageFrame, pageReply } from "./page-shell.ts";
import { isoTime } from "../base/time.ts";

export interface PageView {
  /** Values of the `:name` segments in the page's path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

export interface LivePlace {
  /** The route's path, for example "/", "/costs" or "/queries/:id". */
  readonly path: string;
  /** Description of what the page shows, in Markdown without a trailing period. */
  readonly about: string;
  /** Name in the navigation. A page without a name is reachable only through links on other pages. */
  readonly name?: string;
}

export interface LivePage extends LivePlace {
  /** Returns the page's current content. Requests for the same view share a result, because rendering is expensive. */
  readonly content: (view: PageView) => PageContent | Promise<PageContent>;
}

export interface LivePageOptions {
  readonly frame: PageFrame;
  readonly pages: readonly LivePage[];
}

/** Interval between updates of an open page. An update without changes serves as a heartbeat. */
const EVERY_MS = 2_000;
/** Maximum age of rendered content that open pages with the same view may share. */
const SHARED_MS = 1_000;
/** Maximum number of open pages with live updates. Each takes up a connection, and each distinct view is rendered separately. */
const MAX_SUBSCRIBERS = 32;

export function pageDefinition({ path, about }: LivePlace): RouteDefinition {
  return getText(path, `page: ${about}`, {}, "text/html");
}

function streamDefinition({ path, about }: LivePlace): RouteDefinition {
  return getText(
    `/live${path === "/" ? "" : path}`,
    `page updates as server-sent events: ${about}`,
    { replies: { 503: errorOf(`${MAX_SUBSCRIBERS} pages are open`) } },
    "text/event-stream",
  );
}

/**
 * Creates two routes per page. `GET PATH` serves the page, which is complete without a script, and `GET /livePATH` streams the
 * page's changes as server-sent events.
 */
export function livePageRoutes({ frame, pages }: LivePageOptions, clock: Clock): readonly ApiRoute[] {
  let subscribers = 0;
  const nav = pages.flatMap(({ path, name }) => (name === undefined ? [] : [{ path, name }]));
  const streamOf = (content: () => Promise<PageContent>): HttpStream => ({
    run: async (write, signal) => {
      subscribers += 1;
      try {
        await write("retry: 2000\n\n");
        const sent = new Map<string, string>();
        for (;;) {
          await write(updateEvent(await content(), sent, clock.nowMs()));
          await clock.sleep(EVERY_MS, signal);
        }
      } finally {
        subscribers -= 1;
      }
    },
  });
  return pages.flatMap((page) => {
    const contentOf = shareContent(page.content, clock);
    return [
      serveRoute(pageDefinition(page), async (request) =>
        pageReply({ ...frame, nav, path: request.path }, await contentOf(request), {
          nowMs: clock.nowMs(),
          everyMs: EVERY_MS,
        }),
      ),
      serveRoute(streamDefinition(page), (request) =>
        subscribers < MAX_SUBSCRIBERS ? streamReply(streamOf(() => contentOf(request))) : tooMany(),
      ),
    ];
  });
}

function streamReply(stream: HttpStream): HttpReply {
  const headers = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    // Keep proxies such as nginx from buffering events.
    "x-accel-buffering": "no",
  };
  return { status: 200, headers, body: "", stream };
}

function tooMany(): HttpReply {
  const text = `${MAX_SUBSCRIBERS} pages are open; close one, or load the page without live updates`;
  return withHeaders(errorReply(503, "too-many-pages", text), { "retry-after": "10" });
}

/** Returns an event with the sections that have changed since they were last sent. */
function updateEvent(
  { title, asOfMs, sections }: PageContent,
  sent: Map<string, string>,
  nowMs: number,
): string {
  const changed = sections.filter(({ id, content }) => sent.get(id) !== content.text);
  for (const { id, content } of changed) sent.set(id, content.text);
  const data = {
    title,
    as_of: isoTime(asOfMs),
    age_seconds: ageSeconds(asOfMs, nowMs),
    sections: Object.fromEntries(changed.map(({ id, content }) => [id, content.text])),
  };
  return `event: update\ndata: ${JSON.stringify(data)}\n\n`;
}

function shareContent(
  content: LivePage["content"],
  clock: Pick<Clock, "monotonicMs">,
): (view: PageView) => Promise<PageContent> {
  const shared = new Map<string, { readonly atMs: number; readonly content: Promise<PageContent> }>();
  return (view) => {
    const nowMs = clock.monotonicMs();
    const key = JSON.stringify([view.params, view.query.toString()]);
    for (const [old, { atMs }] of shared) if (nowMs - atMs >= SHARED_MS) shared.delete(old);
    const found = shared.get(key);
    if (found !== undefined) return found.content;
    const fresh = { atMs: nowMs, content: Promise.resolve(content(view)) };
    if (shared.size < MAX_SUBSCRIBERS) shared.set(key, fresh);
    return fresh.content;
  };
}
