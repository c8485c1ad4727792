import { Counter, Gauge, type Registry } from "prom-client";
import type { MetricDefinition } from "./metrics.ts";

/** A metric's value, or its values by label. For undefined, the series is absent; true is exported as 1, and false as 0. */
export type Reading = number | bigint | boolean | undefined | readonly LabelledReading[];

/** Values of one or more labels, with the reading that they identify. */
type LabelledReading = readonly [labels: string | readonly string[], reading: Reading];

/** A metric that is computed from a status `S` at each scrape. */
export interface StatusMetric<S> {
  readonly help: string;
  /** Type of the metric; by default, a gauge. */
  readonly type?: "counter";
  /** Names of the labels, outermost first; by default, the metric has no labels. */
  readonly by?: readonly string[];
  readonly read: (status: S) => Reading;
}

/** Metrics that are computed from a status `S`, keyed by name. */
export type StatusMetrics<S> = Readonly<Record<string, StatusMetric<S>>>;

/** Part of a status, such as a connection, with the label values of all gauges about this part. */
export type Part<T> = readonly [labels: readonly string[], part: T];

/** Returns a function that creates gauges with series for each part. `by` labels the parts, and `inner` the series within a part. */
export function gaugesOf<S, T>(by: readonly string[], partsOf: (status: S) => readonly Part<T>[]) {
  return (help: string, read: (part: T) => Reading, ...inner: readonly string[]): StatusMetric<S> => ({
    help,
    by: [...by, ...inner],
    read: (status) => partsOf(status).map(([labels, part]) => [labels, read(part)]),
  });
}

export function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

/** Returns a reading per label: 1 for the current label, and 0 for all others. */
export function oneOf(labels: readonly string[], current: string | undefined): Reading {
  return labels.map((label) => [label, label === current]);
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Returns all series of a metric. A series without a value, for example before the first measurement, is absent from the scrape. */
export function seriesOf<S>({ by = [], read }: StatusMetric<S>, status: S): readonly Series[] {
  const expand = (reading: Reading, values: readonly string[]): readonly Series[] => {
    if (typeof reading === "object")
      return reading.flatMap(([labels, inner]) => expand(inner, values.concat(labels)));
    if (reading === undefined) return [];
    const labels: Record<string, string> = {};
    by.forEach((label, index) => {
      labels[label] = values[index] ?? "";
    });
    return [{ labels, value: Number(reading) }];
  };
  return expand(read(status), []);
}

/**
 * Registers metrics that compute their values from the status at scrape time, so the values cannot go stale if a loop hangs. While
 * the status is undefined, all series are absent. `question` is the metrics' section in `docs/metrics.md`.
 */
export function registerStatusMetrics<S>(
  registry: Registry,
  metrics: StatusMetrics<S>,
  status: () => S | undefined,
  question?: MetricDefinition["question"],
): void {
  for (const [name, metric] of Object.entries(metrics)) {
    const { help, type, by = [] } = metric;
    const options = { name, help, question, labelNames: [...by], registers: [registry] };
    const present = (): readonly Series[] => {
      const current = status();
      return current === undefined ? [] : seriesOf(metric, current);
    };
    if (type === "counter") registerCounter(options, present);
    else registerGauge(options, present);
  }
}

interface Options extends Pick<MetricDefinition, "name" | "help"> {
  readonly question: MetricDefinition["question"] | undefined;
  readonly labelNames: string[];
  readonly registers: Registry[];
}

function registerGauge(options: Options, present: () => readonly Series[]): void {
  const gauge: Gauge<string> = new Gauge({
    ...options,
    collect: () => {
      gauge.reset();
      // `reset` sets a gauge without labels to 0, so remove its series, which may have no value.
      if (options.labelNames.length === 0) gauge.remove();
      for (const { labels, value } of present()) gauge.set(labels, value);
    },
  });
}

function registerCounter(options: Options, present: () => readonly Series[]): void {
  const counter: Counter<string> = new Counter({
    ...options,
    collect: () => {
      counter.reset();
      for (const { labels, value } of present()) counter.inc(labels, value);
    },
  });
}
