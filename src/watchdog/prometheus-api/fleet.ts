import { abortReason, raceAbort } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { NODE_METRICS } from "../sources/node-reading.ts";
import { SIDECAR_METRICS } from "../sources/sidecar-reading.ts";
import { type Labels, type SelectorOf, selectorsOf, type ValidatorTarget } from "../sources/targets.ts";
import type { ReadSamples, Series } from "./api-client.ts";
import { createStoredPages, type StoredPages } from "./stored-pages.ts";
import { TARGET_METRICS } from "./stored-scrapes.ts";

export interface FleetOptions {
  readonly validators: readonly ValidatorTarget[];
  readonly intervalMs: number;
  readonly staleMs: number;
}

export interface FleetDeps {
  readonly read: ReadSamples;
  readonly clock: Clock;
  /** Ends the queries. */
  readonly signal: AbortSignal;
}

/** Creates the reader of all validators whose metrics come from Prometheus. */
export function createFleet({ validators, intervalMs, staleMs }: FleetOptions, deps: FleetDeps): StoredPages {
  const nodes = validators.filter(({ isStored }) => isStored).flatMap((one) => one.nodes);
  const common = {
    // Two scrapes of the sidecar show which prices it updates.
    rangeMs: 2 * staleMs,
    // The polls of all validators begin within one interval, and each gets a result of its own interval.
    shareMs: intervalMs / 2,
  };
  return createStoredPages({
    nodes: createSharedQuery(
      { metrics: [...TARGET_METRICS, ...NODE_METRICS], sets: distinct(nodes.map(nodeLabels)), ...common },
      deps,
    ),
    sidecars: createSharedQuery(
      {
        metrics: [...TARGET_METRICS, ...SIDECAR_METRICS],
        sets: distinct(nodes.map(sidecarLabels)),
        ...common,
      },
      deps,
    ),
    read: deps.read,
    staleMs,
  });
}

type LabelsOf = Pick<ValidatorTarget["nodes"][number], "labels" | "sidecarLabels">;

/** Labels of a node's series. */
export function nodeLabels({ labels }: LabelsOf): Labels {
  return labels ?? {};
}

/** Labels of the series of a node's sidecar. */
export function sidecarLabels({ labels, sidecarLabels: own }: LabelsOf): Labels {
  return own ?? labels ?? {};
}

function distinct(sets: readonly Labels[]): readonly Labels[] {
  return [...new Map(sets.map((set) => [JSON.stringify(set), set])).values()];
}

/** The series of one target or of several, and the time of the query. */
export interface Selected {
  readonly series: readonly Series[];
  readonly atMs: number;
}

/** Returns the series with these labels. The labels must be some that the query was created for. */
export type SharedQuery = (labels: Labels, signal: AbortSignal) => Promise<Selected>;

interface SharedQueryOptions {
  /** Patterns of metric names. */
  readonly metrics: readonly string[];
  /** Labels of all targets. */
  readonly sets: readonly Labels[];
  readonly rangeMs: number;
  /** A result is returned to all who ask within this time. */
  readonly shareMs: number;
}

interface SharedQueryDeps {
  readonly read: ReadSamples;
  readonly clock: Clock;
  /** Ends the queries. */
  readonly signal: AbortSignal;
}

/** Result of one query: series by the labels that they were selected by. */
interface Result {
  readonly atMs: number;
  readonly byLabels: ReadonlyMap<string, readonly Series[]>;
}

interface Chunk extends SelectorOf {
  latest?: { readonly startedMs: number; readonly result: Promise<Result> };
}

/**
 * Creates a query that the polls of all validators share: one request for each 100 targets, however many polls ask for
 * them at the same time.
 */
function createSharedQuery(options: SharedQueryOptions, deps: SharedQueryDeps): SharedQuery {
  const { metrics, sets, rangeMs, shareMs } = options;
  const { read, clock, signal: end } = deps;
  const chunkOf = new Map<string, Chunk>();
  for (const chunk of selectorsOf(metrics, sets).map((one): Chunk => ({ ...one })))
    for (const set of chunk.sets) chunkOf.set(keyOf(set), chunk);
  const start = async ({ selector, sets: own }: Chunk): Promise<Result> => {
    const atMs = clock.nowMs();
    const series = await read(selector, { atMs, rangeMs }, end);
    return { atMs, byLabels: indexOf(series, Object.keys(own[0] ?? {})) };
  };
  return async (labels, signal) => {
    if (end.aborted) throw abortReason(end);
    const key = keyOf(labels);
    const chunk = chunkOf.get(key);
    if (chunk === undefined) return { series: [], atMs: clock.nowMs() };
    const nowMs = clock.monotonicMs();
    if (chunk.latest === undefined || nowMs - chunk.latest.startedMs >= shareMs) {
      const result = start(chunk);
      // Whoever waits gets the error; nobody may wait any more.
      result.catch(() => {});
      chunk.latest = { startedMs: nowMs, result };
    }
    const { atMs, byLabels } = await raceAbort(chunk.latest.result, signal);
    return { atMs, series: byLabels.get(key) ?? [] };
  };
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
