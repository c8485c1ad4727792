import { DeadlineError } from "../../platform/base/abort.ts";
import { CodedError, errorText } from "../../platform/base/errors.ts";
import { PrometheusTextError } from "../prometheus/text-parser.ts";
import type { Payment } from "./payment-result.ts";
import type { UpgradeView } from "./upgrade-view.ts";
import type { PeerComparison, PeersView, SharedMisses, SlashingReading } from "./standing-views.ts";
import type { SourceName } from "./targets.ts";

/**
 * Result of reading one source in one poll. "not-configured": the configuration does not name the source. "absent": the chain
 * says that it has no such module, and the watchdog has never seen one. "error": the watchdog cannot see the source; that says
 * nothing about what it would have shown.
 */
export type Seen<T> =
  | { readonly state: "up"; readonly value: T; readonly durationMs: number }
  | {
      readonly state: "error";
      readonly failure: SourceFailure;
      readonly durationMs: number;
      /** The failure is from an earlier poll: the source is waiting before it is read again. */
      readonly isRepeated?: true;
    }
  | { readonly state: "absent"; readonly durationMs: number }
  | { readonly state: "not-configured" };

/** One poll of one validator. An absent field was not seen; absent never means zero. */
export interface Observation {
  /** The validator's name in the configuration. */
  readonly validator: string;
  /** Wall-clock time at the end of the poll. */
  readonly atMs: number;
  /** In configuration order; at least one. */
  readonly nodes: readonly NodeObservation[];
  readonly chain: ChainObservation;
  /** How far `atMs` can be trusted. Absent if it can be fully trusted. */
  readonly clock?: ClockView;
  /** What the sources' clocks showed. Absent if nothing. */
  readonly dates?: readonly Witness[];
  /** Sources with several URLs. Absent if there are none. */
  readonly endpoints?: readonly SourceEndpoints[];
}

/** The `Date` header of a response. */
export interface Witness {
  /** Host and port of the server. */
  readonly host: string;
  readonly timeMs: number;
  /** Monotonic time at which it was read. */
  readonly readMs: number;
}

/** This machine's clock, compared with the monotonic clock, the sources' `Date` headers and the chain. */
export interface ClockView {
  /** When the clock began to be trusted, on the scale of `atMs`. Absent if it is not trusted. */
  readonly believedSinceMs?: number;
  /** Why it is not believed, as a sentence; empty if it is. */
  readonly problem: string;
  /** What happened to the clock since the last poll, for the ledger. Absent if nothing. */
  readonly change?: string;
}

/** One of a source's several URLs. */
export interface EndpointState {
  /** "10.0.0.1:26660". */
  readonly host: string;
  /** The last request that got a response used this URL. */
  readonly isUsed: boolean;
  /** False for half a minute after a failed request. */
  readonly isUp: boolean;
}

/** The URLs of a source with more than one, after a poll. */
export interface SourceEndpoints {
  readonly source: SourceName;
  /** Absent for chain sources. */
  readonly node?: string;
  readonly endpoints: readonly EndpointState[];
}

/** One poll of one of a validator's nodes, with its sidecar. */
export interface NodeObservation {
  /** The node's name in the configuration, unique within its validator. */
  readonly name: string;
  readonly metrics: Seen<NodePage>;
  readonly prices: Seen<PricesPage>;
  /** A refused connection is normal: current nodes and sidecars do not serve this page. */
  readonly oracleMetrics: Seen<OraclePage>;
  readonly sidecar: Seen<SidecarPage>;
  /** Whether the node's gRPC port, from which the sidecar reads its market map, accepts a connection. */
  readonly grpc: Seen<Reached>;
  /** Outbound connections, by "host:port"; empty if none are configured. */
  readonly egress: ReadonlyMap<string, Seen<Reached>>;
}

/** An accepted connection. */
export interface Reached {
  readonly target: string;
}

