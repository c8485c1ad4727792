/** Labels that a series must have, such as `{instance: "10.0.0.1:26660"}`. */
export type Labels = Readonly<Record<string, string>>;

/** Sets of labels in one query. Prometheus compiles them to one pattern for each label. */
const MAX_SETS = 100;

/**
 * Returns selectors for series of these metrics with any of these label sets, as few as possible: one for each 100 sets
 * with the same label names. With several labels, a selector can also select other combinations of their values.
 */
export function selectorsOf(metrics: readonly string[], sets: readonly Labels[]): readonly SelectorOf[] {
  const byNames = new Map<string, Labels[]>();
  for (const set of sets) {
    const names = Object.keys(set).toSorted().join(",");
    byNames.set(names, [...(byNames.get(names) ?? []), set]);
  }
  return [...byNames.values()].flatMap((group) =>
    chunksOf(group, MAX_SETS).map((chunk) => ({ selector: selectorOf(metrics, chunk), sets: chunk })),
  );
}

/** A selector, and the label sets that it is for. */
export interface SelectorOf {
  readonly selector: string;
  readonly sets: readonly Labels[];
}

/** Whether a series has all these labels. */
export function hasLabels(series: ReadonlyMap<string, string>, labels: Labels): boolean {
  return Object.entries(labels).every(([name, value]) => series.get(name) === value);
}

function selectorOf(metrics: readonly string[], sets: readonly Labels[]): string {
  const names = Object.keys(sets[0] ?? {}).toSorted();
  const matchers = names.map((name) => matcher(name, distinct(sets.map((set) => set[name] ?? ""))));
  // Metrics are patterns of our own.
  return `{__name__=~${quoted(metrics.join("|"))},${matchers.join(",")}}`;
}

function matcher(name: string, values: readonly string[]): string {
  const [only] = values;
  if (only !== undefined && values.length === 1) return `${name}=${quoted(only)}`;
  return `${name}=~${quoted(values.map(escapePattern).join("|"))}`;
}

/** Quotes a text for PromQL, which reads strings as Go does. JSON's escapes are a part of Go's. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)].toSorted();
}

function chunksOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
