import { withDeadline } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { bad, good, type Result } from "../../base/result.ts";
import type { SourcesConfig } from "../config.ts";
import { readMetricsPage } from "./metrics-page.ts";
import { isNodeSeries, type NodeReading, toNodeReading } from "./node-reading.ts";
import type { PageReader } from "./page-reader.ts";
import { priceUrls, type PricesReading, readPrices } from "./prices-reading.ts";
import { isOraclePageSeries, type OraclePageReading, toOraclePageReading } from "./oracle-metrics-reading.ts";
import { type SourceFailure, toSourceFailure } from "./source-failure.ts";

/** The four places that are looked at. */
export const SOURCE_NAMES = ["node", "prices", "oracle-metrics", "sidecar-metrics"] as const;

/** One of {@link SOURCE_NAMES}. */
export type SourceName = (typeof SOURCE_NAMES)[number];

/** One look at one source. */
export interface Look<T> {
  readonly outcome: Result<T, SourceFailure>;
  readonly tookMs: number;
}

/** One look at everything. A source without URL is absent. */
export interface Observation {
  /** Wall clock at the end of the look. */
  readonly atMs: number;
  readonly node: Look<NodeReading>;
  readonly prices: Look<PricesReading>;
  readonly oracleMetrics?: Look<OraclePageReading>;
  readonly sidecarMetrics?: Look<OraclePageReading>;
}

/** What looking needs. */
export interface ObserverDeps {
  readonly clock: Clock;
  readonly read: PageReader;
}

/** Looks at all sources at the same time; a source that fails is an error in the observation. Rejects only on abort. */
export type Observer = (chainId: string | undefined, signal: AbortSignal) => Promise<Observation>;

/** Creates an observer; it remembers which price path answered last. */
export function createObserver(config: SourcesConfig, deps: ObserverDeps): Observer {
  let urls = priceUrls(config.prices);
  const look = createLook(config.deadlineMs, deps);
  const page = (url: string, wants: (name: string) => boolean, signal: AbortSignal) =>
    readMetricsPage({ url, maxBytes: config.maxPageBytes, wants }, deps.read, signal);
  const oraclePage = (url: string | undefined, signal: AbortSignal) =>
    url === undefined
      ? undefined
      : look("oracle page", signal, async (inner) =>
          toOraclePageReading(await page(url, isOraclePageSeries, inner)),
        );
  const prices = async (signal: AbortSignal): Promise<PricesReading> => {
    const reading = await readPrices(urls, deps.read, signal);
    urls = [reading.url, ...urls.filter((url) => url !== reading.url)];
    return reading;
  };
  return async (chainId, signal) => {
    const [node, price, oracleMetrics, sidecarMetrics] = await Promise.all([
      look("node", signal, async (inner) =>
        toNodeReading(await page(config.node, isNodeSeries, inner), chainId),
      ),
      look("prices", signal, prices),
      oraclePage(config.oracleMetrics, signal),
      oraclePage(config.sidecarMetrics, signal),
    ]);
    return {
      atMs: deps.clock.nowMs(),
      node,
      prices: price,
      ...(oracleMetrics === undefined ? {} : { oracleMetrics }),
      ...(sidecarMetrics === undefined ? {} : { sidecarMetrics }),
    };
  };
}

type LookAt = <T>(
  what: string,
  signal: AbortSignal,
  read: (signal: AbortSignal) => Promise<T>,
) => Promise<Look<T>>;

function createLook(deadlineMs: number, { clock }: ObserverDeps): LookAt {
  return async (what, signal, read) => {
    const begin = clock.monotonicMs();
    const outcome = await withDeadline(what, deadlineMs, signal, read).then(good, (thrown: unknown) => {
      if (signal.aborted) throw thrown;
      return bad(toSourceFailure(thrown));
    });
    return { outcome, tookMs: clock.monotonicMs() - begin };
  };
}
