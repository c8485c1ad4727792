import { DeadlineError } from "../../platform/base/abort.ts";
import { CodedError, errorText } from "../../platform/base/errors.ts";
import type { Month } from "../../platform/base/month.ts";
import { PrometheusTextError } from "../prometheus/text-parser.ts";
import type { Payment } from "./payment-result.ts";
import type { UpgradeReading } from "./upgrade-reading.ts";
import type { PeerComparison, PeersReading, SharedMisses, SlashingReading } from "./standing-readings.ts";
import type { SourceName } from "./targets.ts";

/**
 * A source's reading in one poll, or why there is none. "not-configured": the configuration does not contain the source. "absent":
 * the chain lacks the module, and no earlier poll has read it. "error": the source could not be read, so its values are unknown.
 */
export type Seen<T> =
  | { readonly state: "up"; readonly value: T; readonly durationMs: number }
  | {
      readonly state: "error";
      readonly failure: SourceFailure;
      readonly durationMs: number;
      /** True if the failure was reported by an earlier poll and the reader has not tried again yet. */
      readonly isRepeated?: true;
    }
  | { readonly state: "absent"; readonly durationMs: number }
  | { readonly state: "not-configured" };

/** Returns a source's reading; undefined if the poll could not read the source. */
export function readingOf<T>(seen: Seen<T> | undefined): T | undefined {
  return seen?.state === "up" ? seen.value : undefined;
}

/** All data read by one poll of one validator. An absent field means that the value is unknown, never zero. */
export interface Observation {
  /** The validator's name in the configuration. */
  readonly validator: string;
  /** Wall-clock time at the end of the poll. */
  readonly atMs: number;
  /** The nodes in configuration order; at least one. */
  readonly nodes: readonly NodeObservation[];
  readonly chain: ChainObservation;
  /** Whether this machine's clock, and thus `atMs`, can be trusted; absent if the clock is fully trusted. */
  readonly clock?: ClockView;
  /** `Date` headers of the sources' responses; absent if there were none. */
  readonly dates?: readonly Witness[];
  /** URL states of all sources with several URLs; absent if there are no such sources. */
  readonly endpoints?: readonly SourceEndpoints[];
}

/** The time in the `Date` header of a server's response, and when the watchdog read the header. */
export interface Witness {
  /** Host and port of the server that sent the response. */
  readonly host: string;
  readonly timeMs: number;
  /** Monotonic time at which the header was read. */
  readonly readMs: number;
}

/** How trustworthy this machine's clock is, compared with the monotonic clock, the sources' `Date` headers and the chain. */
export interface ClockView {
  /** The time since which the clock has been trusted, on the same scale as `atMs`; absent if the clock is not trusted. */
  readonly believedSinceMs?: number;
  /** A sentence that explains why the clock is not trusted; empty if the clock is trusted. */
  readonly problem: string;
  /** How the clock changed since the last poll, for the ledger; absent if the clock did not change. */
  readonly change?: string;
}

/** The state of one URL of a source that has several URLs. */
export interface EndpointState {
  /** The URL's host and port, such as "10.0.0.1:26660". */
  readonly host: string;
  /** True if this URL returned the last response. */
  readonly isUsed: boolean;
  /** False for half a minute after a failed request, unless a later request succeeds. */
  readonly isUp: boolean;
}

/** The states of a source's URLs after a poll, if the source has more than one URL. */
interface SourceEndpoints {
  readonly source: SourceName;
  /** Name of the node; absent for chain sources. */
  readonly node?: string;
  readonly endpoints: readonly EndpointState[];
}

/** The part of an observation about one node and its sidecar. */
export interface NodeObservation {
  readonly name: string;
  readonly metrics: Seen<NodeReading>;
  readonly prices: Seen<PricesReading>;
  /** Which program serves the oracle metrics port. A refused connection is normal: current nodes and sidecars do not serve this page. */
  readonly oracleMetrics: Seen<OracleReading>;
  readonly sidecar: Seen<SidecarReading>;
  /** The connection to the node's gRPC server, from which the sidecar reads its market map. */
  readonly grpc: Seen<Reached>;
  /** The tested outbound connections by "host:port"; empty if none are configured. */
  readonly egress: ReadonlyMap<string, Seen<Reached>>;
}

