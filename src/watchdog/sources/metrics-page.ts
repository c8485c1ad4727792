import type { Sample } from "../prometheus/line-parser.ts";
import { createPrometheusTextParser } from "../prometheus/text-parser.ts";
import { drain, eachChunk, type PageReader, statusError } from "./page-reader.ts";

/** How to read a metrics page. */
export interface MetricsPageOptions {
  readonly url: string;
  readonly maxBytes: number;
  /** The series to keep: pages of 5 MB are common, and a few lines of them matter. */
  readonly wants: (name: string) => boolean;
}

/** Samples of a metrics page, parsed as it arrives. @throws {PrometheusTextError | SourceError} */
export async function readMetricsPage(
  options: MetricsPageOptions,
  read: PageReader,
  signal: AbortSignal,
): Promise<readonly Sample[]> {
  const page = await read(options.url, signal);
  if (page.status !== 200) {
    await drain(page);
    throw statusError(page.status);
  }
  const samples: Sample[] = [];
  const parser = createPrometheusTextParser({
    sample: (sample) => {
      if (options.wants(sample.name)) samples.push(sample);
    },
  });
  await eachChunk(page, options.maxBytes, parser.push);
  parser.end();
  return samples;
}
