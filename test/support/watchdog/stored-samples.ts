import type { ReadSamples, Series } from "../../../src/watchdog/prometheus-api/api-client.ts";
import { createPrometheusTextParser } from "../../../src/watchdog/prometheus/text-parser.ts";

/** Labels of a target. */
type TargetLabels = Readonly<Record<string, string>>;

/** What a Prometheus stores, in memory. */
export interface StoredSamples {
  /** Stores a scrape as Prometheus does: labels of the page that the target has too become `exported_…`, and `up` is 1. */
  readonly scrape: (target: TargetLabels, atMs: number, page: string) => void;
  /** Stores that a scrape failed. */
  readonly fail: (target: TargetLabels, atMs: number) => void;
  /** Returns what a range selector selects; throws for a selector that it does not know. */
  readonly select: (selector: string, atMs: number, rangeMs: number) => readonly Series[];
  /** {@link select} as the watchdog calls it. */
  readonly read: ReadSamples;
  /** Selectors of all calls of `read`. */
  readonly selectors: string[];
}

interface Stored {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly points: { readonly atMs: number; readonly value: number }[];
}

/** Creates an empty store. */
export function createStoredSamples(): StoredSamples {
  const stored = new Map<string, Stored>();
  const selectors: string[] = [];
  const add = (name: string, labels: ReadonlyMap<string, string>, atMs: number, value: number): void => {
    const key = `${name} ${[...labels].map(String).toSorted().join(";")}`;
    const series = stored.get(key) ?? { name, labels, points: [] };
    stored.set(key, series);
    series.points.push({ atMs, value });
  };
  const select: StoredSamples["select"] = (selector, atMs, rangeMs) => {
    const matchers = parseSelector(selector);
    return [...stored.values()].flatMap(({ name, labels, points }) => {
      const value = (label: string): string => (label === "__name__" ? name : (labels.get(label) ?? ""));
      if (!matchers.every(({ label, pattern }) => pattern.test(value(label)))) return [];
      const within = points.filter((point) => point.atMs > atMs - rangeMs && point.atMs <= atMs);
      return within.length === 0 ? [] : [{ name, labels, points: within }];
    });
  };
  return {
    scrape: (target, atMs, page) => {
      const own = new Map(Object.entries(target));
      add("up", own, atMs, 1);
      const parser = createPrometheusTextParser({
        sample: ({ name, labels, value }) => {
          const all = new Map(own);
          for (const [label, text] of labels) all.set(own.has(label) ? `exported_${label}` : label, text);
          add(name, all, atMs, value);
        },
      });
      parser.push(new TextEncoder().encode(`${page}\n`));
      parser.end();
    },
    fail: (target, atMs) => add("up", new Map(Object.entries(target)), atMs, 0),
    select,
    read: async (selector, { atMs, rangeMs }) => {
      selectors.push(selector);
      return select(selector, atMs, rangeMs);
    },
    selectors,
  };
}

interface Matcher {
  readonly label: string;
  readonly pattern: RegExp;
}

/** Parses `{a="b",c=~"d|e"}`. */
function parseSelector(selector: string): readonly Matcher[] {
  const inner = /^\{(.*)\}$/.exec(selector)?.[1];
  if (inner === undefined) throw new Error(`not a selector: ${selector}`);
  const matchers = [...inner.matchAll(/([a-zA-Z_]\w*)(=~?)("(?:[^"\\]|\\.)*"),?/g)];
  if (matchers.map(([whole]) => whole).join("") !== inner) throw new Error(`not a selector: ${selector}`);
  return matchers.map(([, label = "", operator, quoted = ""]) => {
    const text = String(JSON.parse(quoted));
    const pattern = operator === "=" ? text.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&") : text;
    return { label, pattern: new RegExp(`^(?:${pattern})$`, "s") };
  });
}
