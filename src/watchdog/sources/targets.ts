import type { Endpoint } from "../../platform/http/remote.ts";

/** A validator that the watchdog follows. */
export interface ValidatorTarget {
  /** Unique. Names the validator in the state file, the API and the metrics. */
  readonly name: string;
  /** The chain that its nodes must be on. Absent: the chain of the first reading. */
  readonly chainId?: string;
  /** Bech32, such as neutronvalcons1…. Without it, neither its votes nor its signing window are read. */
  readonly consensusAddress?: string;
  /** Bech32, such as neutronvaloper1…. Without it, the chain is not asked what it pays, nor whether the validator is jailed. */
  readonly operatorAddress?: string;
  /** At least one. */
  readonly nodes: readonly NodeTarget[];
  /** Absent: the chain is not queried. */
  readonly chain?: ChainTarget;
  /** "host:port" that must accept a connection from this machine: outbound HTTPS. */
  readonly egress: readonly string[];
  /** The metrics of its nodes come from Prometheus. Absent: they are scraped. */
  readonly isStored?: true;
  /** Its endpoints with headers, and the chain's with a path or a query, which may be keys. Absent: none. */
  readonly endpoints?: readonly Endpoint[];
}

/** A node of a validator, with its sidecar. A source without a URL is not configured. */
export interface NodeTarget {
  /** Unique within the validator. */
  readonly name: string;
  /** Metrics page of the node. Not scraped when the validator's metrics come from Prometheus. */
  readonly node: string;
  readonly prices?: string;
  readonly oracleMetrics?: string;
  readonly sidecarMetrics?: string;
  /** All endpoints of those of its sources that have several, in order of preference. */
  readonly fallbacks?: readonly (readonly Endpoint[])[];
  /** "host:port" of the node's gRPC server. */
  readonly grpc?: string;
  /** Labels of the node's series in Prometheus. */
  readonly labels?: Labels;
  /** Labels of the sidecar's series. Absent: the node's. */
  readonly sidecarLabels?: Labels;
}

/** REST of a node of the chain. */
export interface ChainTarget {
  /** URL, optionally with a path and a query, below which the REST API is. */
  readonly rest: string;
  /** All endpoints of the REST API when there are several, in order of preference. */
  readonly fallbacks?: readonly Endpoint[];
  /** Path segment of the chain's own modules, "neutron". */
  readonly module: string;
  /** CometBFT's RPC of a node of the chain. Absent: payments are not searched, and blocks' times are read by REST only. */
  readonly rpc?: string;
  /** Absent: the revenue module's. */
  readonly payment?: PaymentTarget;
  /** Pairs whose price on the chain is read, "BTC/USD". */
  readonly pairs: readonly string[];
}

/** Who pays the validator, and whom. */
interface PaymentTarget {
  /** Account that pays by transaction. Absent: the revenue module pays in the blocks' own events. */
  readonly payer?: string;
  /** Account that is paid. Absent: the operator's. */
  readonly recipient?: string;
  /** What a full month pays by transaction: "2500000000untrn". */
  readonly full?: string;
}

/** Limits of every scrape. */
export interface SourceLimits {
  /** Limit for one scrape of one source, including the body. */
  readonly deadlineMs: number;
  readonly maxPageBytes: number;
}

/** All sources, in the order of the API. */
export const SOURCE_NAMES = [
  "node",
  "prices",
  "oracle-metrics",
  "sidecar-metrics",
  "grpc",
  "egress",
  "chain-head",
  "chain-validator",
  "chain-prices",
  "chain-revenue",
  "chain-upgrade",
  "chain-payment",
  "chain-slashing",
  "chain-peers",
] as const;

/** One of {@link SOURCE_NAMES}. */
export type SourceName = (typeof SOURCE_NAMES)[number];

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

/** Returns true if a series has all these labels. */
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

type LabelsOf = Pick<NodeTarget, "labels" | "sidecarLabels">;

/** Labels of a node's series. */
export function nodeLabels({ labels }: LabelsOf): Labels {
  return labels ?? {};
}

/** Labels of the series of a node's sidecar. */
export function sidecarLabels({ labels, sidecarLabels: own }: LabelsOf): Labels {
  return own ?? labels ?? {};
}
