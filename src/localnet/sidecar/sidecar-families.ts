import { formatGoFloat as formatFiniteGoFloat } from "../../platform/base/go-json.ts";
import { ascending } from "../../platform/base/order.ts";

/** Prefix of the metric names, which is `connect` in the specification and `side_car` in deployed sidecars. */
export type MetricNames = "connect" | "side_car";

const RESPONSE_MS = [50, 100, 250, 500, 1000, 2000] as const;
const DURATION_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Metric families on the sidecar metrics page (port 8002), with a deployed sidecar's help texts and types. */
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

/** Build info metric of the sidecar's version 2 ("connect"), whose metric names the specification uses. */
const CONNECT_BUILD = gauge("build_info", "Information about the connect build");

/** The sidecar's metric families, including `queryDuration`, which the specification defines but deployed sidecars do not export. */
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

/** Returns the families on the sidecar metrics page, i.e. all families whose names start with the prefix. */
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

/** Creates the oracle metric families without series, with the same names, help texts and types as a real node. */
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

type SeriesLabels = Readonly<Record<string, string>>;

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** Adds an amount (default: 1) to a series. The first call for a label set creates the series. */
  readonly add: (labels: SeriesLabels, amount?: number) => void;
  readonly set: (labels: SeriesLabels, value: number) => void;
  readonly delete: (labels: SeriesLabels) => void;
  readonly observe: (labels: SeriesLabels, value: number) => void;
  /** Returns the HELP, TYPE and sample lines, sorted as by a Go program, or an empty string if there are no series. */
  readonly write: () => string;
}

interface FamilyOptions {
  readonly name: string;
  readonly help: string;
  readonly type: Family["type"];
  /** Upper bounds of a histogram's buckets in ascending order, without infinity. */
  readonly bounds?: readonly number[];
}

interface Series {
  readonly labels: SeriesLabels;
  value: number;
  sum: number;
  readonly buckets: number[];
}

export function createFamily(options: FamilyOptions): Family {
  const bounds = options.bounds ?? [];
  const series = new Map<string, Series>();
  // Cache each label set's key, because sorting and escaping the labels for each event would take most of a sidecar tick.
  const keys = new Map<string, string>();
  const keyOf = (labels: SeriesLabels): string => {
    const given = JSON.stringify(labels);
    const key = keys.get(given) ?? labelText(labels);
    keys.set(given, key);
    return key;
  };
  const seriesOf = (labels: SeriesLabels): Series => {
    const key = keyOf(labels);
    const existing = series.get(key) ?? { labels, value: 0, sum: 0, buckets: bounds.map(() => 0) };
    series.set(key, existing);
    return existing;
  };
  return {
    ...options,
    add: (labels, amount = 1) => {
      seriesOf(labels).value += amount;
    },
    set: (labels, value) => {
      seriesOf(labels).value = value;
    },
    delete: (labels) => {
      series.delete(keyOf(labels));
    },
    observe: (labels, value) => observe(seriesOf(labels), bounds, value),
    write: () => writeFamily(options, [...series.entries()], bounds),
  };
}

/** Formats a page in the Prometheus text format. Families are sorted by name, and families without series are omitted. */
export function writeExposition(families: readonly Family[]): string {
  return families
    .toSorted((a, b) => ascending(a.name, b.name))
    .map((family) => family.write())
    .join("");
}

/** Formats a number like Go, with the fewest digits. Numbers of at least 1e6 or below 1e-4 have an exponent. */
export function formatGoFloat(value: number): string {
  if (Math.abs(value) === Number.POSITIVE_INFINITY) return value > 0 ? "+Inf" : "-Inf";
  return value === 0 ? "0" : formatFiniteGoFloat(value);
}

function observe(series: Series, bounds: readonly number[], value: number): void {
  series.value += 1;
  series.sum += value;
  // Increment every bucket whose bound the value does not exceed, because buckets are cumulative.
  for (const [index, bound] of bounds.entries()) {
    if (value <= bound) series.buckets[index] = (series.buckets[index] ?? 0) + 1;
  }
}

function writeFamily(
  { name, help, type }: FamilyOptions,
  entries: readonly (readonly [string, Series])[],
  bounds: readonly number[],
): string {
  if (entries.length === 0) return "";
  const lines = entries
    .toSorted(([, a], [, b]) => compareLabels(a.labels, b.labels))
    .flatMap(([labels, series]) =>
      type === "histogram"
        ? writeHistogram(name, labels, series, bounds)
        : [`${name}${braced(labels)} ${formatGoFloat(series.value)}`],
    );
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
}

function writeHistogram(
  name: string,
  labels: string,
  series: Series,
  bounds: readonly number[],
): readonly string[] {
  const bucket = (le: string, count: number): string =>
    `${name}_bucket${braced([labels, `le="${le}"`].filter((part) => part !== "").join(","))} ${formatGoFloat(count)}`;
  return [
    ...bounds.map((bound, index) => bucket(formatGoFloat(bound), series.buckets[index] ?? 0)),
    bucket("+Inf", series.value),
    `${name}_sum${braced(labels)} ${formatGoFloat(series.sum)}`,
    `${name}_count${braced(labels)} ${formatGoFloat(series.value)}`,
  ];
}

function labelText(labels: SeriesLabels): string {
  return Object.entries(labels)
    .toSorted(([a], [b]) => ascending(a, b))
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",");
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function compareLabels(a: SeriesLabels, b: SeriesLabels): number {
  for (const name of Object.keys(a).toSorted(ascending)) {
    const order = ascending(a[name] ?? "", b[name] ?? "");
    if (order !== 0) return order;
  }
  return 0;
}

function braced(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}
