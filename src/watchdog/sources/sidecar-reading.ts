import { NS_PER_MS } from "../../platform/base/time.ts";
import { errorText } from "../../platform/base/errors.ts";
import { isRecord, JsonField } from "../../platform/base/json.ts";
import { urlBelow } from "../../platform/http/remote.ts";
import type { Sample } from "../prometheus/text-parser.ts";
import { SourceError } from "./observation.ts";
import type { OracleReading, PricesReading, ProviderReading, SidecarReading } from "./observation.ts";
import { drain, type MetricsPageOptions, type PageReader, readMetricsPage } from "./page-reader.ts";
import { readText, requireOk } from "./page-reader.ts";
import { countBy, histogramOf, requireEvents, requireTimeMs, sumEvents } from "./sample-values.ts";

/** Matches the sidecar's metrics, whose prefix is `connect_` in the specification and `side_car_` in deployed sidecars. */
const SIDECAR = /^(?:connect|side_car)_(.*)$/;
const PROCESS_START = "process_start_time_seconds";

/** Names of the metrics that {@link toSidecarReading} needs, without their prefix. All other metrics on the page are ignored. */
const WANTED: readonly string[] = [
  "health_check_system_updates_total",
  "health_check_ticker_updates_total",
  "health_check_market_providers",
  "aggregated_price",
  "provider_status_responses",
  "provider_last_updated_id",
  "web_socket_connection_status",
  "slinky_build_info",
  "connect_build_info",
];
const HISTOGRAM = /^(?:web_socket_response_time|api_response_latency)(?:_bucket|_sum|_count)$/;

/**
 * Patterns for the names of the sidecar metrics that conditions need. Metrics with one series per feed or bucket are omitted,
 * because one Prometheus query returns the series of all sidecars.
 */
export const SIDECAR_METRICS: readonly string[] = [
  PROCESS_START,
  "(?:connect|side_car)_health_check_(?:(?:system|ticker)_updates_total|market_providers)",
  "(?:connect|side_car)_(?:provider_status_responses|web_socket_connection_status)",
  "(?:connect|side_car)_(?:slinky|connect)_build_info",
];

/** Returns true if a metric appears only on sidecar pages. */
export function isSidecarFamily(name: string): boolean {
  return SIDECAR.test(name);
}

/** Returns true for a metric that {@link toSidecarReading} reads. */
export function isSidecarMetric(name: string): boolean {
  const own = SIDECAR.exec(name)?.[1];
  return name === PROCESS_START || (own !== undefined && isWanted(own));
}

function isWanted(name: string): boolean {
  return WANTED.includes(name) || HISTOGRAM.test(name);
}

/** Returns true for a metric that {@link toOracleReading} recognises. */
function isOracleMetric(name: string): boolean {
  return isSidecarFamily(name) || name.startsWith("app_");
}

/**
 * Determines whether the page on the oracle metrics port belongs to an old node or to a sidecar. Some operators move a sidecar's metrics to
 * this port. Throws {@link SourceError} for any other page.
 */
export function toOracleReading(samples: readonly Sample[]): OracleReading {
  if (samples.some(({ name }) => isSidecarFamily(name))) return { kind: "sidecar" };
  if (samples.some(({ name }) => name.startsWith("app_"))) return { kind: "oracle" };
  throw new SourceError({ code: "not-metrics" }, "the page has neither sidecar nor oracle metrics");
}

