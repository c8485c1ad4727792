import { PrometheusDriver } from "prometheus-query";
import { z } from "zod";
import { abortReason, raceAbort, withDeadline } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { isRecord } from "../../platform/base/json.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { SourceError } from "../sources/observation.ts";
import { type Labels, type SelectorOf, selectorsOf } from "../sources/targets.ts";

/** How to reach a Prometheus-compatible API. */
export interface PrometheusConnection {
  /** URL without `/api/v1`. */
  readonly url: string;
  readonly credentials?: PrometheusCredentials;
  /** Value of the header `X-Scope-OrgID`. */
  readonly tenant?: string;
  /** Limit for one query, including the body. */
  readonly deadlineMs: number;
  readonly maxResponseBytes: number;
}

/** A bearer token, or a name and a password. */
export type PrometheusCredentials =
  | { readonly kind: "bearer"; readonly token: Secret }
  | { readonly kind: "basic"; readonly username: string; readonly password: Secret };

/** A series with its samples, oldest first. */
export interface Series {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly points: readonly Point[];
}

/** One stored sample. `atMs` is the time of the scrape, by the clock of Prometheus. */
interface Point {
  readonly atMs: number;
  /** NaN also for infinities: `prometheus-query` does not parse them. */
  readonly value: number;
}

/** The samples in (atMs − rangeMs, atMs]. */
interface SampleRange {
  readonly atMs: number;
  readonly rangeMs: number;
}

/**
 * Reads the stored samples of all series that a PromQL selector such as `up{job="node"}` selects. Rejects with
 * {@link SourceError}, `DeadlineError`, or the reason of the signal; no error contains the URL or a secret.
 */
export type ReadSamples = (
  selector: string,
  range: SampleRange,
  signal: AbortSignal,
) => Promise<readonly Series[]>;

/** Result of a range selector, which the library types as `any`. */
const matrix = z.object({
  resultType: z.literal("matrix"),
  result: z.array(
    z.object({
      metric: z.object({ name: z.string().optional(), labels: z.record(z.string(), z.string()) }),
      values: z.array(z.object({ time: z.date(), value: z.union([z.number(), z.nan()]) })),
    }),
  ),
});

/**
 * Creates a reader over HTTP. It sends a range selector as an instant query, which returns the samples as they were stored,
 * each with its own time. `query_range` would repeat a sample at each step for up to 5 minutes, without its time.
 */
export function createSampleReader(connection: PrometheusConnection): ReadSamples {
  return (selector, { atMs, rangeMs }, signal) =>
    withDeadline("the Prometheus query", connection.deadlineMs, signal, async (inner) => {
      const driver = createDriver(connection, inner);
      const result: unknown = await driver
        .instantQuery(`${selector}[${Math.ceil(rangeMs / 1000)}s]`, atMs)
        .catch((thrown: unknown) => {
          throw toError(thrown, inner);
        });
      return toSeries(result);
    });
}

/** The library has one set of options for a driver, and no signal: each query has a driver of its own. */
function createDriver(connection: PrometheusConnection, signal: AbortSignal): PrometheusDriver {
  const { url, credentials, tenant, deadlineMs, maxResponseBytes } = connection;
  return new PrometheusDriver({
    endpoint: url,
    // A list of many validators is too long for a URL.
    preferPost: true,
    timeout: deadlineMs,
    headers: {
      ...(tenant === undefined ? {} : { "X-Scope-OrgID": tenant }),
      ...(credentials === undefined ? {} : { Authorization: authorization(credentials) }),
    },
    requestInterceptor: {
      onFulfilled: (config) => ({
        ...config,
        signal,
        maxContentLength: maxResponseBytes,
        // A redirect could carry the credentials to another host.
        maxRedirects: 0,
        proxy: false,
      }),
    },
    responseInterceptor: { onFulfilled: requireComplete, onRejected: rejectStatus },
  });
}

function authorization(credentials: PrometheusCredentials): string {
  if (credentials.kind === "bearer") return `Bearer ${credentials.token.reveal()}`;
  const { username, password } = credentials;
  return `Basic ${Buffer.from(`${username}:${password.reveal()}`).toString("base64")}`;
}

/**
 * Rejects a response with warnings: the store could not read all of its parts. A missing series would be treated as zero.
 */
function requireComplete<T extends { readonly data: unknown }>(response: T): T {
  const { data } = response;
  if (!isRecord(data) || data["status"] !== "success")
    throw new SourceError(
      { code: "not-prometheus" },
      "the response is not one of the Prometheus API; check prometheus.url",
    );
  const { warnings } = data;
  if (Array.isArray(warnings) && warnings.length > 0)
    throw new SourceError(
      { code: "incomplete" },
      `Prometheus returned an incomplete result: ${clip(String(warnings[0]))}`,
    );
  return response;
}

