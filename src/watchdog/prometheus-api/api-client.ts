import type { PrometheusDriver } from "prometheus-query";
import { abortReason, withDeadline } from "../../platform/base/abort.ts";
import { isRecord, parseJson } from "../../platform/base/json.ts";
import type { Secret } from "../../platform/base/secret.ts";
import type { NetworkOptions } from "../../platform/http/remote.ts";
import { clip } from "../prometheus/text-parser.ts";
import { SourceError } from "../sources/observation.ts";
import { createHttpPageReader, type Page, statusError } from "../sources/page-reader.ts";

/** The connection settings and limits for a Prometheus-compatible HTTP API. */
export interface PrometheusConnection {
  /** Base URL of the API, without the path `/api/v1`. */
  readonly url: string;
  readonly credentials?: PrometheusCredentials;
  /** The tenant, sent as the `X-Scope-OrgID` header. */
  readonly tenant?: string;
  /** Time limit for one query, including the body. */
  readonly deadlineMs: number;
  /** Limits for the size of one response in bytes, and for its numbers of series and samples. */
  readonly maxResponseBytes: number;
  readonly maxSeries: number;
  readonly maxPoints: number;
  /** Network settings for the API; see `WatchdogConfig`. */
  readonly network?: NetworkOptions;
}

/** A bearer token, or a user name with a password. */
export type PrometheusCredentials =
  | { readonly kind: "bearer"; readonly token: Secret }
  | { readonly kind: "basic"; readonly username: string; readonly password: Secret };

/** A series with its samples, oldest first. */
export interface Series {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly points: readonly Point[];
}

interface Point {
  /** Time of the scrape, according to Prometheus's clock. */
  readonly atMs: number;
  /** The sample's value. Infinities become NaN. */
  readonly value: number;
}

/** The time range (atMs − rangeMs, atMs] of the samples. */
interface SampleRange {
  readonly atMs: number;
  readonly rangeMs: number;
  /** The fraction of the series and sample limits that the query may use. The default and maximum is 1. */
  readonly share?: number;
}

/**
 * Reads the stored samples of all series selected by a PromQL selector such as `up{job="node"}`. Rejects with {@link SourceError},
 * `DeadlineError`, or the signal's reason. Error messages contain neither the URL nor a secret.
 */
export type ReadSamples = (
  selector: string,
  range: SampleRange,
  signal: AbortSignal,
) => Promise<readonly Series[]>;

/**
 * Creates a reader of samples from Prometheus over HTTP. The reader sends a range selector as an instant query, which returns the
 * stored samples with their own times. `query_range` would repeat a sample at each step for up to 5 minutes, without the sample's
 * time.
 */
export function createSampleReader(connection: PrometheusConnection): ReadSamples {
  const { deadlineMs, maxSeries, maxPoints } = connection;
  const headers = headersOf(connection);
  const { read } = createHttpPageReader(connection.network);
  return (selector, { atMs, rangeMs, share = 1 }, signal) =>
    withDeadline("the Prometheus query", deadlineMs, signal, async (inner) => {
      const limits = {
        ...connection,
        maxSeries: Math.floor(maxSeries * share),
        maxPoints: Math.floor(maxPoints * share),
      };
      let series: readonly Series[] = [];
      let failure: unknown;
      const driver = await createDriver(connection, async (url, form) => {
        try {
          const page = await read(url, inner, headers, form);
          if (page.status !== 200) throw await toStatusError(page);
          series = await readMatrix(page.body, limits);
        } catch (error) {
          failure = error;
          throw error;
        }
      });
      await driver
        .instantQuery(`${selector}[${Math.ceil(rangeMs / 1000)}s]`, atMs)
        .catch((thrown: unknown) => {
          throw toError(failure ?? thrown, inner);
        });
      return series;
    });
}

/** An empty response for the `prometheus-query` library. This module itself parses the samples as they arrive. */
const NO_SERIES = { status: "success", data: { resultType: "matrix", result: [] } };

/**
 * Creates a driver that only uses the `prometheus-query` library to build requests. `send` sends the requests, because the library
 * would read the whole body without a limit or a signal. The library would also drop warnings that mark a result as incomplete.
 */
