import { abortReason, raceAbort } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { isoTime } from "../../platform/base/time.ts";
import {
  CALL_METRICS,
  isNodeFamily,
  isNodeSample,
  NODE_METRICS,
  REPORTS_METRIC,
  toNodeReading,
} from "../sources/node-reading.ts";
import { type NodeReading, onSourceError, type PricesReading, SourceError } from "../sources/observation.ts";
import { isSidecarFamily, SIDECAR_METRICS, toSidecarReading } from "../sources/sidecar-reading.ts";
import { nodeLabels, selectorsOf, sidecarLabels } from "../sources/targets.ts";
import type { Labels, NodeTarget, SelectorOf, ValidatorTarget } from "../sources/targets.ts";
import type { ReadSamples, Series } from "./api-client.ts";
import { findTarget, labelsText, lastFailureMs, TARGET_METRICS } from "./stored-scrapes.ts";
import type { StoredScrape, StoredTarget } from "./stored-scrapes.ts";
import type { StoredNodeOptions, StoredReadings } from "../polling/poller.ts";

interface FleetOptions {
  readonly validators: readonly ValidatorTarget[];
  readonly intervalMs: number;
  readonly staleMs: number;
}

/** Creates a reader for all validators whose metrics come from Prometheus. */
export function createFleet(
  { validators, intervalMs, staleMs }: FleetOptions,
  deps: SharedQueryDeps,
): StoredReadings {
  const nodes = validators.filter(({ isStored }) => isStored).flatMap((one) => one.nodes);
  const query = (metrics: readonly string[], labelsOf: (node: NodeTarget) => Labels): SharedQuery => {
    const sets = new Map(nodes.map(labelsOf).map((set) => [JSON.stringify(set), set]));
    const options = {
      metrics: [...TARGET_METRICS, ...metrics],
      sets: [...sets.values()],
      // Read two scrapes of the sidecar, because only the difference between two scrapes shows which prices are being updated.
      rangeMs: 2 * staleMs,
      // The polls of all validators start within one interval and share a result. The next interval's polls need a new result.
      shareMs: intervalMs / 2,
    };
    return createSharedQuery(options, deps);
  };
  return createStoredReadings({
    nodes: query(NODE_METRICS, nodeLabels),
    sidecars: query(SIDECAR_METRICS, sidecarLabels),
    read: deps.read,
    staleMs,
  });
}

interface StoredReadingsDeps {
  readonly nodes: SharedQuery;
  readonly sidecars: SharedQuery;
  readonly read: ReadSamples;
  /** If the newest sample is older than this, the target is treated as unreadable. */
  readonly staleMs: number;
}

function createStoredReadings({ nodes, sidecars, read, staleMs }: StoredReadingsDeps): StoredReadings {
  const freshSidecar = async (labels: Labels, signal: AbortSignal) => {
    const selected = await sidecars(labels, signal);
    const target = findTarget(selected.series, labels, isSidecarFamily);
    return requireFresh(target, { ...selected, labels, staleMs, what: "the sidecar" });
  };
  return {
    node: async (labels, options, signal) => {
      const selected = await nodes(labels, signal);
      const found = findTarget(selected.series, labels, isNodeFamily);
      const target = requireFresh(found, { ...selected, labels, staleMs, what: "the node" });
      const reports = await readReports(target, labels, options, (selector) =>
        read(selector, { atMs: selected.atMs, rangeMs: staleMs }, signal),
      );
      return toStoredReading(target.latest, reports, options);
    },
    sidecar: async (labels, signal) => toSidecarReading((await freshSidecar(labels, signal)).latest.samples),
    prices: async (labels, signal) => toPrices((await freshSidecar(labels, signal)).scrapes),
  };
}

function toStoredReading(
  { atMs, samples }: StoredScrape,
  reports: readonly StoredScrape[],
  options: StoredNodeOptions,
): NodeReading {
  const own = reports.find((scrape) => scrape.atMs === atMs)?.samples ?? [];
  const wanted = [...samples, ...own].filter((sample) => isNodeSample(sample, options.consensusAddress));
  return { ...toNodeReading(wanted, options), sampledAtMs: atMs };
}

const LEDGER_METRICS = [...TARGET_METRICS, ...CALL_METRICS];

