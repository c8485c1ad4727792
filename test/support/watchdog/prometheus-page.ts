import type { MetricType, Sample } from "../../../src/watchdog/prometheus/line-parser.ts";
import {
  createPrometheusTextParser,
  type PageLimits,
  type PrometheusSink,
} from "../../../src/watchdog/prometheus/text-parser.ts";

/** All samples and comments of one page. */
export interface PrometheusPage {
  readonly samples: readonly Sample[];
  readonly help: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, MetricType>;
}

/** Parses a page that is in memory. Throws {@link PrometheusTextError}. */
export function parsePrometheusText(bytes: Uint8Array, limits: PageLimits = {}): PrometheusPage {
  const samples: Sample[] = [];
  const help = new Map<string, string>();
  const types = new Map<string, MetricType>();
  const sink: PrometheusSink = {
    sample: (sample) => samples.push(sample),
    help: (name, text) => help.set(name, text),
    type: (name, type) => types.set(name, type),
  };
  const parser = createPrometheusTextParser(sink, limits);
  parser.push(bytes);
  parser.end();
  return { samples, help, types };
}