/** A node's metrics page. Counters start at zero with the process. */
export interface NodePage {
  readonly chainId: string;
  /** The node's successful and failed calls to its sidecar, one per vote. A missing series counts as zero. */
  readonly success: bigint;
  readonly failure: bigint;
  /** Why the page does not show whether the node votes, although its validator has voting power. Both counts are then 0. */
  readonly votesUnseen?: string;
  /** Number of unreadable lines for other metrics. Absent if there are none. */
  readonly skippedLines?: number;
  /** Height of the latest block. */
  readonly height?: bigint;
  readonly processStartMs?: number;
  /** Versions of the program (if the page shows it) and of Go: "v9.1.3, go1.23.12". */
  readonly version?: string;
  /** Time of a sample stored by Prometheus, on its clock. Absent if the page was scraped in this poll. */
  readonly sampledAtMs?: number;
  /** Clock of the node's machine: the response's `Date` header, to the second. */
  readonly clockMs?: number;
  /** The watchdog's clock when the page with `clockMs` had arrived. Other sources in the poll may take longer. */
  readonly clockReadAtMs?: number;
  /** True while the node is catching up with the chain. */
  readonly isSyncing?: boolean;
  readonly peers?: number;
  /** Voting power of the validator that this node signs for; absent if it signs for none. */
  readonly votingPower?: bigint;
  readonly lastSignedHeight?: bigint;
  readonly missedBlocks?: bigint;
  /** `app_abci_requests` for `extend_vote`, by status: "Success", "OracleClientError", "PreBlockError", … */
  readonly extendVotes?: ReadonlyMap<string, bigint>;
  /** Duration of the node's calls to its sidecar, ms. A call that timed out appears only in `count`. */
  readonly oracleLatency?: Histogram;
  /** Counts of the watched validator's vote extensions in the blocks, by consensus address. */
  readonly reports?: ReadonlyMap<string, VoteReports>;
  /** All validators' counts of votes with a price for one pair. Only for a scraped page. */
  readonly votes?: VotesOfPair;
  /** The validator's votes compared with all others'. */
  readonly sharedVotes?: SharedMisses;
  readonly voteComparison?: PeerComparison;
}

/** The pair for which the validator had the most prices, and all validators' counts for it, by consensus address. */
interface VotesOfPair {
  /** As the node prints it: "btc/usd". */
  readonly pair: string;
  readonly byValidator: ReadonlyMap<string, VoteReports>;
}

/** One validator's vote extensions since the start of the node that reports them. */
export interface VoteReports {
  /** Votes with at least one price: the highest count for any pair. */
  readonly withPrice: bigint;
  /** Blocks without a vote from the validator. */
  readonly absent: bigint;
  /** All counted blocks. */
  readonly total: bigint;
}

/** A Prometheus histogram: cumulative counts, by upper bound. */
export interface Histogram {
  readonly count: bigint;
  readonly sum: number;
  readonly buckets: ReadonlyMap<number, bigint>;
}

/**
 * Response from the sidecar's price API. With `isDerived`, the pairs that were updated between the last two scrapes stored by
 * Prometheus, without prices, last update time or duration.
 */
export interface PricesPage {
  readonly isDerived?: true;
  /** Pairs that have a price, sorted. */
  readonly pairs: readonly string[];
  /** Prices by pair, as whole numbers scaled by the pair's decimals. */
  readonly prices: ReadonlyMap<string, bigint>;
  /** Time of the sidecar's last price update, ms. Undefined before its first update. */
  readonly tickedAtMs: number | undefined;
  /** Empty if the sidecar reports none. */
  readonly version: string;
  /** URL that responded. */
  readonly url: string;
}

/** Oracle metrics from an old node; not the sidecar's. */
export interface OraclePage {
  readonly kind: "oracle" | "sidecar";
}

/** The sidecar's metrics page. Counters start at zero when it starts. */
export interface SidecarPage {
  readonly processStartMs?: number;
  readonly version?: string;
  /** Number of unreadable lines for other metrics. Absent if there are none. */
  readonly skippedLines?: number;
  /** Price loop updates, about 4 per second. */
  readonly systemUpdates: bigint;
  /** Updates that gave the pair a price, by pair, e.g. "BTC/USD". A pair that has never had a price is missing. */
  readonly tickerUpdates: ReadonlyMap<string, bigint>;
  /** Number of providers that each pair can use at this moment. */
  readonly marketProviders: ReadonlyMap<string, number>;
  /** Decimals of the prices in the price API, by pair. Absent, or without a pair, if the page does not state them. */
  readonly decimals?: ReadonlyMap<string, number>;
  readonly providers: ReadonlyMap<string, ProviderPage>;
}

/** One of a sidecar's price providers. */
export interface ProviderPage {
  /** Undefined until the provider has responded. */
  readonly type: "api" | "websockets" | undefined;
  readonly responses: bigint;
  /** Failed responses by code, e.g. 5 for a WebSocket that cannot be opened. */
  readonly failures: ReadonlyMap<string, bigint>;
  /** Its WebSocket events, by name: "healthy", "unhealthy", "read_success", "dial_err", … */
  readonly webSocket: ReadonlyMap<string, bigint>;
  /** For an API, the duration of a request, ms. For a WebSocket, the time between two messages, ms. */
  readonly responseTime?: Histogram;
  /** Latest update of any of its feeds. */
  readonly lastUpdateMs?: number;
}