/** Returns a node's readings from the scrapes that Prometheus stored in (fromMs, toMs], oldest first. */
export type StoredHistory = (
  labels: Labels,
  time: { readonly fromMs: number; readonly toMs: number },
  options: StoredNodeOptions,
  signal: AbortSignal,
) => Promise<readonly NodeReading[]>;

/** Creates a reader of past scrapes, which omits invalid scrapes. */
export function createStoredHistory(read: ReadSamples): StoredHistory {
  return async (labels, { fromMs, toMs }, options, signal) => {
    const range = { atMs: toMs, rangeMs: toMs - fromMs };
    const [only] = selectorsOf(LEDGER_METRICS, [labels]);
    if (only === undefined) return [];
    const target = findTarget(await read(only.selector, range, signal), labels, isNodeFamily);
    if (target === undefined) return [];
    const reports = await readReports(target, labels, options, (selector) => read(selector, range, signal));
    return target.scrapes
      .filter(({ atMs }) => atMs > fromMs && atMs <= toMs)
      .flatMap((scrape) => {
        try {
          return [toStoredReading(scrape, reports, options)];
        } catch (error) {
          return onSourceError(() => [])(error);
        }
      });
  };
}

/** Reads the results of one validator's vote extensions from one node, which exports one series per validator, pair and result. */
async function readReports(
  { labels: own }: StoredTarget,
  labels: Labels,
  { consensusAddress }: StoredNodeOptions,
  query: (selector: string) => ReturnType<ReadSamples>,
): Promise<readonly StoredScrape[]> {
  if (consensusAddress === undefined) return [];
  const name = own.has("validator") ? "exported_validator" : "validator";
  const [only] = selectorsOf([REPORTS_METRIC], [{ ...labels, [name]: consensusAddress }]);
  if (only === undefined) return [];
  // `findTarget` needs an `up` series, which this query doesn't read. Add an `up` series with the labels from the previous query.
  const known = { name: "up", labels: own, points: [] };
  const series = [known, ...(await query(only.selector))];
  return findTarget(series, Object.fromEntries(own), isNodeFamily)?.scrapes ?? [];
}

/** Throws {@link SourceError} if the latest stored scrape is too old, or if a later scrape has failed. */
function requireFresh(
  target: StoredTarget | undefined,
  of: Selected & { readonly labels: Labels; readonly staleMs: number; readonly what: string },
): StoredTarget & { readonly latest: StoredScrape } {
  const { labels, staleMs, what, atMs, series } = of;
  const latest = target?.scrapes.at(-1);
  const failedAtMs = target === undefined ? lastFailureMs(series, labels) : target.failedAtMs;
  if (failedAtMs !== undefined && failedAtMs > (latest?.atMs ?? 0))
    throw new SourceError(
      { code: "unreachable" },
      `Prometheus could not scrape ${what} at ${isoTime(failedAtMs)}`,
    );
  if (target === undefined || latest === undefined)
    throw new SourceError(
      { code: "stale" },
      `Prometheus has no metrics for ${what} with ${labelsText(labels)} from the last ${staleMs / 500} s`,
    );
  if (atMs - latest.atMs > staleMs)
    throw new SourceError(
      { code: "stale" },
      `the latest sample of ${what} is ${Math.round((atMs - latest.atMs) / 1000)} s old, which is more than prometheus.stale_after`,
    );
  return { ...target, latest };
}

