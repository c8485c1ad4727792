import { createFamily, type Family, type FamilyOptions } from "./exposition.ts";

/** Prefix of the metric names: `connect` in the specification, `side_car` in deployed sidecars. */
export type MetricNames = "connect" | "side_car";

const RESPONSE_MS = [50, 100, 250, 500, 1000, 2000] as const;
const DURATION_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Metric families on the sidecar metrics page (port 8002), with the help texts and types of a deployed sidecar. */
const CATALOGUE = {
  aggregatedPrice: gauge("aggregated_price", "Aggregate price for a given currency pair"),
  apiHttpStatus: counter(
    "api_http_status_code",
    "Number of API provider responses by status code grouped by category (2XX, 3XX, etc.) along with the exact code.",
  ),
  apiInternalStatus: counter("api_response_internal_status", "Number of API provider successes."),
  apiLatency: histogram(
    "api_response_latency",
    "Response time per API provider. URL may be redacted but will correspond to indices in the oracle config.",
  ),
  marketProviders: gauge(
    "health_check_market_providers",
    "Number of providers that were utilized to calculate the final price for a given market.",
  ),
  providerUpdates: counter(
    "health_check_provider_updates_total",
    "Number of ticks with a successful provider update.",
  ),
  systemUpdates: counter(
    "health_check_system_updates_total",
    "Number of ticks with a successful oracle update.",
  ),
  tickerUpdates: counter(
    "health_check_ticker_updates_total",
    "Number of ticks with a successful ticker update.",
  ),
  lastUpdated: gauge("provider_last_updated_id", "Last time a given ID (i.e. currency pair) was updated."),
  providerPrice: gauge("provider_price", "Price gauge for a given currency pair on a provider"),
  providerStatus: counter("provider_status_responses", "Number of provider successes."),
  providerStatusPerId: counter(
    "provider_status_responses_per_id",
    "Number of provider successes with a given ID.",
  ),
  buildInfo: gauge("slinky_build_info", "Information about the slinky build"),
  connectionStatus: counter(
    "web_socket_connection_status",
    "Statuses associated with the underlying web socket connection.",
  ),
  dataHandlerStatus: counter(
    "web_socket_data_handler_status",
    "Statuses associated with parsing/sending web socket messages from/to a web socket connection.",
  ),
  webSocketLatency: histogram("web_socket_response_time", "Response time per web socket provider."),
} as const satisfies Readonly<Record<string, FamilyOptions>>;

/** Version 2 of the sidecar is called connect, and the specification uses its names. */
const CONNECT_BUILD = gauge("build_info", "Information about the connect build");

/** All metric families. `queryDuration` comes from the specification; deployed sidecars do not export it. */
export type SidecarFamilies = Readonly<Record<keyof typeof CATALOGUE | "queryDuration", Family>>;

export function createSidecarFamilies(names: MetricNames): SidecarFamilies {
  const create = (options: FamilyOptions): Family =>
    createFamily({ ...options, name: `${names}_${options.name}` });
  return {
    ...createAll({ ...CATALOGUE, ...(names === "connect" ? { buildInfo: CONNECT_BUILD } : {}) }, create),
    queryDuration: createFamily({
      name: "connect_provider_query_duration_seconds",
      help: "Duration of provider queries in seconds.",
      type: "histogram",
      bounds: DURATION_SECONDS,
    }),
  };
}

function createAll<Key extends string>(
  catalogue: Readonly<Record<Key, FamilyOptions>>,
  create: (options: FamilyOptions) => Family,
): Record<Key, Family>;
function createAll(
  catalogue: Readonly<Record<string, FamilyOptions>>,
  create: (options: FamilyOptions) => Family,
): Record<string, Family> {
  return Object.fromEntries(Object.entries(catalogue).map(([key, options]) => [key, create(options)]));
}

/** Returns the families for the page, i.e. whose names start with the prefix. */
export function pageFamilies(families: SidecarFamilies, names: MetricNames): readonly Family[] {
  return Object.values(families).filter((family) => family.name.startsWith(`${names}_`));
}

function gauge(name: string, help: string): FamilyOptions {
  return { name, help, type: "gauge" };
}

function counter(name: string, help: string): FamilyOptions {
  return { name, help, type: "counter" };
}

function histogram(name: string, help: string): FamilyOptions {
  return { name, help, type: "histogram", bounds: RESPONSE_MS };
}

/** Metric families on the oracle metrics page (port 8001). */
export type OracleFamilies = ReturnType<typeof createOracleFamilies>;

/** Creates empty families with the same names, help texts and types as on a node with oracle metrics. */
export function createOracleFamilies() {
  return {
    latency: createFamily({
      ...histogram("app_oracle_response_latency", "The time it took for the oracle to respond"),
      bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    }),
    responses: createFamily(gauge("app_oracle_responses", "The number of oracle responses")),
    prices: createFamily(gauge("app_prices", "The price of the ticker that is written to state")),
  };
}