/** Keeps the status and Prometheus's own message of a failed request. */
function rejectStatus(thrown: unknown): never {
  if (!isRecord(thrown) || !isRecord(thrown["response"])) throw thrown;
  const { status, data } = thrown["response"];
  // The body is missing: it was too large, or the connection ended.
  if (status === 200) throw { code: thrown["code"], message: thrown["message"] };
  const text = isRecord(data) && typeof data["error"] === "string" ? `: ${clip(data["error"])}` : "";
  throw new SourceError({ code: "http-status" }, `Prometheus answered HTTP ${String(status)}${text}`);
}

/**
 * Converts an error of the library: a plain object without `message`, whose `original` has the request with its credentials.
 * Nothing of it is passed on.
 */
function toError(thrown: unknown, signal: AbortSignal): Error {
  if (signal.aborted) return abortReason(signal);
  // The library throws an error of its own only for a result that it cannot read.
  if (!isRecord(thrown) || thrown instanceof Error)
    return new SourceError({ code: "not-prometheus" }, "the result of Prometheus is not a list of series");
  const { original, code, error } = thrown;
  if (original instanceof SourceError) return original;
  if (code === "ECONNREFUSED")
    return new SourceError({ code: "refused" }, "Prometheus refused the connection");
  if (typeof error === "string" && error.startsWith("maxContentLength"))
    return new SourceError(
      { code: "too-large" },
      "the response of Prometheus is larger than prometheus.max_response_bytes",
    );
  const reason = typeof code === "string" ? code : "no response";
  return new SourceError({ code: "unreachable" }, `Prometheus cannot be read (${reason})`);
}

function toSeries(result: unknown): readonly Series[] {
  const parsed = matrix.safeParse(result);
  if (!parsed.success)
    throw new SourceError({ code: "not-prometheus" }, "the result of Prometheus is not a list of series");
  return parsed.data.result.map(({ metric, values }) => ({
    name: metric.name ?? "",
    labels: new Map(Object.entries(metric.labels)),
    points: values.map(({ time, value }) => ({ atMs: time.getTime(), value })),
  }));
}

function clip(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** The series of one target or of several, and the time of the query. */
export interface Selected {
  readonly series: readonly Series[];
  readonly atMs: number;
}

/** Returns the series with these labels. The labels must be some that the query was created for. */
export type SharedQuery = (labels: Labels, signal: AbortSignal) => Promise<Selected>;

interface SharedQueryOptions {
  /** Patterns of metric names. */
  readonly metrics: readonly string[];
  /** Labels of all targets. */
  readonly sets: readonly Labels[];
  readonly rangeMs: number;
  /** A result is returned to all who ask within this time. */
  readonly shareMs: number;
}

interface SharedQueryDeps {
  readonly read: ReadSamples;
  readonly clock: Clock;
  /** Ends the queries. */
  readonly signal: AbortSignal;
}

/** Result of one query: series by the labels that they were selected by. */
interface Result {
  readonly atMs: number;
  readonly byLabels: ReadonlyMap<string, readonly Series[]>;
}

interface Chunk extends SelectorOf {
  latest?: { readonly startedMs: number; readonly result: Promise<Result> };
}

/**
 * Creates a query that the polls of all validators share: one request for each 100 targets, however many polls ask for
 * them at the same time.
 */
export function createSharedQuery(options: SharedQueryOptions, deps: SharedQueryDeps): SharedQuery {
  const { metrics, sets, rangeMs, shareMs } = options;
  const { read, clock, signal: end } = deps;
  const chunkOf = new Map<string, Chunk>();
  for (const chunk of selectorsOf(metrics, sets).map((one): Chunk => ({ ...one })))
    for (const set of chunk.sets) chunkOf.set(keyOf(set), chunk);
  const start = async ({ selector, sets: own }: Chunk): Promise<Result> => {
    const atMs = clock.nowMs();
    const series = await read(selector, { atMs, rangeMs }, end);
    return { atMs, byLabels: indexOf(series, Object.keys(own[0] ?? {})) };
  };
  return async (labels, signal) => {
    if (end.aborted) throw abortReason(end);
    const key = keyOf(labels);
    const chunk = chunkOf.get(key);
    if (chunk === undefined) return { series: [], atMs: clock.nowMs() };
    const nowMs = clock.monotonicMs();
    if (chunk.latest === undefined || nowMs - chunk.latest.startedMs >= shareMs) {
      const result = start(chunk);
      // Whoever waits gets the error; nobody may wait any more.
      result.catch(() => {});
      chunk.latest = { startedMs: nowMs, result };
    }
    const { atMs, byLabels } = await raceAbort(chunk.latest.result, signal);
    return { atMs, series: byLabels.get(key) ?? [] };
  };
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function indexOf(
  series: readonly Series[],
  names: readonly string[],
): ReadonlyMap<string, readonly Series[]> {
  const index = new Map<string, Series[]>();
  for (const one of series) {
    const key = keyOf(Object.fromEntries(names.map((name) => [name, one.labels.get(name) ?? ""])));
    const known = index.get(key);
    if (known === undefined) index.set(key, [one]);
    else known.push(one);
  }
  return index;
}
