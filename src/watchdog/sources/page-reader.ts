import { connect } from "node:net";
import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { request } from "undici";
import { errorText } from "../../platform/base/errors.ts";
import { abortReason, onAbort, withDeadline } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { clip, createPrometheusTextParser, type Sample } from "../prometheus/text-parser.ts";
import {
  CONNECTION_ENDED,
  createRemoteConnections,
  endpointHeaders,
  followRedirect,
  pathBelow,
} from "../../platform/http/remote.ts";
import type { Endpoint, NetworkOptions } from "../../platform/http/remote.ts";
import { type Reached, type Seen, SourceError, toSourceFailure } from "./observation.ts";

/** An HTTP response whose body has not been read yet. */
export interface Page {
  readonly status: number;
  /** The response body as it arrives, already decompressed. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The server's clock, read from the `Date` header with a resolution of one second. */
  readonly clockMs?: number;
  /**
   * The target of a redirect, without credentials and query: the URL that the response points to if `status` is a redirect, and otherwise
   * the URL to which a followed redirect led.
   */
  readonly redirect?: string;
}

/**
 * Requests a page with GET, or with POST if a form is given. `sent` contains request headers. Resolves with any HTTP response,
 * even an error, and rejects if there is no response. The signal also aborts reading the body.
 */
export type PageReader = (
  url: string,
  signal: AbortSignal,
  sent?: Readonly<Record<string, string>>,
  form?: string,
) => Promise<Page>;

/** A {@link PageReader} over HTTP, together with a function that closes its connections. */
export interface HttpPageReader {
  readonly read: PageReader;
  /** Closes all connections, including those in use. */
  readonly close: () => Promise<void>;
}

const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const DENIALS: ReadonlySet<number> = new Set([401, 403, 407]);

/**
 * Creates a reader that reuses connections, requests gzip, and follows GET redirects to the same host. If a server closes a
 * connection before it responds, the request is sent again on a new connection, because servers may close idle connections at any
 * time.
 */
export function createHttpPageReader(network: NetworkOptions = {}): HttpPageReader {
  // Allow two connections per origin, because two sources may share a host and port.
  const settings = { connections: 2, pipelining: 1, keepAliveTimeout: 30_000, maxHeaderSize: 16_384 };
  const kept = createRemoteConnections(settings, network);
  /** Connections without keep-alive, each used for a single request. */
  const fresh = createRemoteConnections({ pipelining: 0, maxHeaderSize: 16_384 }, network);
  const send = (url: URL, options: Parameters<typeof request>[1]): ReturnType<typeof request> =>
    request(url, { ...options, dispatcher: kept.to(url) }).catch((error: unknown) => {
      if (!(error instanceof Error && "code" in error && CONNECTION_ENDED.has(error.code))) throw error;
      return request(url, { ...options, dispatcher: fresh.to(url) });
    });
  const read: PageReader = async (url, signal, sent = {}, form) => {
    const headers = {
      "accept-encoding": "gzip",
      ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
      ...sent,
    };
    const method = form === undefined ? "GET" : "POST";
    let from = new URL(url);
    for (let hops = 0; ; hops++) {
      const response = await send(from, { method, signal, headers, body: form ?? null });
      const { statusCode: status, headers: received, body } = response;
      const to = REDIRECTS.has(status) ? locationOf(received["location"], from) : undefined;
      // Never send headers with credentials to another host, or without TLS if the first request used TLS.
      const isSafe = to !== undefined && typeof followRedirect(from, to.href) !== "string";
      if (isSafe && method === "GET" && hops < MAX_REDIRECTS) {
        await body.dump({ limit: 65_536, signal });
        from = to;
        continue;
      }
      const clockMs = Date.parse(String(received["date"]));
      const redirect = to ?? (hops > 0 ? from : undefined);
      return {
        status,
        body: decompressed(body, String(received["content-encoding"] ?? "")),
        ...(Number.isNaN(clockMs) ? {} : { clockMs }),
        ...(redirect === undefined ? {} : { redirect: `${redirect.origin}${redirect.pathname}` }),
      };
    }
  };
  return { read, close: async () => void (await Promise.all([kept.close(), fresh.close()])) };
}