function toPrices(scrapes: readonly StoredScrape[]): PricesReading {
  const [before, latest] = scrapes.slice(-2).map(({ samples }) => toSidecarReading(samples));
  if (before === undefined || latest === undefined)
    throw new SourceError(
      { code: "stale" },
      "Prometheus has only one scrape of the sidecar, but it takes two to see which prices are updated; prometheus.stale_after must be at least the scrape interval",
    );
  if (latest.systemUpdates === before.systemUpdates)
    throw new SourceError(
      { code: "stale" },
      "the sidecar's price loop made no update between its last two scrapes",
    );
  const pairs = [...latest.tickerUpdates].filter(([pair, count]) => {
    const known = before.tickerUpdates.get(pair) ?? 0n;
    // A counter that is below its earlier value was reset to zero.
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

/** The series of one or more targets, with the time of the query. */
interface Selected {
  readonly series: readonly Series[];
  readonly atMs: number;
}

/** Returns the series with the given labels, which must be one of the label sets in {@link SharedQueryOptions}. */
type SharedQuery = (labels: Labels, signal: AbortSignal) => Promise<Selected>;

interface SharedQueryOptions {
  /** Regular expressions for the names of the metrics to query. */
  readonly metrics: readonly string[];
  /** The label sets that select the targets, one set per target. */
  readonly sets: readonly Labels[];
  readonly rangeMs: number;
  /** Calls made within this time share the same result. */
  readonly shareMs: number;
}

interface SharedQueryDeps {
  readonly read: ReadSamples;
  readonly clock: Clock;
  /** Aborts all running queries. */
  readonly signal: AbortSignal;
}

/** The result of one query, with the series grouped by the labels in the selector. */
interface Result {
  readonly atMs: number;
  readonly byLabels: ReadonlyMap<string, readonly Series[]>;
}

interface Chunk extends SelectorOf {
  /** Number of targets in the query before it was split. */
  readonly of: number;
  latest?: { readonly startedMs: number; readonly result: Promise<Result> };
}

/** The parts of a split query may together use this multiple of the limits for one query. */
const MAX_SHARES = 4;

/**
 * Creates a query that all validators' polls share. There is one request per 100 targets, even if many polls need the targets at
 * the same time. If a response is too large, the query is split in two until the process ends. A split query may only use a share
 * of the limits (see {@link MAX_SHARES}), so that a target with too many series does not block other targets.
 */
function createSharedQuery(options: SharedQueryOptions, deps: SharedQueryDeps): SharedQuery {
  const { metrics, sets, rangeMs, shareMs } = options;
  const { read, clock, signal: end } = deps;
  const chunkOf = new Map<string, Chunk>();
  const add = (own: readonly Labels[], of?: number): void => {
    for (const one of selectorsOf(metrics, own)) {
      const chunk: Chunk = { ...one, of: of ?? one.sets.length };
      for (const set of chunk.sets) chunkOf.set(keyOf(set), chunk);
    }
  };
  add(sets);
  const start = async ({ selector, sets: own, of }: Chunk): Promise<Result> => {
    const atMs = clock.nowMs();
    const share = Math.min(1, (MAX_SHARES * own.length) / of);
    const series = await read(selector, { atMs, rangeMs, share }, end);
    return { atMs, byLabels: indexOf(series, Object.keys(own[0] ?? {})) };
  };
  const ask = async (key: string, signal: AbortSignal): Promise<Selected> => {
    if (end.aborted) throw abortReason(end);
    const chunk = chunkOf.get(key);
    if (chunk === undefined) return { series: [], atMs: clock.nowMs() };
    const nowMs = clock.monotonicMs();
    if (chunk.latest === undefined || nowMs - chunk.latest.startedMs >= shareMs) {
      const result = start(chunk);
      // Mark the rejection as handled, because all callers that would get the error may have been aborted.
      result.catch(() => {});
      chunk.latest = { startedMs: nowMs, result };
    }
    try {
      const { atMs, byLabels } = await raceAbort(chunk.latest.result, signal);
      return { atMs, series: byLabels.get(key) ?? [] };
    } catch (error) {
      const isTooLarge = error instanceof SourceError && error.facts.code === "too-large";
      if (!isTooLarge || chunk.sets.length === 1) throw error;
      const half = Math.ceil(chunk.sets.length / 2);
      // Only the first caller that gets the error splits the query.
      if (chunkOf.get(key) === chunk)
        for (const part of [chunk.sets.slice(0, half), chunk.sets.slice(half)]) add(part, chunk.of);
      return ask(key, signal);
    }
  };
  return (labels, signal) => ask(keyOf(labels), signal);
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function indexOf(
  series: readonly Series[],
  names: readonly string[],
): ReadonlyMap<string, readonly Series[]> {
  const index = new Map<string, Series[]>();
  for (const one of series) {
    const key = keyOf(Object.fromEntries(names.map((name) => [name, one.labels.get(name) ?? ""])));
    const known = index.get(key);
    if (known === undefined) index.set(key, [one]);
    else known.push(one);
  }
  return index;
}