/** A host and port that accepted a TCP connection. */
export interface Reached {
  readonly target: string;
}

/** The data from a node's metrics page, whose counters start at zero when the process starts. */
export interface NodeReading {
  readonly chainId: string;
  /** The node's successful and failed calls to its sidecar, one call per vote. A missing series is treated as zero. */
  readonly success: bigint;
  readonly failure: bigint;
  /** Why the page of a node with voting power does not show whether it votes; `success` and `failure` are then 0. */
  readonly votesUnseen?: string;
  /** Number of unreadable lines of metrics that are not needed; absent if there were no such lines. */
  readonly skippedLines?: number;
  /** Height of the latest block on the node; absent if the page does not show it. */
  readonly height?: bigint;
  readonly processStartMs?: number;
  /** Versions of the program (if the page shows it) and of Go, such as "v9.1.3, go1.23.12". */
  readonly version?: string;
  /** When Prometheus took the sample, according to Prometheus's clock; absent if the page was scraped in this poll. */
  readonly sampledAtMs?: number;
  /** The node machine's clock, read from the response's `Date` header with a resolution of one second. */
  readonly clockMs?: number;
  /** When the response with `clockMs` arrived, on the watchdog's clock; the poll may end later. */
  readonly clockReadAtMs?: number;
  readonly isSyncing?: boolean;
  readonly peers?: number;
  /** Voting power of the validator that this node signs for; absent if the node signs for no validator. */
  readonly votingPower?: bigint;
  readonly lastSignedHeight?: bigint;
  readonly missedBlocks?: bigint;
  /** Number of `extend_vote` requests in `app_abci_requests`, by status, such as "Success" or "OracleClientError". */
  readonly extendVotes?: ReadonlyMap<string, bigint>;
  /** Durations of the node's calls to its sidecar, in ms. A call that timed out is included only in `count`. */
  readonly oracleLatency?: Histogram;
  /** The watched validator's vote extensions that were found in blocks, by consensus address. */
  readonly reports?: ReadonlyMap<string, VoteReports>;
  /**
   * Every validator's votes by consensus address, for the pair for which the watched validator had the most prices. Absent if the metrics
   * come from Prometheus. `pair` is spelled as on the node's page, for example "btc/usd".
   */
  readonly votes?: { readonly pair: string; readonly byValidator: ReadonlyMap<string, VoteReports> };
  /** The validator's votes compared with all other validators' votes. */
  readonly sharedVotes?: SharedMisses;
  readonly voteComparison?: PeerComparison;
}

/** Maximum length of a version in characters; a longer version is ignored. */
export const MAX_VERSION = 60;

/** One validator's vote extensions in blocks, counted by a node since its start. */
export interface VoteReports {
  /** Votes with at least one price, i.e. the highest count for any pair. */
  readonly withPrice: bigint;
  /** Number of blocks without a vote from the validator. */
  readonly absent: bigint;
  /** Number of blocks for which the node counted votes. */
  readonly total: bigint;
}

/** A Prometheus histogram, with cumulative counts by upper bound. */
export interface Histogram {
  readonly count: bigint;
  readonly sum: number;
  readonly buckets: ReadonlyMap<number, bigint>;
}

/**
 * The response of the sidecar's price API. If `isDerived` is set, the reading was derived from metrics stored by Prometheus: it
 * contains only the pairs updated between the last two scrapes, without prices, update time or duration.
 */
export interface PricesReading {
  readonly isDerived?: true;
  /** The pairs that have a price, sorted. */
  readonly pairs: readonly string[];
  /** Prices by pair, as whole numbers scaled by the pair's decimals. */
  readonly prices: ReadonlyMap<string, bigint>;
  /** Time of the sidecar's last price update, in ms; undefined before the first update. */
  readonly tickedAtMs: number | undefined;
  /** The sidecar's version; empty if the sidecar reports no version. */
  readonly version: string;
  readonly url: string;
}

/** The program whose metrics the oracle metrics page shows. By default, only old nodes serve such a page. */
export interface OracleReading {
  readonly kind: "oracle" | "sidecar";
}