async function createDriver(
  { url }: PrometheusConnection,
  send: (url: string, form: string) => Promise<void>,
): Promise<PrometheusDriver> {
  // Import the library on demand, because it is large and only needed if a Prometheus API is configured.
  const { PrometheusDriver } = await import("prometheus-query");
  return new PrometheusDriver({
    endpoint: url.replace(/\/$/, ""),
    // Use POST, because a selector for many validators is too long for a URL.
    preferPost: true,
    requestInterceptor: {
      onFulfilled: (config) => ({
        ...config,
        adapter: async (request) => {
          await send(`${request.baseURL}${request.url}`, String(request.data));
          const { headers } = request;
          return { data: NO_SERIES, status: 200, statusText: "OK", headers, config: request };
        },
      }),
    },
  });
}

function headersOf({ credentials, tenant }: PrometheusConnection): Readonly<Record<string, string>> {
  return {
    ...(tenant === undefined ? {} : { "x-scope-orgid": tenant }),
    ...(credentials === undefined ? {} : { authorization: authorization(credentials) }),
  };
}

function authorization(credentials: PrometheusCredentials): string {
  if (credentials.kind === "bearer") return `Bearer ${credentials.token.reveal()}`;
  const { username, password } = credentials;
  return `Basic ${Buffer.from(`${username}:${password.reveal()}`).toString("base64")}`;
}

type ReplyLimits = Pick<PrometheusConnection, "maxResponseBytes" | "maxSeries" | "maxPoints">;

/** The open brackets at the start of a series in `{"data":{"result":[{…}]}}`, and at the start of a sample in `"values":[[…]]`. */
const SERIES = "{{[{";
const SAMPLE = "{{[{[[";

/** Maximum nesting depth of brackets in a JSON response. The API uses 6 levels, and a few more in its statistics. */
const MAX_DEPTH = 16;

/** Maximum number of unparsed characters to buffer, in addition to {@link MAX_PLACE} characters for each parsed series and sample. */
const MAX_TEXT = 65_536;

/** Maximum number of characters that replace a parsed series or sample, which are "0," and white space. */
const MAX_PLACE = 4;

/** Maximum average number of labels per series. Each label needs about 100 bytes of memory. */
const MAX_LABELS = 20;

/**
 * Reads the result of a range selector in chunks. Each sample and each series is parsed as soon as its text is complete. Only the
 * returned data and a few chunks are in memory. Throws {@link SourceError} if the response is invalid or exceeds a limit.
 */
async function readMatrix(body: Page["body"], limits: ReplyLimits): Promise<readonly Series[]> {
  const decoder = new TextDecoder();
  const all: Series[] = [];
  let points: Point[] = [];
  let pointCount = 0;
  let labelCount = 0;
  let byteCount = 0;
  /** The unparsed texts of the response, the current series and the current sample. A parsed sample or series is replaced with 0. */
  const texts = [""];
  let open = "";
  let isInString = false;
  let isEscaped = false;
  const complete = (text: string): void => {
    if (open === SAMPLE) {
      pointCount += 1;
      if (pointCount > limits.maxPoints) throw tooLarge(limits.maxPoints, "samples", "max_points");
      points.push(toPoint(parseJson(text)));
    } else {
      if (all.length >= limits.maxSeries) throw tooLarge(limits.maxSeries, "series", "max_series");
      const series = toSeries(parseJson(text), points);
      labelCount += series.labels.size;
      const maxLabels = MAX_LABELS * limits.maxSeries;
      if (labelCount > maxLabels) throw tooLarge(maxLabels, "labels", "max_series");
      all.push(series);
      points = [];
    }
  };
  const push = (chunk: string): void => {
    let from = 0;
    const take = (to: number, isBeforePart = false): string => {
      const own = chunk.slice(from, to);
      from = to;
      return (texts.pop() ?? "") + (isBeforePart ? own.trimEnd() : own);
    };
    for (let at = 0; at < chunk.length; at++) {
      const char = chunk[at];
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (char === "\\") isEscaped = true;
        else if (char === '"') isInString = false;
      } else if (char === '"') isInString = true;
      else if (char === "{" || char === "[") {
        open += char;
        if (open.length > MAX_DEPTH) throw notPrometheus();
        if (open === SERIES || open === SAMPLE) texts.push(`${take(at, true)}0`, "");
      } else if (char === "}" || char === "]") {
        if (open === SERIES || open === SAMPLE) complete(take(at + 1));
        open = open.slice(0, -1);
      }
    }
    texts.push(take(chunk.length));
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    if (length > MAX_TEXT + MAX_PLACE * (all.length + pointCount))
      throw new SourceError(
        { code: "too-large" },
        `a series, sample or message in the Prometheus response exceeds ${MAX_TEXT} characters; check prometheus.url and the labels`,
      );
  };
  for await (const chunk of body) {
    byteCount += chunk.length;
    if (byteCount > limits.maxResponseBytes)
      throw tooLarge(limits.maxResponseBytes, "bytes", "max_response_bytes");
    push(decoder.decode(chunk, { stream: true }));
  }
  requireComplete(parseJson(texts.join("")));
  return all;
}

