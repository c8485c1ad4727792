import { connect } from "node:net";
import { Agent, request } from "undici";
import { abortReason, onAbort, withDeadline } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Sample } from "../prometheus/line-parser.ts";
import { createPrometheusTextParser } from "../prometheus/text-parser.ts";
import { type Reached, type Seen, SourceError, toSourceFailure } from "./observation.ts";

/** An HTTP response with an unread body. */
export interface Page {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array>;
  /** Clock of the server, from its `Date` header, to the second. */
  readonly clockMs?: number;
}

/** Requests a page. Rejects when there is no response. The signal also ends the reading of the body. `sent`: headers of the request. */
export type PageReader = (
  url: string,
  signal: AbortSignal,
  sent?: Readonly<Record<string, string>>,
) => Promise<Page>;

/** A {@link PageReader} over HTTP. */
export interface HttpPageReader {
  readonly read: PageReader;
  /** Closes all connections, also those in use. */
  readonly close: () => Promise<void>;
}

/** Creates a reader that reuses connections. It returns a redirect as a response and does not follow it. */
export function createHttpPageReader(): HttpPageReader {
  const dispatcher = new Agent({
    // Connections per origin. Two sources can have the same host and port.
    connections: 2,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    maxHeaderSize: 16_384,
  });
  const read: PageReader = async (url, signal, sent = {}) => {
    const { statusCode, body, headers } = await request(url, { dispatcher, signal, headers: { ...sent } });
    const clockMs = Date.parse(String(headers["date"]));
    return { status: statusCode, body, ...(Number.isNaN(clockMs) ? {} : { clockMs }) };
  };
  return { read, close: () => dispatcher.destroy() };
}

/** Calls `onChunk` with each chunk of the body. Throws {@link SourceError} when the body exceeds `maxBytes`. */
export async function forEachChunk(
  page: Page,
  maxBytes: number,
  onChunk: (chunk: Uint8Array) => void,
): Promise<void> {
  let length = 0;
  for await (const chunk of page.body) {
    length += chunk.length;
    if (length > maxBytes)
      throw new SourceError({ code: "too-large" }, `the page is larger than ${maxBytes} bytes`);
    onChunk(chunk);
  }
}

/** Returns the page when its status is 200. Throws {@link SourceError} for any other status. */
export async function requireOk(page: Page): Promise<Page> {
  if (page.status === 200) return page;
  await drain(page);
  throw new SourceError({ code: "http-status" }, `the source answered HTTP ${page.status}`);
}

/** Reads and drops a body of at most 1 MiB. A connection can be used again only when its response was read to the end. */
export async function drain(page: Page): Promise<void> {
  await forEachChunk(page, 1024 * 1024, () => {});
}

/** The wanted samples of one page. */
interface MetricsPage {
  readonly samples: readonly Sample[];
  /** Clock of the server, from its `Date` header. */
  readonly clockMs?: number;
}

/** Where a page is, and which of its samples are wanted. */
interface MetricsPageOptions {
  readonly url: string;
  readonly maxBytes: number;
  readonly wants: (sample: Sample) => boolean;
}

/**
 * Reads the wanted samples of a metrics page. Throws `PrometheusTextError` and `SourceError`, also for a series that the
 * page has twice: its values would be added.
 */
export async function readMetricsPage(
  { url, maxBytes, wants }: MetricsPageOptions,
  read: PageReader,
  signal: AbortSignal,
): Promise<MetricsPage> {
  const page = await requireOk(await read(url, signal));
  const samples = new Map<string, Sample>();
  // A node's page can have 5 MB, and the watchdog needs a few lines of it. The parser gets each chunk as it arrives, and
  // only wanted samples stay in memory.
  const parser = createPrometheusTextParser({
    sample: (sample) => {
      if (!wants(sample)) return;
      const series = seriesOf(sample);
      if (samples.has(series))
        throw new SourceError({ code: "not-metrics" }, `the page has the duplicate series ${clip(series)}`);
      samples.set(series, ownSample(sample));
    },
  });
  await forEachChunk(page, maxBytes, parser.push);
  parser.end();
  return { samples: [...samples.values()], ...(page.clockMs === undefined ? {} : { clockMs: page.clockMs }) };
}

/**
 * Copies the texts of a sample. The engine keeps a part of a text as a reference into the whole page, so a label of a few
 * characters that stays in the state would keep 100 kB.
 */
function ownSample({ labels, ...rest }: Sample): Sample {
  return {
    ...rest,
    name: ownText(rest.name),
    labels: new Map([...labels].map(([label, value]) => [ownText(label), ownText(value)])),
  };
}

function ownText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

/** Identifies a series: its name and its labels in any order. */
function seriesOf({ name, labels }: Sample): string {
  const pairs = [...labels].map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? name : `${name}{${pairs.toSorted().join(",")}}`;
}

function clip(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

/** A source that the configuration does not name. */
export const NOT_CONFIGURED: { readonly state: "not-configured" } = { state: "not-configured" };

/** Reads one source. A failure is a value; only an abort rejects. */
export type Scrape = <T>(
  what: string,
  signal: AbortSignal,
  read: (signal: AbortSignal) => Promise<T>,
) => Promise<Seen<T>>;

/** Creates a {@link Scrape} with a deadline for each call. */
export function createScrape(deadlineMs: number, clock: Clock): Scrape {
  return async (what, signal, read) => {
    const startMs = clock.monotonicMs();
    try {
      const value = await withDeadline(what, deadlineMs, signal, read);
      return { state: "up", value, durationMs: clock.monotonicMs() - startMs };
    } catch (error) {
      if (signal.aborted) throw error;
      return { state: "error", failure: toSourceFailure(error), durationMs: clock.monotonicMs() - startMs };
    }
  };
}

/** Opens and closes a TCP connection to "host:port". Rejects when it is not accepted. */
export type Reach = (target: string, signal: AbortSignal) => Promise<Reached>;

/** Reaches targets over TCP. A proxy between this machine and the target is not used. */
export const reachTcp: Reach = (target, signal) =>
  new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(abortReason(signal));
      return;
    }
    const colon = target.lastIndexOf(":");
    const host = target.slice(0, colon).replaceAll(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(target.slice(colon + 1)) });
    const unwatch = onAbort(signal, (reason) => socket.destroy(reason));
    const end = (): void => {
      unwatch();
      socket.destroy();
    };
    socket.once("connect", () => {
      end();
      resolve({ target });
    });
    socket.once("error", (error) => {
      end();
      reject(error);
    });
  });
