import type { Endpoint } from "../../platform/http/remote.ts";

/** A validator that the watchdog follows. */
export interface ValidatorTarget {
  /** Unique. Names the validator in the state file, the API and the metrics. */
  readonly name: string;
  /** The chain that its nodes must be on. If absent, the chain of the first reading. */
  readonly chainId?: string;
  /** Bech32, e.g. neutronvalcons1…. Without it, neither its votes nor its signing window is read. */
  readonly consensusAddress?: string;
  /** Bech32, e.g. neutronvaloper1…. Without it, the chain is not asked what it pays or whether the validator is jailed. */
  readonly operatorAddress?: string;
  /** At least one. */
  readonly nodes: readonly NodeTarget[];
  /** If absent, the chain is not queried. */
  readonly chain?: ChainTarget;
  /** "host:port" pairs that must accept a connection from this machine: outbound HTTPS. */
  readonly egress: readonly string[];
  /** Its nodes' metrics come from Prometheus. If absent, they are scraped. */
  readonly isStored?: true;
  /** Its endpoints with headers, and chain endpoints with a path or query, which may contain keys. Absent if there are none. */
  readonly endpoints?: readonly Endpoint[];
}

/** One of a validator's nodes, with its sidecar. A source without a URL is not configured. */
export interface NodeTarget {
  /** Unique within the validator. */
  readonly name: string;
  /** The node's metrics page. Not scraped if the validator's metrics come from Prometheus. */
  readonly node: string;
  readonly prices?: string;
  readonly oracleMetrics?: string;
  readonly sidecarMetrics?: string;
  /** For each source that has several endpoints, all of them, in order of preference. */
  readonly fallbacks?: readonly (readonly Endpoint[])[];
  /** "host:port" of the node's gRPC server. */
  readonly grpc?: string;
  /** Labels of the node's series in Prometheus. */
  readonly labels?: Labels;
  /** Labels of the sidecar's series. If absent, the node's labels. */
  readonly sidecarLabels?: Labels;
}

/** REST API of one of the chain's nodes. */
export interface ChainTarget {
  /** Base URL of the REST API, optionally with a path and a query. */
  readonly rest: string;
  /** All endpoints of the REST API if there are several, in order of preference. */
  readonly fallbacks?: readonly Endpoint[];
  /** Path segment of the chain's own modules, e.g. "neutron". */
  readonly module: string;
  /** CometBFT RPC of one of the chain's nodes. If absent, payments are not searched, and block times are read only over REST. */
  readonly rpc?: string;
  /** If absent, the revenue module's payment. */
  readonly payment?: PaymentTarget;
  /** Pairs whose on-chain price is read, e.g. "BTC/USD". */
  readonly pairs: readonly string[];
}

/** Who pays the validator, and whom. */
interface PaymentTarget {
  /** Account that pays by transaction. If absent, the revenue module pays in the blocks' own events. */
  readonly payer?: string;
  /** Account that is paid. If absent, the operator's. */
  readonly recipient?: string;
  /** What a full month pays by transaction: "2500000000untrn". */
  readonly full?: string;
}

/** Limits for every scrape. */
export interface SourceLimits {
  /** Time limit for scraping one source, including the body. */
  readonly deadlineMs: number;
  readonly maxPageBytes: number;
}

/** All sources, in the order used by the API. */
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

/** Labels that a series must have, e.g. `{instance: "10.0.0.1:26660"}`. */
export type Labels = Readonly<Record<string, string>>;

/** Maximum number of label sets in one query. Prometheus compiles them to one pattern per label. */
const MAX_SETS = 100;

/**
 * Returns as few selectors as possible for series of these metrics that have any of these label sets: one per 100 sets with the
 * same label names. With several labels, a selector may also match other combinations of their values.
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

/** A selector and the label sets that it is for. */
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

/** Quotes a text for PromQL, which reads strings as Go does. JSON's escapes are a subset of Go's. */
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
