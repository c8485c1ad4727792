import type { z } from "zod";
import { decodeBech32, encodeBech32 } from "../../platform/base/bytes.ts";
import type { Endpoint } from "../../platform/http/remote.ts";
import type { chain } from "./chain-config.ts";

/** A validator that the watchdog follows. */
export interface ValidatorTarget {
  /** Unique name of the validator in the state file, the API and the metrics. */
  readonly name: string;
  /** The chain to which the validator's nodes must belong. If absent, this is the chain that the first reading shows. */
  readonly chainId?: string;
  /** Bech32 consensus address, e.g. neutronvalcons1…. If absent, the validator's votes and signing window are not read. */
  readonly consensusAddress?: string;
  /** Bech32 operator address, e.g. neutronvaloper1…. If absent, the chain is not queried about payments or jail. */
  readonly operatorAddress?: string;
  /** The validator's nodes; at least one. */
  readonly nodes: readonly NodeTarget[];
  /** Connection settings for the chain. If absent, the chain is not queried. */
  readonly chain?: ChainTarget;
  /** The "host:port" targets that must accept connections from this machine, for outbound HTTPS. */
  readonly egress: readonly string[];
  /** If true, the nodes' metrics come from Prometheus; otherwise, they are scraped. */
  readonly isStored?: true;
  /**
   * Endpoints that may contain API keys: endpoints with headers, and chain endpoints with a path or query. Absent if there are
   * none.
   */
  readonly endpoints?: readonly Endpoint[];
}

/** Returns an operator's account, which has the same bytes and the prefix without "valoper". */
export function accountOf(operatorAddress: string): string {
  const { prefix, bytes } = decodeBech32(operatorAddress);
  return encodeBech32(prefix.replace(/valoper$/, ""), bytes);
}

/** One of a validator's nodes and its sidecar. A source without a URL is not configured. */
export interface NodeTarget {
  /** The node's name, unique within the validator. */
  readonly name: string;
  /** The node's metrics page. The page is not scraped if the validator's metrics come from Prometheus. */
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
  /** The labels of the sidecar's series. If absent, the node's labels are used. */
  readonly sidecarLabels?: Labels;
}

/** The REST API served by one of the chain's nodes. */
export interface ChainTarget extends Readonly<Pick<z.output<typeof chain>, "module" | "payment">> {
  /** Base URL of the REST API, optionally with a path and a query. */
  readonly rest: string;
  /** All endpoints of the REST API, in order of preference, if there are several. */
  readonly fallbacks?: readonly Endpoint[];
  /** The CometBFT RPC of one of the chain's nodes. If absent, there is no payment search, and block times require REST. */
  readonly rpc?: string;
  /** The pairs whose price is read from the chain, e.g. "BTC/USD". */
  readonly pairs: readonly string[];
}

/** Limits that apply to every scrape. */
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

/** Labels that a series must have, e.g. `{instance: "10.0.0.1:26660"}`. */
export type Labels = Readonly<Record<string, string>>;

/** Maximum number of label sets in one query. Prometheus compiles them into one pattern per label. */
const MAX_SETS = 100;

/** A PromQL selector together with the label sets for which it was created. */
export interface SelectorOf {
  readonly selector: string;
  readonly sets: readonly Labels[];
}

/**
 * Returns selectors for these metrics' series with any of these label sets. Returns as few selectors as possible: one per 100 sets
 * with the same label names. If the sets have several labels, a selector may also match other combinations of the labels' values.
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
  // The metrics need no escaping, because they are this program's own patterns.
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