function locationOf(header: string | string[] | undefined, from: URL): URL | undefined {
  return typeof header === "string" && URL.canParse(header, from.href) ? new URL(header, from) : undefined;
}

/**
 * Returns a reader that adds the endpoint's headers to each request. If a request for a path below the endpoint's URL is redirected,
 * `redirect` is only the target's origin, because the path may contain a key.
 */
export function readerOf(endpoints: readonly Endpoint[], read: PageReader): PageReader {
  const known = endpoints.map((endpoint) => ({
    base: new URL(endpoint.url),
    headers: endpointHeaders(endpoint),
  }));
  return async (url, signal, sent, form) => {
    const requested = new URL(url);
    const own = known.find(({ base }) => pathBelow(base, requested) !== undefined);
    if (own === undefined) return read(url, signal, sent, form);
    const page = await read(url, signal, { ...own.headers, ...sent }, form);
    if (page.redirect === undefined || requested.pathname === own.base.pathname) return page;
    return { ...page, redirect: new URL(page.redirect).origin };
  };
}

/** Decompressors by content encoding, including encodings that were not requested, because certain proxies compress everything. */
const DECOMPRESSORS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

async function* decompressed(body: Readable, header: string): AsyncGenerator<Uint8Array> {
  const encoding = header.trim().toLowerCase();
  const decompressor = Object.hasOwn(DECOMPRESSORS, encoding) ? DECOMPRESSORS[encoding]?.() : undefined;
  if (decompressor === undefined) {
    if (encoding === "" || encoding === "identity") return yield* body;
    body.on("error", () => {}).destroy();
    throw notReadable(encoding, "the watchdog asks for gzip");
  }
  try {
    // Ignore the pipeline's error here, because iterating the decompressor throws it too.
    yield* pipeline(body, decompressor, () => {});
  } catch (error) {
    throw error instanceof Error && "errno" in error ? notReadable(encoding, errorText(error)) : error;
  }
}

function notReadable(encoding: string, reason: string): SourceError {
  const name = /^[\w.*, -]{1,40}$/.test(encoding) ? encoding : "an unknown encoding";
  return new SourceError({ code: "compressed" }, `cannot decompress the response (${name}): ${reason}`);
}

/** Calls `onChunk` with each chunk of the body. Throws {@link SourceError} if the body exceeds `maxBytes`. */
async function forEachChunk(
  page: Page,
  maxBytes: number,
  onChunk: (chunk: Uint8Array) => void,
): Promise<void> {
  let length = 0;
  for await (const chunk of page.body) {
    length += chunk.length;
    if (length > maxBytes) throw new SourceError({ code: "too-large" }, `the page exceeds ${maxBytes} bytes`);
    onChunk(chunk);
  }
}