function tooLarge(limit: number, unit: string, key: string): SourceError {
  return new SourceError(
    { code: "too-large" },
    `the Prometheus response has more than ${limit} ${unit}; select fewer series with labels, shorten prometheus.stale_after, or raise prometheus.${key}`,
  );
}

function notPrometheus(): SourceError {
  return new SourceError(
    { code: "not-prometheus" },
    "the response does not come from the Prometheus API; check prometheus.url",
  );
}

function notSeries(): SourceError {
  return new SourceError({ code: "not-prometheus" }, "the Prometheus result is not a list of series");
}

function toPoint(value: unknown): Point {
  if (!Array.isArray(value)) throw notSeries();
  const [seconds, text]: unknown[] = value;
  if (typeof seconds !== "number" || typeof text !== "string") throw notSeries();
  return { atMs: Math.round(seconds * 1000), value: Number(text) };
}

/** Converts a series from JSON, and adds the samples (`points`) that were parsed before. */
function toSeries(value: unknown, points: readonly Point[]): Series {
  const { metric, values } = isRecord(value) ? value : {};
  if (!isRecord(metric) || !Array.isArray(values) || values.length !== points.length) throw notSeries();
  const labels = new Map<string, string>();
  for (const [label, text] of Object.entries(metric)) {
    if (typeof text !== "string") throw notSeries();
    labels.set(label, text);
  }
  const name = labels.get("__name__") ?? "";
  labels.delete("__name__");
  return { name, labels, points };
}

/**
 * Checks that a response is complete. `reply` is the response without its series. Throws if the response has warnings or is marked
 * as partial by VictoriaMetrics, because missing series would be treated as zero.
 */
function requireComplete(reply: unknown): void {
  if (!isRecord(reply) || reply["status"] !== "success") throw notPrometheus();
  const { warnings, data, isPartial } = reply;
  const [warning] = [
    ...(Array.isArray(warnings) ? warnings : []).map(String),
    ...(isPartial === true ? ["it is marked as partial, so a storage node is not responding"] : []),
  ];
  if (warning !== undefined)
    throw new SourceError(
      { code: "incomplete" },
      `Prometheus returned an incomplete result: ${clip(warning, MAX_REASON)}`,
    );
  if (!isRecord(data) || data["resultType"] !== "matrix" || !Array.isArray(data["result"])) throw notSeries();
}

/** Maximum number of chunks (of at most 64 kB) read from the body of an error response. */
const MAX_ERROR_CHUNKS = 8;

/** Maximum length of the quoted Prometheus message in an error. */
const MAX_REASON = 200;

/** Creates an error from a failed request's HTTP status and from the Prometheus message in the body. */
async function toStatusError(page: Page): Promise<SourceError> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of page.body) if (chunks.push(chunk) >= MAX_ERROR_CHUNKS) break;
  const body = parseJson(Buffer.concat(chunks).toString("utf8"));
  const reason =
    isRecord(body) && typeof body["error"] === "string" ? `: ${clip(body["error"], MAX_REASON)}` : "";
  return statusError("Prometheus", page, reason);
}

/** Converts an error to an error whose message contains neither the API's address nor its credentials. */
function toError(thrown: unknown, signal: AbortSignal): Error {
  if (signal.aborted) return abortReason(signal);
  if (thrown instanceof SourceError) return thrown;
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "ECONNREFUSED")
    return new SourceError({ code: "refused" }, "Prometheus refused the connection");
  const reason = typeof code === "string" ? code : "no response";
  return new SourceError({ code: "unreachable" }, `Prometheus cannot be read (${reason})`);
}
