import type { Labels } from "../prometheus-api/selector.ts";

/** A validator that the watchdog follows. */
export interface ValidatorTarget {
  /** Unique. Names the validator in the state file, the API and the metrics. */
  readonly name: string;
  /** The chain that its nodes must be on. Absent: the chain of the first reading. */
  readonly chainId?: string;
  /** Bech32, such as neutronvalcons1…. Without it, blocks are not searched for the validator's votes. */
  readonly consensusAddress?: string;
  /** Bech32, such as neutronvaloper1…. Without it, the chain is not asked what it pays. */
  readonly operatorAddress?: string;
  /** At least one. */
  readonly nodes: readonly NodeTarget[];
  /** Absent: the chain is not queried. */
  readonly chain?: ChainTarget;
  /** "host:port" that must accept a connection from this machine: outbound HTTPS. */
  readonly egress: readonly string[];
  /** The metrics of its nodes come from Prometheus. Absent: they are scraped. */
  readonly isStored?: true;
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
  /** "host:port" of the node's gRPC server. */
  readonly grpc?: string;
  /** Labels of the node's series in Prometheus. */
  readonly labels?: Labels;
  /** Labels of the sidecar's series. Absent: those of the node. */
  readonly sidecarLabels?: Labels;
}

/** REST of a node of the chain. */
export interface ChainTarget {
  /** URL without path. */
  readonly rest: string;
  /** Path segment of the chain's own modules, "neutron". */
  readonly module: string;
  /** Pairs whose price on the chain is read, "BTC/USD". */
  readonly pairs: readonly string[];
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
] as const;

/** One of {@link SOURCE_NAMES}. */
export type SourceName = (typeof SOURCE_NAMES)[number];