/** Reads a page's whole body as UTF-8 text. Throws {@link SourceError} if the body exceeds `maxBytes`. */
export async function readText(page: Page, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  await forEachChunk(page, maxBytes, (chunk) => chunks.push(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

/** Returns the page if its status is 200; throws {@link SourceError} otherwise. */
export async function requireOk(page: Page): Promise<Page> {
  if (page.status === 200) return page;
  await drain(page);
  throw statusError("the source", page);
}

/** Creates an error with a response's status, the target of a redirect, and `detail`, which may quote the response. */
export function statusError(who: string, { status, redirect }: Page, detail = ""): SourceError {
  const text = REDIRECTS.has(status)
    ? `${who} redirects to ${redirect ?? "nowhere"} (HTTP ${status}); configure that URL if it is correct`
    : `${who} answered HTTP ${status}${redirect === undefined ? "" : ` after a redirect to ${redirect}`}`;
  const advice = DENIALS.has(status) ? "; configure credentials if they are required" : "";
  return new SourceError({ code: "http-status" }, `${text}${detail}${advice}`);
}

/** Reads and discards a body of up to 1 MiB, because a connection can be reused only if its response was read to the end. */
export async function drain(page: Page): Promise<void> {
  await forEachChunk(page, 1024 * 1024, () => {});
}

export interface MetricsPageOptions {
  readonly url: string;
  readonly maxBytes: number;
  /** Returns true for metrics whose lines must be valid. */
  readonly needs: (metric: string) => boolean;
  /** Returns true for each sample that the caller wants; by default, the caller gets all samples. */
  readonly wants?: (sample: Sample) => boolean;
}

/**
 * Reads the wanted samples from a metrics page, and counts skipped invalid lines. Throws `PrometheusTextError` and `SourceError`. A
 * series that appears twice is an error, because its values would be added up.
 */
export async function readMetricsPage(
  { url, maxBytes, needs, wants = () => true }: MetricsPageOptions,
  read: PageReader,
  signal: AbortSignal,
): Promise<Pick<Page, "clockMs"> & { readonly samples: readonly Sample[]; readonly skippedLines?: number }> {
  const page = await requireOk(await read(url, signal));
  const samples = new Map<string, Sample>();
  // A node's page may be 5 MB in size, of which the watchdog needs only a few lines. Parse each chunk as it arrives, so that only
  // wanted samples are in memory.
  const parser = createPrometheusTextParser({
    needs,
    sample: (sample) => {
      if (!wants(sample)) return;
      const series = seriesOf(sample);
      if (samples.has(series))
        throw new SourceError(
          { code: "not-metrics" },
          `the page has a duplicate series ${clip(series, 120)}`,
        );
      samples.set(series, ownSample(sample));
    },
  });
  await forEachChunk(page, maxBytes, parser.push);
  const skippedLines = parser.end();
  return {
    samples: [...samples.values()],
    ...(skippedLines === 0 ? {} : { skippedLines }),
    ...(page.clockMs === undefined ? {} : { clockMs: page.clockMs }),
  };
}

/**
 * Copies a sample's strings. V8 stores a substring as a reference to the whole string, so a short label would keep 100 kB in
 * memory.
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

/** Returns a key for a series from its name and its labels, regardless of the labels' order. */
function seriesOf({ name, labels }: Sample): string {
  const pairs = [...labels].map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? name : `${name}{${pairs.toSorted().join(",")}}`;
}

export const NOT_CONFIGURED: { readonly state: "not-configured" } = { state: "not-configured" };

/** Reads one source within a deadline. Resolves even if the source fails, with the failure as a value, and rejects only on abort. */
export type Scrape = <T>(
  what: string,
  signal: AbortSignal,
  read: (signal: AbortSignal) => Promise<T>,
) => Promise<Seen<T>>;

export function createScrape(deadlineMs: number, clock: Clock): Scrape {
  return async (what, signal, read) => {
    const startMs = clock.monotonicMs();
    try {
      const value = await withDeadline(what, deadlineMs, signal, read);
      return { state: "up", value, durationMs: clock.monotonicMs() - startMs };
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = toSourceFailure(error);
      const durationMs = clock.monotonicMs() - startMs;
      return failure.code === "absent"
        ? { state: "absent", durationMs }
        : { state: "error", failure, durationMs };
    }
  };
}

/** Opens and closes a TCP connection to "host:port". Rejects if the connection is not accepted. */
export type Reach = (target: string, signal: AbortSignal) => Promise<Reached>;

/** Reaches targets over TCP, bypassing any proxy. */
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
    socket.once("close", unwatch);
    socket.once("connect", () => {
      socket.destroy();
      resolve({ target });
    });
    socket.once("error", reject);
  });
