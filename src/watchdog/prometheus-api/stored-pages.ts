import {
  CALL_METRICS,
  isNodeFamily,
  isNodeSample,
  REPORTS_METRIC,
  toNodeReading,
} from "../sources/node-reading.ts";
import { type NodePage, type PricesPage, type SidecarPage, SourceError } from "../sources/observation.ts";
import { isSidecarFamily, toSidecarReading } from "../sources/sidecar-reading.ts";
import { type Labels, selectorsOf } from "../sources/targets.ts";
import type { ReadSamples, Selected, SharedQuery } from "./api-client.ts";
import {
  findTarget,
  labelsText,
  lastFailureMs,
  type StoredScrape,
  type StoredTarget,
  TARGET_METRICS,
} from "./stored-scrapes.ts";

/** Whose node it is. */
export interface StoredNodeOptions {
  readonly chainId: string | undefined;
  readonly consensusAddress: string | undefined;
}

/** Reads what Prometheus stored of nodes and sidecars. All functions throw `SourceError`, also for samples that are too old. */
export interface StoredPages {
  readonly node: (labels: Labels, options: StoredNodeOptions, signal: AbortSignal) => Promise<NodePage>;
  readonly sidecar: (labels: Labels, signal: AbortSignal) => Promise<SidecarPage>;
  /** Pairs that had an update between the last two scrapes of the sidecar. */
  readonly prices: (labels: Labels, signal: AbortSignal) => Promise<PricesPage>;
}

export interface StoredPagesDeps {
  readonly nodes: SharedQuery;
  readonly sidecars: SharedQuery;
  readonly read: ReadSamples;
  /** Older samples are an error: the watchdog cannot see the target. */
  readonly staleMs: number;
}

/** Creates the reader. */
export function createStoredPages({ nodes, sidecars, read, staleMs }: StoredPagesDeps): StoredPages {
  const sidecarScrapes = async (labels: Labels, signal: AbortSignal): Promise<readonly StoredScrape[]> => {
    const selected = await sidecars(labels, signal);
    const target = findTarget(selected.series, labels, isSidecarFamily);
    return requireFresh(target, { ...selected, labels, staleMs, what: "the sidecar" }).scrapes;
  };
  return {
    node: async (labels, options, signal) => {
      const selected = await nodes(labels, signal);
      const target = requireFresh(findTarget(selected.series, labels, isNodeFamily), {
        ...selected,
        labels,
        staleMs,
        what: "the node",
      });
      const reports =
        options.consensusAddress === undefined
          ? undefined
          : await readReports(target, labels, options.consensusAddress, (selector) =>
              read(selector, { atMs: selected.atMs, rangeMs: staleMs }, signal),
            );
      const { latest } = target;
      return toStoredNode(latest, [...latest.samples, ...samplesAt(reports, latest.atMs)], options);
    },
    sidecar: async (labels, signal) => {
      const scrapes = await sidecarScrapes(labels, signal);
      return toSidecarReading(scrapes.at(-1)?.samples ?? []);
    },
    prices: async (labels, signal) => toPrices(await sidecarScrapes(labels, signal)),
  };
}

function toStoredNode(
  latest: StoredScrape,
  samples: StoredScrape["samples"],
  options: StoredNodeOptions,
): NodePage {
  const wanted = samples.filter((sample) => isNodeSample(sample, options.consensusAddress));
  return { ...toNodeReading(wanted, options), sampledAtMs: latest.atMs };
}

/** Metrics that the ledger needs. */
const LEDGER_METRICS = [...TARGET_METRICS, ...CALL_METRICS];

/** Reads the pages of one node that Prometheus stored in a time, oldest first. */
export type StoredHistory = (
  labels: Labels,
  time: { readonly fromMs: number; readonly toMs: number },
  options: StoredNodeOptions,
  signal: AbortSignal,
) => Promise<readonly NodePage[]>;

