import type { OraclePage, ProviderPage, SidecarPage } from "../observation.ts";
import type { Sample } from "../prometheus/line-parser.ts";
import { countBy, histogramOf, requireCount, requireEvents, requireTimeMs } from "./sample-values.ts";
import { SourceError } from "./source-failure.ts";

/** The specification uses the prefix `connect_`; deployed sidecars use `side_car_`. */
const SIDECAR = /^(?:connect|side_car)_(.*)$/;
const PROCESS_START = "process_start_time_seconds";

/** Families that {@link toSidecarReading} needs, without prefix. Pages also have one series for each market and provider. */
const WANTED: readonly string[] = [
  "health_check_system_updates_total",
  "health_check_ticker_updates_total",
  "health_check_market_providers",
  "provider_status_responses",
  "provider_last_updated_id",
  "web_socket_connection_status",
  "slinky_build_info",
  "connect_build_info",
];
const HISTOGRAM = /^(?:web_socket_response_time|api_response_latency)(?:_bucket|_sum|_count)$/;

/**
 * Patterns of the metric names that conditions need of a sidecar. Those with a series for each feed or bucket are left out:
 * a store returns them for every sidecar at once.
 */
export const SIDECAR_METRICS: readonly string[] = [
  PROCESS_START,
  "(?:connect|side_car)_health_check_(?:(?:system|ticker)_updates_total|market_providers)",
  "(?:connect|side_car)_(?:provider_status_responses|web_socket_connection_status)",
  "(?:connect|side_car)_(?:slinky|connect)_build_info",
];

/** Whether only pages of sidecars have a metric. */
export function isSidecarFamily(name: string): boolean {
  return SIDECAR.test(name);
}

/** Whether {@link toSidecarReading} needs a sample. */
export function isSidecarSample({ name }: Sample): boolean {
  const own = SIDECAR.exec(name)?.[1];
  return name === PROCESS_START || (own !== undefined && isWanted(own));
}

function isWanted(name: string): boolean {
  return WANTED.includes(name) || HISTOGRAM.test(name);
}

/** Whether {@link toOracleReading} needs a sample. */
export function isOracleSample({ name }: Sample): boolean {
  return SIDECAR.test(name) || name.startsWith("app_");
}

/**
 * Classifies the page of the oracle metrics port by its content: an old node serves its own metrics there, and some
 * operators move those of the sidecar there. Throws {@link SourceError} for any other page.
 */
export function toOracleReading(samples: readonly Sample[]): OraclePage {
  // Metric names decide the kind of the page, not the port: operators change ports.
  if (samples.some(({ name }) => SIDECAR.test(name))) return { kind: "sidecar" };
  if (samples.some(({ name }) => name.startsWith("app_"))) return { kind: "oracle" };
  throw new SourceError({ code: "not-metrics" }, "the page has neither sidecar nor oracle metrics");
}

/** Reads the page of a sidecar. Throws {@link SourceError} when it is another page, or when a value is outside its range. */
export function toSidecarReading(samples: readonly Sample[]): SidecarPage {
  const own = samples.flatMap((sample) => {
    const name = SIDECAR.exec(sample.name)?.[1];
    if (name === undefined) return [];
    return [{ ...sample, name }];
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
    systemUpdates: family("health_check_system_updates_total").reduce(
      (sum, one) => sum + requireEvents(one),
      0n,
    ),
    tickerUpdates: byPair(countBy(family("health_check_ticker_updates_total"), "id")),
    marketProviders: byPair(
      new Map(
        family("health_check_market_providers").map((sample) => [
          sample.labels.get("id") ?? "",
          Number(requireCount(sample, "a count")),
        ]),
      ),
    ),
    providers: providersOf(wanted),
  };
}

/** Tickers are lower case on the page, and pairs are upper case elsewhere. */
function byPair<T>(counts: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([...counts].map(([ticker, count]) => [ticker.toUpperCase(), count]));
}

function providersOf(samples: readonly Sample[]): ReadonlyMap<string, ProviderPage> {
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

function providerOf(samples: readonly Sample[]): ProviderPage {
  const family = (wanted: string): readonly Sample[] => samples.filter(({ name }) => name === wanted);
  const responses = family("provider_status_responses");
  const type = [...responses, ...family("provider_last_updated_id")][0]?.labels.get("type");
  const responseTime =
    histogramOf(samples, "web_socket_response_time") ?? histogramOf(samples, "api_response_latency");
  const updates = family("provider_last_updated_id").map(requireTimeMs);
  return {
    type: type === "api" || type === "websockets" ? type : undefined,
    responses: responses.reduce((sum, sample) => sum + requireEvents(sample), 0n),
    failures: countBy(
      responses.filter(({ labels }) => labels.get("status") !== "success"),
      "code",
    ),
    webSocket: countBy(family("web_socket_connection_status"), "status"),
    ...(responseTime === undefined ? {} : { responseTime }),
    ...(updates.length === 0 ? {} : { lastUpdateMs: Math.max(...updates) }),
  };
}
