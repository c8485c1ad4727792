import { withDeadline } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { bad, good, type Result } from "../../base/result.ts";
import type { Sample } from "../prometheus/line-parser.ts";
import { createPrometheusTextParser } from "../prometheus/text-parser.ts";
import { isNodeSeries, type NodeReading, toNodeReading } from "./node-reading.ts";
import {
  isOracleMetricsSeries,
  type OracleMetricsReading,
  toOracleMetricsReading,
} from "./oracle-metrics-reading.ts";
import { forEachChunk, type PageReader, requireOk } from "./page-reader.ts";
import { priceUrls, type PricesReading, readPrices } from "./prices-reading.ts";
import { SourceError, type SourceFailure, toSourceFailure } from "./source-failure.ts";

/** All sources, in the order of the API. */
export const SOURCE_NAMES = ["node", "prices", "oracle-metrics", "sidecar-metrics"] as const;

/** One of {@link SOURCE_NAMES}. */
export type SourceName = (typeof SOURCE_NAMES)[number];

/** URLs and limits of the sources. A source without a URL is not scraped. */
export interface SourcesConfig {
  readonly node: string;
  readonly prices: string;
  readonly oracleMetrics?: string;
  readonly sidecarMetrics?: string;
  /** Limit for one scrape of one source, including the body. */
  readonly deadlineMs: number;
  readonly maxPageBytes: number;
}

/** Result of one scrape of one source. */
export interface Scrape<T> {
  readonly outcome: Result<T, SourceFailure>;
  readonly durationMs: number;
}

/** Result of one poll: one scrape of every source that has a URL. */
export interface Poll {
  /** Wall clock at the end of the poll. */
  readonly atMs: number;
  readonly node: Scrape<NodeReading>;
  readonly prices: Scrape<PricesReading>;
  readonly oracleMetrics?: Scrape<OracleMetricsReading>;
  readonly sidecarMetrics?: Scrape<OracleMetricsReading>;
}

/**
 * Scrapes all sources in parallel. Rejects only on abort; a source that fails is a failed outcome. `chainId` is the chain
 * that the node must be on; undefined accepts any single chain.
 */
export type Poller = (chainId: string | undefined, signal: AbortSignal) => Promise<Poll>;

export interface PollerDeps {
  readonly clock: Clock;
  readonly read: PageReader;
}

/** Creates a poller. For prices, it tries first the path that responded at the last poll. */
export function createPoller(config: SourcesConfig, deps: PollerDeps): Poller {
  let urls = priceUrls(config.prices);
  const scrape = createScrape(config.deadlineMs, deps.clock);
  const page = (url: string, wants: (name: string) => boolean, signal: AbortSignal) =>
    readMetricsPage({ url, maxBytes: config.maxPageBytes, wants }, deps.read, signal);
  const oracleMetricsPage = (url: string | undefined, signal: AbortSignal) =>
    url === undefined
      ? undefined
      : scrape("the metrics page", signal, async (inner) =>
          toOracleMetricsReading(await page(url, isOracleMetricsSeries, inner)),
        );
  const scrapePrices = async (signal: AbortSignal): Promise<PricesReading> => {
    const reading = await readPrices(urls, deps.read, signal);
    urls = [reading.url, ...urls.filter((url) => url !== reading.url)];
    return reading;
  };
  return async (chainId, signal) => {
    const [node, prices, oracleMetrics, sidecarMetrics] = await Promise.all([
      scrape("the node's metrics page", signal, async (inner) =>
        toNodeReading(await page(config.node, isNodeSeries, inner), chainId),
      ),
      scrape("the price API", signal, scrapePrices),
      oracleMetricsPage(config.oracleMetrics, signal),
      oracleMetricsPage(config.sidecarMetrics, signal),
    ]);
    return {
      atMs: deps.clock.nowMs(),
      node,
      prices,
      ...(oracleMetrics === undefined ? {} : { oracleMetrics }),
      ...(sidecarMetrics === undefined ? {} : { sidecarMetrics }),
    };
  };
}

/** Returns the scrapes of a poll by source, in the order of {@link SOURCE_NAMES}. A source without a URL is absent. */
export function scrapesOf(poll: Poll): readonly (readonly [SourceName, Scrape<unknown>])[] {
  return [
    ["node", poll.node],
    ["prices", poll.prices],
    ...(poll.oracleMetrics === undefined ? [] : [["oracle-metrics", poll.oracleMetrics] as const]),
    ...(poll.sidecarMetrics === undefined ? [] : [["sidecar-metrics", poll.sidecarMetrics] as const]),
  ];
}

type ScrapeSource = <T>(
  what: string,
  signal: AbortSignal,
  read: (signal: AbortSignal) => Promise<T>,
) => Promise<Scrape<T>>;

function createScrape(deadlineMs: number, clock: Clock): ScrapeSource {
  return async (what, signal, read) => {
    const startMs = clock.monotonicMs();
    const outcome = await withDeadline(what, deadlineMs, signal, read).then(good, (error: unknown) => {
      if (signal.aborted) throw error;
      return bad(toSourceFailure(error));
    });
    return { outcome, durationMs: clock.monotonicMs() - startMs };
  };
}

interface MetricsPageOptions {
  readonly url: string;
  readonly maxBytes: number;
  readonly wants: (name: string) => boolean;
}

/**
 * Reads the wanted samples of a metrics page. Throws `PrometheusTextError` and `SourceError`, also for a series that the
 * page has twice: its values would be added.
 */
async function readMetricsPage(
  { url, maxBytes, wants }: MetricsPageOptions,
  read: PageReader,
  signal: AbortSignal,
): Promise<readonly Sample[]> {
  const page = await requireOk(await read(url, signal));
  const samples = new Map<string, Sample>();
  // A node's page can have 5 MB, and the watchdog needs a few lines of it. The parser gets each chunk as it arrives, and
  // only wanted samples stay in memory.
  const parser = createPrometheusTextParser({
    sample: (sample) => {
      if (!wants(sample.name)) return;
      const series = seriesOf(sample);
      if (samples.has(series))
        throw new SourceError({ code: "not-metrics" }, `the page has the duplicate series ${clip(series)}`);
      samples.set(series, sample);
    },
  });
  await forEachChunk(page, maxBytes, parser.push);
  parser.end();
  return [...samples.values()];
}

/** Identifies a series: its name and its labels in any order. */
function seriesOf({ name, labels }: Sample): string {
  const pairs = [...labels].map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? name : `${name}{${pairs.toSorted().join(",")}}`;
}

function clip(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