/** Creates a {@link StoredHistory}. Pages with a value outside its range are left out. */
export function createStoredHistory(read: ReadSamples): StoredHistory {
  return async (labels, { fromMs, toMs }, options, signal) => {
    const range = { atMs: toMs, rangeMs: toMs - fromMs };
    const [only] = selectorsOf(LEDGER_METRICS, [labels]);
    if (only === undefined) return [];
    const target = findTarget(await read(only.selector, range, signal), labels, isNodeFamily);
    if (target === undefined) return [];
    const reports =
      options.consensusAddress === undefined
        ? undefined
        : await readReports(target, labels, options.consensusAddress, (selector) =>
            read(selector, range, signal),
          );
    return target.scrapes
      .filter(({ atMs }) => atMs > fromMs && atMs <= toMs)
      .flatMap((latest) => {
        const samples = [...latest.samples, ...samplesAt(reports, latest.atMs)];
        return validPage(() => toStoredNode(latest, samples, options));
      });
  };
}

function validPage(read: () => NodePage): readonly NodePage[] {
  try {
    return [read()];
  } catch (error) {
    if (error instanceof SourceError) return [];
    throw error;
  }
}

/** Reads the vote extensions of one validator from one node. The node has a series for each validator, pair and result. */
async function readReports(
  { labels: own }: StoredTarget,
  labels: Labels,
  address: string,
  query: (selector: string) => ReturnType<ReadSamples>,
): Promise<StoredTarget | undefined> {
  const name = own.has("validator") ? "exported_validator" : "validator";
  const [only] = selectorsOf([REPORTS_METRIC], [{ ...labels, [name]: address }]);
  if (only === undefined) return undefined;
  // `up` and the start of the process say which target it is; here they come from the query before.
  const known = { name: "up", labels: own, points: [] };
  return findTarget([known, ...(await query(only.selector))], Object.fromEntries(own), isNodeFamily);
}

function samplesAt(target: StoredTarget | undefined, wantedMs: number): StoredScrape["samples"] {
  return target?.scrapes.find(({ atMs }) => atMs === wantedMs)?.samples ?? [];
}

interface FreshTarget extends StoredTarget {
  readonly latest: StoredScrape;
}

interface FreshnessOf extends Selected {
  readonly labels: Labels;
  readonly staleMs: number;
  readonly what: string;
}

/** Throws when there is no scrape that is recent enough, or when the scrape after it failed. */
function requireFresh(target: StoredTarget | undefined, of: FreshnessOf): FreshTarget {
  const { labels, staleMs, what, atMs, series } = of;
  const latest = target?.scrapes.at(-1);
  const failedAtMs = target === undefined ? lastFailureMs(series, labels) : target.failedAtMs;
  if (failedAtMs !== undefined && failedAtMs > (latest?.atMs ?? 0))
    throw new SourceError(
      { code: "unreachable" },
      `Prometheus could not scrape ${what} at ${new Date(failedAtMs).toISOString()}`,
    );
  if (target === undefined || latest === undefined)
    throw new SourceError(
      { code: "stale" },
      `Prometheus has no metrics of ${what} with ${labelsText(labels)} from the last ${staleMs / 500} s`,
    );
  if (atMs - latest.atMs > staleMs)
    throw new SourceError(
      { code: "stale" },
      `the latest sample of ${what} is ${Math.round((atMs - latest.atMs) / 1000)} s old, which is more than prometheus.stale_after`,
    );
  return { ...target, latest };
}

function toPrices(scrapes: readonly StoredScrape[]): PricesPage {
  const [before, latest] = scrapes.slice(-2).map(({ samples }) => toSidecarReading(samples));
  if (before === undefined || latest === undefined)
    throw new SourceError(
      { code: "stale" },
      "Prometheus has one scrape of the sidecar, and two show which prices it updates; prometheus.stale_after must be at least the scrape interval",
    );
  if (latest.systemUpdates === before.systemUpdates)
    throw new SourceError(
      { code: "stale" },
      "the sidecar's price loop made no update between its last two scrapes",
    );
  const pairs = [...latest.tickerUpdates].filter(([pair, count]) => {
    const known = before.tickerUpdates.get(pair) ?? 0n;
    // A counter that fell began again at zero.
    return count > known || (count < known && count > 0n);
  });
  return {
    isDerived: true,
    pairs: pairs.map(([pair]) => pair).toSorted(),
    prices: new Map(),
    tickedAtMs: undefined,
    version: latest.version ?? "",
    url: "",
  };
}