/** Converts a sidecar page's samples. Throws {@link SourceError} if the page is not a sidecar's page, or if a value is out of range. */
export function toSidecarReading(samples: readonly Sample[]): SidecarReading {
  const own = samples.flatMap((sample) => {
    const name = SIDECAR.exec(sample.name)?.[1];
    return name === undefined ? [] : [{ ...sample, name }];
  });
  if (own.length === 0)
    throw new SourceError({ code: "not-metrics" }, "the page has no metrics of a price sidecar");
  const wanted = own.filter(({ name }) => isWanted(name));
  const family = (name: string): readonly Sample[] => wanted.filter((sample) => sample.name === name);
  const start = samples.find(({ name }) => name === PROCESS_START);
  const version = [...family("slinky_build_info"), ...family("connect_build_info")][0]?.labels.get("version");
  return {
    ...(start === undefined ? {} : { processStartMs: requireTimeMs(start) }),
    ...(version === undefined ? {} : { version }),
    systemUpdates: sumEvents(family("health_check_system_updates_total")),
    tickerUpdates: byPair(countBy(family("health_check_ticker_updates_total"), "id")),
    marketProviders: byPair(
      family("health_check_market_providers").map((sample) => [
        sample.labels.get("id") ?? "",
        Number(requireEvents(sample)),
      ]),
    ),
    decimals: byPair(family("aggregated_price").flatMap(decimalsOf)),
    providers: providersOf(wanted),
  };
}

/** Requests and parses a sidecar's metrics page. Throws the same errors as {@link readMetricsPage} and {@link toSidecarReading}. */
export async function readSidecar(
  page: Pick<MetricsPageOptions, "url" | "maxBytes">,
  read: PageReader,
  signal: AbortSignal,
): Promise<SidecarReading> {
  const {
    samples,
    clockMs: _,
    ...skipped
  } = await readMetricsPage({ ...page, needs: isSidecarMetric }, read, signal);
  return { ...toSidecarReading(samples), ...skipped };
}

/** Reads the page on the oracle metrics port. Throws the same errors as {@link readMetricsPage} and {@link toOracleReading}. */
export async function readOracle(
  page: Pick<MetricsPageOptions, "url" | "maxBytes">,
  read: PageReader,
  signal: AbortSignal,
): Promise<OracleReading> {
  return toOracleReading((await readMetricsPage({ ...page, needs: isOracleMetric }, read, signal)).samples);
}

/** Maximum number of decimals for a market (`x/marketmap`, ticker). */
const MAX_DECIMALS = 36;

/** Reads the `decimals` label of a price metric. Values outside 0 to 36 are ignored, because the label is only informative. */
function decimalsOf({ labels }: Sample): readonly (readonly [ticker: string, decimals: number])[] {
  const text = labels.get("decimals") ?? "";
  const decimals = Number(text);
  if (!/^\d{1,2}$/.test(text) || decimals > MAX_DECIMALS) return [];
  return [[labels.get("id") ?? "", decimals]];
}

/** Converts tickers to pairs: the page spells them in lower case, the rest of the program in upper case. */
function byPair<T>(values: Iterable<readonly [ticker: string, value: T]>): ReadonlyMap<string, T> {
  return new Map([...values].map(([ticker, value]) => [ticker.toUpperCase(), value]));
}

function providersOf(samples: readonly Sample[]): ReadonlyMap<string, ProviderReading> {
  const byProvider = new Map<string, Sample[]>();
  for (const sample of samples) {
    const provider = sample.labels.get("provider");
    if (provider === undefined) continue;
    const own = byProvider.get(provider);
    if (own === undefined) byProvider.set(provider, [sample]);
    else own.push(sample);
  }
  return new Map([...byProvider].map(([name, own]) => [name, providerOf(own)]));
}

function providerOf(samples: readonly Sample[]): ProviderReading {
  const family = (wanted: string): readonly Sample[] => samples.filter(({ name }) => name === wanted);
  const responses = family("provider_status_responses");
  const type = [...responses, ...family("provider_last_updated_id")][0]?.labels.get("type");
  const responseTime =
    histogramOf(samples, "web_socket_response_time") ?? histogramOf(samples, "api_response_latency");
  return {
    type: type === "api" || type === "websockets" ? type : undefined,
    responses: sumEvents(responses),
    failures: countBy(
      responses.filter(({ labels }) => labels.get("status") !== "success"),
      "code",
    ),
    webSocket: countBy(family("web_socket_connection_status"), "status"),
    ...(responseTime === undefined ? {} : { responseTime }),
  };
}

