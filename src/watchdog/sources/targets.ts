import type { z } from "zod";
import { decodeBech32, encodeBech32 } from "../../platform/base/bytes.ts";
import type { Endpoint } from "../../platform/http/remote.ts";
import type { chain } from "./chain-config.ts";

/** A watched validator, with the URLs of its sources. */
export interface ValidatorTarget {
  /** Unique name of the validator in the state file, the API and the metrics. */
  readonly name: string;
  /** Id of the chain to which the validator's nodes must belong; if absent, the first reading determines it. */
  readonly chainId?: string;
  /** Bech32 consensus address, e.g. neutronvalcons1…; if absent, the validator's votes and signing window are not read. */
  readonly consensusAddress?: string;
  /** Bech32 operator address, e.g. neutronvaloper1…; if absent, the chain is not queried about payments or jail. */
  readonly operatorAddress?: string;
  /** The nodes that vote for the validator; at least one. */
  readonly nodes: readonly NodeTarget[];
  /** The chain's REST and RPC endpoints and what to read from them; if absent, the chain is not queried. */
  readonly chain?: ChainTarget;
  /** Hosts, as "host:port", that this machine must be able to reach over outbound HTTPS. */
  readonly egress: readonly string[];
  /** Set if the nodes' metrics are read from Prometheus instead of being scraped. */
  readonly isStored?: true;
  /**
   * Endpoints that may contain API keys: endpoints with headers, and chain endpoints with a path or query; absent if
   * there are none.
   */
  readonly endpoints?: readonly Endpoint[];
}

/** Converts an operator address to the account address, which has the same bytes but a prefix without "valoper". */
export function accountOf(operatorAddress: string): string {
  const { prefix, bytes } = decodeBech32(operatorAddress);
  return encodeBech32(prefix.replace(/valoper$/, ""), bytes);
}

/** One of a validator's nodes and its sidecar. A source without a URL is not configured. */
export interface NodeTarget {
  /** The node's name, unique within the validator. */
  readonly name: string;
  /** URL of the node's metrics page. The page is not scraped if the validator's metrics come from Prometheus. */
  readonly node: string;
  readonly prices?: string;
  readonly oracleMetrics?: string;
  readonly sidecarMetrics?: string;
  /** For each source with several endpoints, all of its endpoints in order of preference. */
  readonly fallbacks?: readonly (readonly Endpoint[])[];
  /** The "host:port" of the node's gRPC server. */
  readonly grpc?: string;
  /** The labels of the node's series in Prometheus. */
  readonly labels?: Labels;
  /** The labels of the sidecar's series in Prometheus; if absent, the node's labels are used. */
  readonly sidecarLabels?: Labels;
}

/** A chain's REST and RPC endpoints, and what to read from them. */
export interface ChainTarget extends Readonly<Pick<z.output<typeof chain>, "module" | "payment">> {
  /** Base URL of the REST API, optionally with a path and a query. */
  readonly rest: string;
  /** If there are several REST endpoints, all of them in order of preference. */
  readonly fallbacks?: readonly Endpoint[];
  /** CometBFT RPC URL of one of the chain's nodes. Without this URL, payments are not searched for and block times come only from REST. */
  readonly rpc?: string;
  /** The pairs whose price is read from the chain, such as "BTC/USD". */
  readonly pairs: readonly string[];
}

/** Time and size limits that apply to the scrape of each source. */
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

export type SourceName = (typeof SOURCE_NAMES)[number];

/** Labels that select a series, such as `{instance: "10.0.0.1:26660"}`. */
export type Labels = Readonly<Record<string, string>>;

/** Maximum number of label sets in one query, because Prometheus compiles their values into one pattern per label. */
const MAX_SETS = 100;

/** A PromQL selector and the label sets that it covers. */
export interface SelectorOf {
  readonly selector: string;
  readonly sets: readonly Labels[];
}

/**
 * Returns selectors for the series that have one of these label sets: one selector per 100 sets with the same label names. If the
 * sets have several labels, a selector may also match other combinations of their values.
 */
export function selectorsOf(metrics: readonly string[], sets: readonly Labels[]): readonly SelectorOf[] {
  const byNames = new Map<string, Labels[]>();
  const selectors: SelectorOf[] = [];
  for (const set of sets) {
    const names = Object.keys(set).toSorted().join(",");
    byNames.set(names, [...(byNames.get(names) ?? []), set]);
  }
  for (const group of byNames.values())
    for (let at = 0; at < group.length; at += MAX_SETS) {
      const chunk = group.slice(at, at + MAX_SETS);
      selectors.push({ selector: selectorOf(metrics, chunk), sets: chunk });
    }
  return selectors;
}

/** Returns true if a series has all of these labels. */
export function hasLabels(series: ReadonlyMap<string, string>, labels: Labels): boolean {
  return Object.entries(labels).every(([name, value]) => series.get(name) === value);
}

function selectorOf(metrics: readonly string[], sets: readonly Labels[]): string {
  const names = Object.keys(sets[0] ?? {}).toSorted();
  const matchers = names.map((name) => {
    const values = [...new Set(sets.map((set) => set[name] ?? ""))].toSorted();
    const [only] = values;
    if (only !== undefined && values.length === 1) return `${name}=${quoted(only)}`;
    return `${name}=~${quoted(values.map(escapePattern).join("|"))}`;
  });
  // `metrics` needs no escaping, because it contains only patterns from this program.
  return `{__name__=~${quoted(metrics.join("|"))},${matchers.join(",")}}`;
}

/** Quotes a text for PromQL, which parses strings as Go does. JSON's escapes are a subset of Go's. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}

type LabelsOf = Pick<NodeTarget, "labels" | "sidecarLabels">;

export function nodeLabels({ labels }: LabelsOf): Labels {
  return labels ?? {};
}

export function sidecarLabels({ labels, sidecarLabels: own }: LabelsOf): Labels {
  return own ?? labels ?? {};
}