/** The data from the sidecar's metrics page, whose counters start at zero when the sidecar starts. */
export interface SidecarReading {
  readonly processStartMs?: number;
  readonly version?: string;
  /** Number of unreadable lines of metrics that are not needed; absent if there were no such lines. */
  readonly skippedLines?: number;
  /** Number of iterations of the price loop, which runs about 4 times per second. */
  readonly systemUpdates: bigint;
  /** Number of price updates by pair, such as "BTC/USD". Pairs that have never had a price are missing. */
  readonly tickerUpdates: ReadonlyMap<string, bigint>;
  /** Number of providers that each pair can currently use. */
  readonly marketProviders: ReadonlyMap<string, number>;
  /** Number of decimals of prices in the price API, by pair. Pairs for which the page states no decimals are missing. */
  readonly decimals?: ReadonlyMap<string, number>;
  readonly providers: ReadonlyMap<string, ProviderReading>;
}

/** A sidecar's counts for one of its price providers, such as an exchange. */
export interface ProviderReading {
  /** The protocol by which the sidecar reads from the provider; undefined until the provider's first response. */
  readonly type: "api" | "websockets" | undefined;
  readonly responses: bigint;
  /** Number of failed responses by the sidecar's error code, such as 5 for a WebSocket that cannot be opened. */
  readonly failures: ReadonlyMap<string, bigint>;
  /** Number of WebSocket events by name, such as "healthy", "read_success" or "dial_err". */
  readonly webSocket: ReadonlyMap<string, bigint>;
  /** Durations of an API's requests, or times between a WebSocket's messages, in ms. */
  readonly responseTime?: Histogram;
}

/**
 * The part of an observation that is read from the chain over REST, or for `head` also over RPC. Each field can fail on its own. Fields of
 * sources that are not configured may be absent.
 */
export interface ChainObservation {
  readonly head: Seen<ChainHead>;
  readonly validator: Seen<ValidatorReading>;
  readonly prices: Seen<readonly ChainPrice[]>;
  readonly revenue: Seen<RevenueReading>;
  readonly upgrade?: Seen<UpgradeReading>;
  /** The result of searching for last month's payment; absent or "not-configured" if there is nothing to search for. */
  readonly payment?: Seen<Payment>;
  readonly slashing?: Seen<SlashingReading>;
  readonly peers?: Seen<PeersReading>;
}

/** The chain id, and the height and time of the chain's latest block. */
export interface ChainHead {
  readonly chainId: string;
  readonly height: bigint;
  readonly blockTimeMs: number;
  /** The first block of the current UTC month, by block time; absent if the month has not changed since the last poll. */
  readonly monthEdge?: MonthEdge;
}

/** The last block that the ledger has counted. */
export interface CountedTo {
  /** The block's time, or the reading's wall-clock time if the chain cannot be read. */
  readonly timeMs: number;
  readonly height?: bigint;
}

/** The first block of a month that began between two polls. */
export interface MonthEdge {
  readonly month: Month;
  readonly firstHeight: bigint;
}

/** The size of the validator set, and the validator's membership in it. */
export interface ValidatorReading {
  readonly size: number;
  readonly isInSet: boolean;
  /** The validator's voting power; 0 if it is not in the set. */
  readonly votingPower: bigint;
  /** True if the latest commit contains the validator's signature; absent if the validator is not in the set. */
  readonly signedLatest?: boolean;
  /** How many other validators also missed the latest commits; absent if the validator is not in the set. */
  readonly commits?: SharedMisses;
}

export interface ChainPrice {
  readonly pair: string;
  /** The height at which the price was set; 0 if the pair has never had a price. */
  readonly height: bigint;
  /** The time of the block at that height; undefined if the pair has never had a price. */
  readonly blockTimeMs: number | undefined;
  /** The price as a whole number, scaled by `decimals`. */
  readonly price: bigint;
  /** Number of decimals; absent if the chain does not state it. */
  readonly decimals?: number;
}

/** The parameters and counts of the revenue module, which pays validators. */
export interface RevenueReading {
  readonly params: RevenueParams;
  /** The chain's counts for the validator; absent if the configuration names no operator address. */
  readonly stats?: RevenueStats;
}