const KNOWN_PATHS = ["/connect/oracle/v2/prices", "/slinky/oracle/v1/prices"] as const;
/** Matches the end of a price API path. A gateway may add a prefix to the path. */
const PRICE_PATH = /(?:\/(?:connect|slinky)\/oracle\/v\d+)?\/prices$/;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Returns the URLs to try, in order. A configured URL that has a path comes first. The known paths follow, either below the configured URL
 * or, if that URL ends with "/prices", next to it.
 */
export function priceUrls(configured: string): readonly string[] {
  const { href, pathname } = new URL(configured);
  const base = new URL(configured);
  base.pathname = pathname.replace(PRICE_PATH, "");
  const known = KNOWN_PATHS.map((path) => urlBelow(base.href, path).href);
  return pathname === "/" ? known : [...new Set([href, ...known])];
}

/** Creates a price API reader, which tries the path of its last success first. Returns undefined if no URL is configured. */
export function createPricesReader(configured: string | undefined, read: PageReader) {
  if (configured === undefined) return undefined;
  let urls = priceUrls(configured);
  return async (signal: AbortSignal): Promise<PricesReading> => {
    const reading = await readPrices(urls, read, signal);
    urls = [reading.url, ...urls.filter((url) => url !== reading.url)];
    return reading;
  };
}

/**
 * Requests the URLs in order and parses the first response that is not a 404. Throws {@link SourceError} if the parsed response contains no
 * prices, or if all responses are 404.
 */
async function readPrices(
  urls: readonly string[],
  read: PageReader,
  signal: AbortSignal,
): Promise<PricesReading> {
  for (const url of urls) {
    const page = await read(url, signal);
    // After a 404, try the next path, because version 1 of the sidecar serves only the second known path.
    if (page.status === 404) {
      await drain(page);
      continue;
    }
    return parsePrices(await readText(await requireOk(page), MAX_BYTES), url);
  }
  throw new SourceError(
    { code: "http-status" },
    `no price API found at ${urls.map((url) => new URL(url).pathname).join(", ")}`,
  );
}

/** Parses the price API's response. A pair has a price if its value is a positive integer as text. Throws {@link SourceError}. */
export function parsePrices(text: string, url: string): PricesReading {
  const root = new JsonField(parseBody(text), "", (path, expected) =>
    notPrices(`${path} is not ${expected}`),
  );
  const prices = root.member("prices").required();
  if (!isRecord(prices.value)) throw prices.error(prices.path, "an object");
  const tickedAtMs = Number(root.member("timestamp").required().asTimeNs() / NS_PER_MS);
  const { value: version } = root.member("version");
  const priced = Object.entries(prices.value).flatMap(([pair, price]) =>
    typeof price === "string" && /^0*[1-9]\d{0,77}$/.test(price) ? [[pair, BigInt(price)] as const] : [],
  );
  return {
    pairs: priced.map(([pair]) => pair).toSorted(),
    prices: new Map(priced),
    // Before its first update, a sidecar reports Go's zero time, which is in year 1.
    tickedAtMs: tickedAtMs <= 0 ? undefined : tickedAtMs,
    // Ignore a version of another type instead of rejecting the prices, because it is only informative.
    version: typeof version === "string" ? version : "",
    url,
  };
}

function parseBody(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch (cause) {
    const reason = text.trimStart().startsWith("<") ? "got HTML instead of prices" : errorText(cause);
    throw notPrices(reason);
  }
  throw notPrices("expected a JSON object");
}

function notPrices(reason: string): SourceError {
  return new SourceError(
    { code: "not-prices" },
    `the response does not come from a price sidecar: ${reason}; check sources.prices`,
  );
}
