import type { Registry } from "prom-client";
import {
  knownSeries,
  registerStatusMetrics,
  type Series,
  type StatusMetric,
} from "../../platform/process/status-metrics.ts";

/** A value, or values by label. Undefined: the series is absent. True is 1, and false is 0. */
export type GaugeValue =
  | number
  | bigint
  | boolean
  | undefined
  | readonly (readonly [label: string, value: GaugeValue])[];

/** A gauge whose values come from a status `S`. */
export interface GaugeRow<S> {
  readonly help: string;
  /** The labels of the values, outermost first. Default: none. */
  readonly by?: readonly string[];
  readonly read: (status: S) => GaugeValue;
}

/** Registers gauges, by name, for one section of `docs/metrics.md`. All are absent while the status is undefined. */
export function registerGauges<S>(
  registry: Registry,
  question: NonNullable<StatusMetric<S>["question"]>,
  rows: Readonly<Record<string, GaugeRow<S>>>,
  status: () => S | undefined,
): void {
  const metrics = Object.entries(rows).map(
    ([name, { help, by = [], read }]): StatusMetric<S> => ({
      name,
      help,
      question,
      labelNames: by,
      values: (current) => seriesOf(read(current), by, {}),
    }),
  );
  registerStatusMetrics(registry, metrics, status);
}

function seriesOf(
  value: GaugeValue,
  [label = "", ...inner]: readonly string[],
  labels: Series["labels"],
): readonly Series[] {
  if (typeof value !== "object")
    return knownSeries(typeof value === "boolean" ? Number(value) : value, labels);
  return value.flatMap(([key, one]) => seriesOf(one, inner, { ...labels, [label]: key }));
}

export function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

/** Returns a value for each label: 1 for the current label, and 0 for the others. */
export function oneOf(labels: readonly string[], current: string): GaugeValue {
  return labels.map((label) => [label, label === current]);
}
