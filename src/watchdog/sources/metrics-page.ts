import type { Sample } from "../prometheus/line-parser.ts";
import { createPrometheusTextParser } from "../prometheus/text-parser.ts";
import { forEachChunk, type PageReader, requireOk } from "./page-reader.ts";
import { SourceError } from "./source-failure.ts";

/** The wanted samples of one page. */
export interface MetricsPage {
  readonly samples: readonly Sample[];
  /** Clock of the server, from its `Date` header. */
  readonly clockMs?: number;
}

/** Where a page is, and which of its samples are wanted. */
export interface MetricsPageOptions {
  readonly url: string;
  readonly maxBytes: number;
  readonly wants: (sample: Sample) => boolean;
}

/**
 * Reads the wanted samples of a metrics page. Throws `PrometheusTextError` and `SourceError`, also for a series that the
 * page has twice: its values would be added.
 */
export async function readMetricsPage(
  { url, maxBytes, wants }: MetricsPageOptions,
  read: PageReader,
  signal: AbortSignal,
): Promise<MetricsPage> {
  const page = await requireOk(await read(url, signal));
  const samples = new Map<string, Sample>();
  // A node's page can have 5 MB, and the watchdog needs a few lines of it. The parser gets each chunk as it arrives, and
  // only wanted samples stay in memory.
  const parser = createPrometheusTextParser({
    sample: (sample) => {
      if (!wants(sample)) return;
      const series = seriesOf(sample);
      if (samples.has(series))
        throw new SourceError({ code: "not-metrics" }, `the page has the duplicate series ${clip(series)}`);
      samples.set(series, ownSample(sample));
    },
  });
  await forEachChunk(page, maxBytes, parser.push);
  parser.end();
  return { samples: [...samples.values()], ...(page.clockMs === undefined ? {} : { clockMs: page.clockMs }) };
}

/**
 * Copies the texts of a sample. The engine keeps a part of a text as a reference into the whole page, so a label of a few
 * characters that stays in the state would keep 100 kB.
 */
function ownSample({ labels, ...rest }: Sample): Sample {
  return {
    ...rest,
    name: ownText(rest.name),
    labels: new Map([...labels].map(([label, value]) => [ownText(label), ownText(value)])),
  };
}

function ownText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

/** Identifies a series: its name and its labels in any order. */
function seriesOf({ name, labels }: Sample): string {
  const pairs = [...labels].map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? name : `${name}{${pairs.toSorted().join(",")}}`;
}

function clip(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
