import { Counter, Gauge, Histogram, type Metric, type Registry } from "prom-client";
import type { MetricDefinition } from "./metrics.ts";

/** Metrics by name that stay while the services behind them end and start again: a reload resets no counter. */
export interface LastingMetrics {
  readonly byName: Map<string, Metric>;
  /** Labels of the series of histograms that have begun, as JSON. */
  readonly begun: WeakMap<Metric, Set<string>>;
}

/** Creates an empty set, for the life of a process. */
export function createLastingMetrics(): LastingMetrics {
  return { byName: new Map(), begun: new WeakMap() };
}

type Definition<L extends string> = Omit<MetricDefinition<L>, "question"> &
  Partial<Pick<MetricDefinition, "question">>;

/** Creates metrics in a registry, or adds those that exist with their values. */
export interface MetricFactory {
  readonly counter: <L extends string>(definition: Definition<L>) => Counter<L>;
  readonly gauge: <L extends string>(definition: Definition<L>) => Gauge<L>;
  readonly histogram: <L extends string>(
    definition: Definition<L> & { readonly buckets: readonly number[] },
  ) => Histogram<L>;
  /** Shows a series of a histogram that has no observation yet. */
  readonly begin: <L extends string>(
    histogram: Histogram<L>,
    labels: Readonly<Partial<Record<L, string>>>,
  ) => void;
}

/** Creates a factory for one generation of services. Without `lasting`, all metrics are new. */
export function createMetricFactory(registry: Registry, lasting = createLastingMetrics()): MetricFactory {
  const { byName, begun } = lasting;
  const added = <M extends Metric>(name: string, metric: M): M => {
    registry.registerMetric(metric);
    byName.set(name, metric);
    return metric;
  };
  return {
    counter: (definition) => {
      const found = byName.get(definition.name);
      return added(
        definition.name,
        found instanceof Counter ? found : new Counter({ ...definition, registers: [] }),
      );
    },
    gauge: (definition) => {
      const found = byName.get(definition.name);
      return added(
        definition.name,
        found instanceof Gauge ? found : new Gauge({ ...definition, registers: [] }),
      );
    },
    histogram: (definition) => {
      const found = byName.get(definition.name);
      const options = { ...definition, buckets: [...definition.buckets], registers: [] };
      return added(definition.name, found instanceof Histogram ? found : new Histogram(options));
    },
    begin: (histogram, labels) => {
      const series = begun.get(histogram) ?? new Set();
      begun.set(histogram, series);
      const key = JSON.stringify(labels);
      // A second zero would erase the observations.
      if (!series.has(key)) histogram.zero(labels);
      series.add(key);
    },
  };
}
