import { Counter, Gauge, Histogram, type Metric, type Registry } from "prom-client";
import type { MetricDefinition } from "./metrics.ts";

/** Metrics by name, which survive restarts of the services that update them, so that a reload does not reset counters. */
export interface LastingMetrics {
  readonly byName: Map<string, Metric>;
  /** For each histogram, the label combinations (as JSON) whose series already exist. */
  readonly begun: WeakMap<Metric, Set<string>>;
}

/** Creates an empty set of metrics, to be used for the whole life of a process. */
export function createLastingMetrics(): LastingMetrics {
  return { byName: new Map(), begun: new WeakMap() };
}

type Row<L extends string> = Omit<MetricDefinition<L>, "question"> &
  Partial<Pick<MetricDefinition, "question">> & {
    /** Label values that are known before the first event. */
    readonly zeros?: Readonly<Partial<Record<L, readonly string[]>>>;
  };

/**
 * Registers new metrics, or registers existing metrics again with their current values. A counter or histogram starts at 0 if all
 * its label values are known, so that the first event is visible as an increase.
 */
export interface MetricFactory {
  readonly counter: <L extends string>(row: Row<L>) => Counter<L>;
  readonly gauge: <L extends string>(row: Row<L>) => Gauge<L>;
  readonly histogram: <L extends string>(
    row: Row<L> & { readonly buckets: readonly number[] },
  ) => Histogram<L>;
}

/** Creates a factory for the services' metrics until the next reload. `known` contains known label values for all rows. */
export function createMetricFactory(
  registry: Registry,
  { byName, begun } = createLastingMetrics(),
  known: Readonly<Record<string, readonly string[]>> = {},
): MetricFactory {
  const added = <M extends Metric>(name: string, metric: M): M => {
    registry.registerMetric(metric);
    byName.set(name, metric);
    return metric;
  };
  const beginHistogram = <L extends string>(histogram: Histogram<L>, labels: Labels<L>): void => {
    const all = begun.get(histogram) ?? new Set();
    begun.set(histogram, all);
    const key = JSON.stringify(labels);
    // Initialize each series only once, because doing so again would erase its observations.
    if (!all.has(key)) histogram.zero(labels);
    all.add(key);
  };
  return {
    counter: ({ zeros, ...definition }) => {
      const found = byName.get(definition.name);
      const counter = found instanceof Counter ? found : new Counter({ ...definition, registers: [] });
      for (const labels of combinations(definition.labelNames, { ...known, ...zeros }))
        counter.inc(labels, 0);
      return added(definition.name, counter);
    },
    gauge: (definition) => {
      const found = byName.get(definition.name);
      return added(
        definition.name,
        found instanceof Gauge ? found : new Gauge({ ...definition, registers: [] }),
      );
    },
    histogram: ({ zeros, ...definition }) => {
      const found = byName.get(definition.name);
      const options = { ...definition, buckets: [...definition.buckets], registers: [] };
      const histogram = found instanceof Histogram ? found : new Histogram(options);
      for (const labels of combinations(definition.labelNames, { ...known, ...zeros }))
        beginHistogram(histogram, labels);
      return added(definition.name, histogram);
    },
  };
}

type Labels<L extends string> = Partial<Record<L, string>>;

/** Returns all combinations of the labels' known values, or none if a label's values are unknown. */
function combinations<L extends string>(
  names: readonly L[] = [],
  values: Readonly<Partial<Record<string, readonly string[]>>>,
): readonly Labels<L>[] {
  if (names.length === 0) return [];
  return names.reduce<readonly Labels<L>[]>(
    (all, name) =>
      all.flatMap((labels) => (values[name] ?? []).map((value) => ({ ...labels, [name]: value }))),
    [{}],
  );
}
