import type { Sample } from "../prometheus/text-parser.ts";
import { SourceError } from "../sources/observation.ts";
import type { Series } from "./api-client.ts";
import { hasLabels, type Labels } from "../sources/targets.ts";

/** A scrape of one target, as stored by Prometheus. */
export interface StoredScrape {
  readonly atMs: number;
  /** The samples with the labels from the metrics page. The target's labels are removed. */
  readonly samples: readonly Sample[];
}

/** The scrapes of one Prometheus target, oldest first. */
export interface StoredTarget {
  /** The labels that Prometheus adds to all of the target's series. */
  readonly labels: ReadonlyMap<string, string>;
  readonly scrapes: readonly StoredScrape[];
  /** The time when a scrape last failed; undefined if no scrape failed. */
  readonly failedAtMs?: number;
}

const UP = "up";
const PROCESS_START = "process_start_time_seconds";
const RESPONSES = "app_oracle_responses";

/** The metrics that every query includes in order to find the existing targets. */
export const TARGET_METRICS: readonly string[] = [UP, PROCESS_START];

/**
 * Finds the target that has the given labels and a metric whose name `isOwn` accepts. Returns undefined if no target matches.
 * Throws {@link SourceError} if several targets match, because their counts would be added up.
 */
export function findTarget(
  series: readonly Series[],
  labels: Labels,
  isOwn: (name: string) => boolean,
): StoredTarget | undefined {
  const selected = series.filter((one) => hasLabels(one.labels, labels));
  const targets = targetsOf(selected)
    .map((target) => toTarget(target, selected))
    .filter(({ scrapes }) => scrapes.some(({ samples }) => samples.some(({ name }) => isOwn(name))));
  const [first, second] = targets;
  if (first === undefined || second === undefined) return first;
  throw new SourceError(
    { code: "several-targets" },
    `Prometheus has several targets with ${labelsText(labels)}: they differ in ${differenceText(first, second)}; add that label`,
  );
}

/** Returns when Prometheus last failed to scrape a target with the given labels; undefined if no scrape failed. */
export function lastFailureMs(series: readonly Series[], labels: Labels): number | undefined {
  const times = series
    .filter((one) => one.name === UP && hasLabels(one.labels, labels))
    .flatMap(({ points }) => points.filter(({ value }) => value === 0).map(({ atMs }) => atMs));
  return times.length === 0 ? undefined : Math.max(...times);
}

/**
 * Returns the labels of each target. The labels come from the process start time or, if this metric is missing, from `up`, because
 * these two metrics have no labels of their own. Several sets of labels mean several targets, or one target stored by two replicas.
 * Metric relabelling can change the labels of the process start time, but not the labels of `up`.
 */
function targetsOf(series: readonly Series[]): readonly ReadonlyMap<string, string>[] {
  const labelsOf = (metric: string): readonly ReadonlyMap<string, string>[] =>
    series.filter(({ name }) => name === metric).map(({ labels }) => labels);
  const starts = labelsOf(PROCESS_START);
  const others = labelsOf(UP).filter(
    (labels) => !starts.some((start) => isPart(start, labels) || isPart(labels, start)),
  );
  return [...starts, ...others];
}

function isPart(part: ReadonlyMap<string, string>, whole: ReadonlyMap<string, string>): boolean {
  return hasLabels(whole, Object.fromEntries(part));
}

function toTarget(labels: ReadonlyMap<string, string>, series: readonly Series[]): StoredTarget {
  const wanted = Object.fromEntries(labels);
  const own = series.filter((one) => hasLabels(one.labels, wanted));
  const byTime = new Map<number, Sample[]>();
  for (const one of own) {
    if (one.name === UP) continue;
    const page = { name: one.name, labels: pageLabels(one.labels, labels) };
    for (const { atMs, value } of one.points) {
      const scrape = byTime.get(atMs);
      if (scrape === undefined) byTime.set(atMs, [{ ...page, value }]);
      else scrape.push({ ...page, value });
    }
  }
  const failedAtMs = lastFailureMs(own, {});
  const scrapes = [...byTime]
    .map(([atMs, samples]) => ({ atMs, samples }))
    .toSorted((a, b) => a.atMs - b.atMs);
  return {
    labels,
    scrapes: withoutIncomplete(scrapes),
    ...(failedAtMs === undefined ? {} : { failedAtMs }),
  };
}

/**
 * Removes the target's labels. If a page label has the same name as a target label, Prometheus renames the page label to
 * `exported_…`.
 */
function pageLabels(
  labels: ReadonlyMap<string, string>,
  target: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const own = new Map<string, string>();
  for (const [name, value] of labels) {
    const original = name.startsWith("exported_") ? name.slice("exported_".length) : name;
    if (original !== name && target.has(original)) own.set(original, value);
    else if (!target.has(name)) own.set(name, value);
  }
  return own;
}

/**
 * Drops scrapes that lack a call counter from an earlier scrape of the same process. A query may read a scrape while Prometheus is
 * still storing it, and missing series would be treated as zero.
 */
function withoutIncomplete(scrapes: readonly StoredScrape[]): readonly StoredScrape[] {
  const complete: StoredScrape[] = [];
  for (const scrape of scrapes) {
    const before = complete.at(-1);
    if (before === undefined || !isIncomplete(scrape, before)) complete.push(scrape);
  }
  return complete;
}

function isIncomplete(scrape: StoredScrape, before: StoredScrape): boolean {
  const [start, startBefore] = [startOf(scrape), startOf(before)];
  if (startBefore === undefined) return false;
  if (start === undefined) return true;
  const calls = new Set(callsOf(scrape));
  return start === startBefore && !callsOf(before).every((call) => calls.has(call));
}

function startOf({ samples }: StoredScrape): number | undefined {
  return samples.find(({ name }) => name === PROCESS_START)?.value;
}

function callsOf({ samples }: StoredScrape): readonly string[] {
  return samples
    .filter(({ name }) => name === RESPONSES)
    .map(({ labels }) => `${labels.get("chain_id") ?? ""}/${labels.get("status") ?? ""}`);
}

/** Formats labels in PromQL syntax, for error messages. */
export function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `{${pairs.join(",")}}`;
}

function differenceText(a: StoredTarget, b: StoredTarget): string {
  const names = [...new Set([...a.labels.keys(), ...b.labels.keys()])];
  return names.filter((name) => a.labels.get(name) !== b.labels.get(name)).join(", ");
}
