import {
  createPrometheusTextParser,
  type PageLimits,
  type Sample,
} from "../../../src/watchdog/prometheus/text-parser.ts";

/** What one page has. */
export interface PrometheusPage {
  readonly samples: readonly Sample[];
  /** Types of the families, by name, as the comments have them. */
  readonly types: ReadonlyMap<string, string>;
  /** Lines that were skipped. */
  readonly skipped: number;
}

/** Parses a page that is in memory. Throws {@link PrometheusTextError}. `needs`: default all metrics. */
export function parsePrometheusText(
  bytes: Uint8Array,
  limits: PageLimits = {},
  needs: (metric: string) => boolean = () => true,
): PrometheusPage {
  const samples: Sample[] = [];
  const parser = createPrometheusTextParser({ needs, sample: (sample) => samples.push(sample) }, limits);
  parser.push(bytes);
  const types = Buffer.from(bytes)
    .toString("utf8")
    .matchAll(/^# TYPE (\S+) (\S+)$/gm);
  return {
    samples,
    skipped: parser.end(),
    types: new Map([...types].map(([, name = "", type = ""]) => [name, type])),
  };
}
