import { request } from "undici";
import { z } from "zod";
import type { Clock } from "../base/clock.ts";
import { errorText } from "../base/errors.ts";
import { JsonField } from "../base/json.ts";
import { readTextBody } from "../base/read-text.ts";
import { cutText, formatRoundedDuration } from "../base/text.ts";
import { isoTime } from "../base/time.ts";
import { jsonReply } from "../http/http-route.ts";
import { type ApiRoute, getJson, serveRoute, time } from "../http/route-about.ts";
import { type Html, html } from "./html.ts";
import type { LivePage } from "./live-page.ts";
import { badge, dataTable, type Tone, TONE_SIGNS } from "./parts.ts";
import { sparkline, type Trend, TREND_STYLES, type TrendBar } from "./plots.ts";

/** An overview row for one part of an installation, such as a daemon, a validator or a chain. */
export interface PartRow {
  readonly name: string;
  readonly tone: Tone;
  readonly verdict: string;
  /** The part's most important figure, with its unit. */
  readonly number: string;
  /** Wall-clock time of the row's data, in ms; undefined if the data has never been read. */
  readonly asOfMs: number | undefined;
  /** Link target: a path on the part's own server, or a URL. */
  readonly href: string;
  /** Recent history for a sparkline; undefined if there is no history. */
  readonly trend: Trend | undefined;
}

/** Returns the first part with the worst tone, or undefined if there are no parts. */
export function worstOf(parts: readonly PartRow[]): PartRow | undefined {
  return parts.toSorted((a, b) => SEVERITY.indexOf(a.tone) - SEVERITY.indexOf(b.tone))[0];
}

const SEVERITY: readonly Tone[] = ["bad", "warn", "unknown", "good"];

export function partTable(parts: readonly PartRow[], nowMs: number): Html {
  return dataTable({
    caption: "Parts",
    isCaptionHidden: true,
    rows: parts,
    columns: [
      { name: "part", cell: ({ name, href }) => (href === "" ? name : html`<a href="${href}">${name}</a>`) },
      { name: "verdict", cell: ({ tone, verdict }) => badge(tone, verdict) },
      { name: "number", cell: ({ number }) => number },
      { name: "trend", isMinor: true, cell: ({ trend }) => trend && sparkline(trend) },
      {
        name: "read",
        isNumber: true,
        isMinor: true,
        cell: ({ asOfMs }) =>
          asOfMs === undefined
            ? "–"
            : nowMs - asOfMs < 1_000
              ? "now"
              : `${formatRoundedDuration(nowMs - asOfMs)} ago`,
      },
    ],
  });
}

const API_PATH = "api/overview";

export const OVERVIEW_ROUTE = getJson(
  `/${API_PATH}`,
  "state, key figure and recent history of the parts that this server runs, for overviews",
  z.strictObject({
    parts: z.array(
      z.strictObject({
        name: z.string(),
        tone: z.enum(["good", "warn", "bad", "unknown"]),
        verdict: z.string(),
        number: z.string(),
        as_of: time.nullable(),
        href: z.string(),
        trend: z
          .strictObject({
            text: z.string(),
            bars: z.array(z.tuple([z.enum(TREND_STYLES), z.number()]).nullable()),
          })
          .nullable(),
      }),
    ),
  }),
);

/** Creates `GET /api/overview`, with which other servers of the installation read this server's parts. */
export function overviewRoute(parts: () => readonly PartRow[] | Promise<readonly PartRow[]>): ApiRoute {
  return serveRoute(OVERVIEW_ROUTE, async () =>
    jsonReply(200, {
      parts: (await parts()).map(({ asOfMs, trend, ...part }) => ({
        ...part,
        as_of: asOfMs === undefined ? null : isoTime(asOfMs),
        trend: trend ?? null,
      })),
    }),
  );
}

export interface Neighbour {
  readonly name: string;
  /** The server's URL, with a trailing slash. */
  readonly url: string;
}

