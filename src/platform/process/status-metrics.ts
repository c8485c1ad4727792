import { Counter, Gauge, type Registry } from "prom-client";
import type { MetricDefinition } from "./metrics.ts";

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric whose values come from a status. */
export interface StatusMetric<S> extends Omit<MetricDefinition, "question"> {
  readonly question?: MetricDefinition["question"];
  /** Default: a gauge. */
  readonly type?: "counter";
  readonly labelNames: readonly string[];
  /** Returns all series. A series that is not returned is absent from the scrape, for example before its first reading. */
  readonly values: (status: S) => readonly Series[];
}

export function series(value: number, labels: Series["labels"] = {}): Series {
  return { value, labels };
}

/** Returns one series, or none if the value is unknown. */
export function knownSeries(
  value: bigint | number | undefined,
  labels: Series["labels"] = {},
): readonly Series[] {
  return value === undefined ? [] : [series(Number(value), labels)];
}

/** Like {@link knownSeries}, for milliseconds that the scrape shows in seconds. */
export function secondsSeries(ms: number | undefined, labels: Series["labels"] = {}): readonly Series[] {
  return ms === undefined ? [] : [series(ms / 1_000, labels)];
}

/**
 * Registers metrics that read their values from the status at scrape time, so that they cannot go stale when a loop hangs. All
 * series are absent while the status is undefined.
 */
export function registerStatusMetrics<S>(
  registry: Registry,
  rows: readonly StatusMetric<S>[],
  status: () => S | undefined,
): void {
  for (const { type, values, ...definition } of rows) {
    const options = { ...definition, labelNames: [...definition.labelNames], registers: [registry] };
    const present = (): readonly Series[] => {
      const current = status();
      return current === undefined ? [] : values(current);
    };
    if (type === "counter") registerCounter(options, present);
    else registerGauge(options, present);
  }
}

type Options = Omit<MetricDefinition, "question" | "labelNames"> & {
  readonly labelNames: string[];
  readonly registers: Registry[];
};

function registerGauge(options: Options, present: () => readonly Series[]): void {
  const gauge: Gauge<string> = new Gauge({
    ...options,
    collect: () => {
      gauge.reset();
      // A reset sets a gauge without labels to 0, which is wrong if it has no value.
      if (options.labelNames.length === 0) gauge.remove();
      for (const { labels, value } of present()) gauge.set({ ...labels }, value);
    },
  });
}

function registerCounter(options: Options, present: () => readonly Series[]): void {
  const counter: Counter<string> = new Counter({
    ...options,
    collect: () => {
      counter.reset();
      for (const { labels, value } of present()) counter.inc({ ...labels }, value);
    },
  });
}