/** The revenue module's parameters, with shares as decimals scaled by 10^18. */
export interface RevenueParams {
  readonly blocksAllowedToMiss: bigint;
  readonly blocksRequired: bigint;
  readonly votesAllowedToMiss: bigint;
  readonly votesRequired: bigint;
  /** The reward for a full month, in the quote asset. */
  readonly baseCompensation: bigint;
  readonly quoteAsset: string;
  readonly schedule: "monthly" | "block-based" | "empty";
}

/** The chain's counts for the validator in the current payment period, on which its payment is based. */
export interface RevenueStats {
  readonly committedBlocks: bigint;
  readonly committedVotes: bigint;
  readonly inActiveSet: bigint;
  /** Number of blocks so far in the payment period. */
  readonly totalBlocks: bigint;
}

/** Why the scrape of a source failed. `refused` means a refused connection, i.e. that no process listens on the port. */
export type SourceFailureCode =
  | "refused"
  | "unreachable"
  | "timeout"
  | "http-status"
  /** compressed in a way that cannot be read */
  | "compressed"
  | "too-large"
  | "not-metrics"
  | "not-a-node"
  | "not-prices"
  /** the response is not from a chain's REST server */
  | "not-a-chain"
  | "absent"
  | "not-prometheus"
  /** Prometheus could not read all of its data */
  | "incomplete"
  /** Prometheus has no recent sample for the target */
  | "stale"
  /** the labels select more than one Prometheus target */
  | "several-targets"
  | "several-chains"
  | "wrong-chain"
  /** a value on the page is out of range */
  | "bad-value"
  /** two nodes respond at one URL */
  | "two-nodes"
  | "no-oracle-metrics"
  | "no-height";

interface SourceFailure {
  readonly code: SourceFailureCode;
  readonly text: string;
}

/** Returns the node's reading, or an error if the page does not show whether the node votes. */
export function votesSeen({ metrics }: NodeObservation): Seen<NodeReading> {
  if (metrics.state !== "up" || metrics.value.votesUnseen === undefined) return metrics;
  const failure = { code: "no-oracle-metrics", text: metrics.value.votesUnseen } as const;
  return { state: "error", failure, durationMs: metrics.durationMs };
}

const NO_HEIGHT =
  "the page has no …_consensus_height, so no halt, missing vote or forecast can be seen; check [instrumentation] in the node's config.toml, and that no collector drops or renames the metric";

/** Returns the node's reading, or an error if the page lacks votes or the block height. */
export function nodeSeen(node: NodeObservation): Seen<NodeReading> {
  const seen = votesSeen(node);
  if (seen.state !== "up" || seen.value.height !== undefined || seen.value.isSyncing === true) return seen;
  return { state: "error", failure: { code: "no-height", text: NO_HEIGHT }, durationMs: seen.durationMs };
}

/** Thrown if a source cannot be read. {@link toSourceFailure} converts it to a {@link SourceFailure}. */
export class SourceError extends CodedError<{ readonly code: SourceFailureCode }> {}

/**
 * Creates a handler for `catch` that returns `replace(error)` for a {@link SourceError} with the given code (without a code, for
 * any {@link SourceError}), and rethrows other errors.
 */
export function onSourceError<T>(
  replace: (error: SourceError) => T,
  code?: SourceFailureCode,
): (error: unknown) => T {
  return (error) => {
    if (!(error instanceof SourceError) || (code ?? error.facts.code) !== error.facts.code) throw error;
    return replace(error);
  };
}

/** Converts any error that a scrape throws to a {@link SourceFailure}. */
export function toSourceFailure(error: unknown): SourceFailure {
  if (error instanceof SourceError) return { code: error.facts.code, text: error.message };
  if (error instanceof PrometheusTextError) return { code: "not-metrics", text: error.message };
  if (error instanceof DeadlineError)
    return { code: "timeout", text: `no complete response within ${error.facts.afterMs} ms` };
  const text = errorText(error);
  return isRefusal(error)
    ? { code: "refused", text: `connection refused (${text})` }
    : { code: "unreachable", text };
}

/** Returns true if the connection was refused. If a host has several addresses, Node's AggregateError has the first address's code. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "ECONNREFUSED") || isRefusal(error.cause);
}