/** One poll of the chain, read over REST, or the head over RPC. Each part can fail independently. */
export interface ChainObservation {
  readonly head: Seen<ChainHead>;
  readonly validator: Seen<ValidatorView>;
  readonly prices: Seen<readonly ChainPrice[]>;
  readonly revenue: Seen<RevenueView>;
  /** The planned upgrade. Absent if not configured. */
  readonly upgrade?: Seen<UpgradeView>;
  /** Result of searching for the last month's payment. Absent or "not-configured" if nothing is searched now. */
  readonly payment?: Seen<Payment>;
  /** Absent: not configured. */
  readonly slashing?: Seen<SlashingReading>;
  readonly peers?: Seen<PeersView>;
}

/** The latest block. */
export interface ChainHead {
  readonly chainId: string;
  readonly height: bigint;
  readonly blockTimeMs: number;
  /** First block of the current UTC month, by block time. Absent if the month has not changed since the last poll. */
  readonly monthEdge?: MonthEdge;
}

/** A month that starts between two polls. */
export interface MonthEdge {
  /** The month that starts, e.g. "2026-12". */
  readonly month: string;
  /** Height of its first block. */
  readonly firstHeight: bigint;
}

/** The validator set and the validator's place in it. */
export interface ValidatorView {
  readonly size: number;
  readonly isInSet: boolean;
  /** 0 outside the set. */
  readonly votingPower: bigint;
  /** True if the latest commit contains the validator's signature; absent outside the set. */
  readonly signedLatest?: boolean;
  /** Who else missed the latest commits; absent outside the set. */
  readonly commits?: SharedMisses;
}

/** A price stored by the chain. */
export interface ChainPrice {
  readonly pair: string;
  /** Block that set the price; 0 if the pair has never had one. */
  readonly height: bigint;
  /** Undefined if the pair has never had a price. */
  readonly blockTimeMs: number | undefined;
  /** Whole number, scaled by `decimals`. */
  readonly price: bigint;
  /** Absent if the chain does not state it. */
  readonly decimals?: number;
}

/** The chain's reward programme. */
export interface RevenueView {
  readonly params: RevenueParams;
  /** Absent if the configuration names no operator address. */
  readonly stats?: RevenueStats;
}

/** Parameters of the revenue module. Shares are exact decimals with 18 places, scaled by 10^18. */
export interface RevenueParams {
  readonly blocksAllowedToMiss: bigint;
  readonly blocksRequired: bigint;
  readonly votesAllowedToMiss: bigint;
  readonly votesRequired: bigint;
  /** Reward for a full month, in the quote asset. */
  readonly baseCompensation: bigint;
  readonly quoteAsset: string;
  readonly schedule: "monthly" | "block-based" | "empty";
}

/** The chain's counts for the validator in its current payment period. The chain pays by these counts. */
export interface RevenueStats {
  readonly committedBlocks: bigint;
  readonly committedVotes: bigint;
  readonly inActiveSet: bigint;
  /** Blocks in the period so far. */
  readonly totalBlocks: bigint;
}

/** Why a scrape failed. `refused`: the host refused the connection, so no process is listening on the port. */
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
  /** the chain has no such module */
  | "absent"
  /** the response is not from the Prometheus API */
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
  /** the page has no oracle metrics */
  | "no-oracle-metrics"
  /** the page has no block height */
  | "no-height";

/** A failed scrape. */
interface SourceFailure {
  readonly code: SourceFailureCode;
  /** Message for people. */
  readonly text: string;
}

/** The node's page for callers that need votes: an error while it does not show any. */
export function votesSeen({ metrics }: NodeObservation): Seen<NodePage> {
  if (metrics.state !== "up" || metrics.value.votesUnseen === undefined) return metrics;
  const failure = { code: "no-oracle-metrics", text: metrics.value.votesUnseen } as const;
  return { state: "error", failure, durationMs: metrics.durationMs };
}

const NO_HEIGHT =
  "the page has no …_consensus_height, so no halt, missing vote or forecast can be seen; check [instrumentation] in the node's config.toml, and that no collector drops or renames the metric";

/** The node's page for callers that need all of it: an error while it does not show votes or a height. */
export function nodeSeen(node: NodeObservation): Seen<NodePage> {
  const seen = votesSeen(node);
  if (seen.state !== "up" || seen.value.height !== undefined || seen.value.isSyncing === true) return seen;
  return { state: "error", failure: { code: "no-height", text: NO_HEIGHT }, durationMs: seen.durationMs };
}

/** Thrown when a source is read; {@link toSourceFailure} converts it to a {@link SourceFailure}. */
export class SourceError extends CodedError<{ readonly code: SourceFailureCode }> {}

/** Converts any error thrown by a scrape. */
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

/** For a host with several addresses, Node throws an AggregateError, which has the code of its first error. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "ECONNREFUSED") || isRefusal(error.cause);
}
