import { Gauge, Histogram, type Registry } from "prom-client";

export function metricFactory(registry: Registry) {
  const registers = [registry];
  return {
    gauge: <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
  };
}
