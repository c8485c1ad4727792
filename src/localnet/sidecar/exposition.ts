import { formatGoFloat as formatFiniteGoFloat } from "../../platform/base/go-json.ts";
import { ascending } from "../../platform/base/order.ts";
type SeriesLabels = Readonly<Record<string, string>>;

/** A metric family and all of its series. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** Adds an amount to a series, 1 by default. The first event creates the series. */
  readonly add: (labels: SeriesLabels, amount?: number) => void;
  readonly set: (labels: SeriesLabels, value: number) => void;
  readonly delete: (labels: SeriesLabels) => void;
  readonly observe: (labels: SeriesLabels, value: number) => void;
  /** Returns the HELP, TYPE and sample lines in the order a Go program uses; empty if there are no series. */
  readonly write: () => string;
}

export interface FamilyOptions {
  readonly name: string;
  readonly help: string;
  readonly type: Family["type"];
  /** A histogram's upper bounds in ascending order, excluding infinity. */
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
  // Sorting and escaping each event's labels would take up most of a sidecar tick.
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

/** Writes a metrics page. Families are sorted by name, and families without series are omitted. */
export function writeExposition(families: readonly Family[]): string {
  return families
    .toSorted((a, b) => ascending(a.name, b.name))
    .map((family) => family.write())
    .join("");
}

/** Formats a number as Go does: with the fewest digits, and with an exponent from 1e6 upwards and below 1e-4. */
export function formatGoFloat(value: number): string {
  if (Math.abs(value) === Number.POSITIVE_INFINITY) return value > 0 ? "+Inf" : "-Inf";
  return value === 0 ? "0" : formatFiniteGoFloat(value);
}

function observe(series: Series, bounds: readonly number[], value: number): void {
  series.value += 1;
  series.sum += value;
  // Buckets are cumulative: a value increments every bucket whose bound it does not exceed.
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