const DEADLINE_MS = 3_000;
const MAX_REPLY_BYTES = 262_144;
const MAX_PARTS = 250;
const MAX_TEXT = 200;
const MAX_BARS = 120;

/** Reads all neighbours' parts. A neighbour that cannot be read in time gets a single row, which states the reason. */
export async function readNeighbours(neighbours: readonly Neighbour[]): Promise<readonly PartRow[]> {
  return (await Promise.all(neighbours.map(readNeighbour))).flat();
}

async function readNeighbour({ name, url }: Neighbour): Promise<readonly PartRow[]> {
  try {
    const response = await request(`${url}${API_PATH}`, { signal: AbortSignal.timeout(DEADLINE_MS) });
    const text = await readTextBody(response.body, MAX_REPLY_BYTES);
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    return parseParts(JSON.parse(text), url);
  } catch (error) {
    const isAbsent = errorText(error).includes("ECONNREFUSED");
    return [
      {
        name,
        tone: "unknown",
        verdict: isAbsent ? "not running" : "cannot see",
        number: isAbsent ? "" : cutText(errorText(error), MAX_TEXT),
        asOfMs: undefined,
        href: url,
        trend: undefined,
      },
    ];
  }
}

/** Parses a reply from {@link overviewRoute}. Throws if the reply does not have the expected format. */
function parseParts(value: unknown, url: string): readonly PartRow[] {
  const root = new JsonField(value, "", (path, expected) => new Error(`${path}: expected ${expected}`));
  return root
    .member("parts")
    .elements()
    .slice(0, MAX_PARTS)
    .map((part) => parsePart(part, url));
}

function parsePart(part: JsonField, url: string): PartRow {
  const text = (name: string): string => cutText(part.member(name).asText(), MAX_TEXT);
  const [tone, asOf, trend, href] = [text("tone"), part.member("as_of"), part.member("trend"), text("href")];
  const asOfMs = asOf.value === null ? Number.NaN : Date.parse(asOf.asText());
  return {
    name: text("name"),
    tone: isTone(tone) ? tone : "unknown",
    verdict: text("verdict"),
    number: text("number"),
    asOfMs: Number.isNaN(asOfMs) ? undefined : asOfMs,
    // Resolve the path against the neighbour's URL, which may have a path of its own.
    href: `${url}${href.replace(/^\/+/, "")}`,
    trend:
      trend.value === null
        ? undefined
        : {
            text: cutText(trend.member("text").asText(), MAX_TEXT),
            bars: trend
              .member("bars")
              .elements()
              .slice(-MAX_BARS)
              .map(({ value }) => parseBar(value)),
          },
  };
}

function isTone(text: string): text is Tone {
  return Object.hasOwn(TONE_SIGNS, text);
}

function parseBar(value: unknown): TrendBar {
  if (!Array.isArray(value)) return null;
  const [given, share]: readonly unknown[] = value;
  const style = TREND_STYLES.find((one) => one === given);
  return style === undefined || typeof share !== "number" ? null : [style, share];
}

export const PARTS_PAGE = {
  path: "/parts",
  name: "All parts",
  about:
    "a table of this server's parts and of the servers in `links`; absent if `links` names no other server",
};

/** Returns the "All parts" page, or an empty list if the daemon has no neighbours. */
export function partsPages(
  own: () => readonly PartRow[],
  neighbours: readonly Neighbour[],
  clock: Pick<Clock, "nowMs">,
): readonly LivePage[] {
  if (neighbours.length === 0) return [];
  return [
    {
      ...PARTS_PAGE,
      content: async () => {
        const parts = [...own(), ...(await readNeighbours(neighbours))];
        const nowMs = clock.nowMs();
        const worst = worstOf(parts);
        return {
          title: `${worst === undefined ? "" : `${worst.name}: ${worst.verdict} – `}all parts`,
          asOfMs: nowMs,
          json: `/${API_PATH}`,
          sections: [
            { id: "parts", label: "All parts", content: html`<h2>All parts</h2>${partTable(parts, nowMs)}` },
          ],
        };
      },
    },
  ];
}
