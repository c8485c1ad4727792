import { DeadlineError } from "../../platform/base/abort.ts";
import { CodedError, errorText } from "../../platform/base/errors.ts";
import { PrometheusTextError } from "../prometheus/text-parser.ts";
import type { Payment } from "./payment-result.ts";
import type { UpgradeView } from "./upgrade-view.ts";
import type { PeerComparison, PeersView, SharedMisses, SlashingReading } from "./standing-views.ts";
import type { SourceName } from "./targets.ts";

/**
 * Result of reading one source in one poll. "not-configured": the configuration does not name the source. "absent": the chain says that it
 * has no such module, and never had one that the watchdog saw. "error": the watchdog cannot see it; that says nothing about what the source
 * would have shown.
 */
export type Seen<T> =
  | { readonly state: "up"; readonly value: T; readonly durationMs: number }
  | {
      readonly state: "error";
      readonly failure: SourceFailure;
      readonly durationMs: number;
      /** The failure of an earlier poll: the source waits before it is read again. */
      readonly isRepeated?: true;
    }
  | { readonly state: "absent"; readonly durationMs: number }
  | { readonly state: "not-configured" };

/** One poll of one validator. A field that is absent was not seen; absent never means zero. */
export interface Observation {
  /** Name of the validator in the configuration. */
  readonly validator: string;
  /** Wall clock at the end of the poll. */
  readonly atMs: number;
  /** In the order of the configuration; at least one. */
  readonly nodes: readonly NodeObservation[];
  readonly chain: ChainObservation;
  /** How far `atMs` can be trusted. Absent: it can be. */
  readonly clock?: ClockView;
  /** What the sources' clocks showed. Absent: nothing. */
  readonly dates?: readonly Witness[];
  /** Sources with several URLs. Absent: none. */
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

/** This machine's clock, compared with the monotonic clock, with the sources' `Date` headers and with the chain. */
export interface ClockView {
  /** When the clock began to be trusted, on the scale of `atMs`. Absent: it is not trusted. */
  readonly believedSinceMs?: number;
  /** Why it is not believed, as a sentence; empty while it is. */
  readonly problem: string;
  /** What happened to the clock since the last poll, for the ledger. Absent: nothing. */
  readonly change?: string;
}

/** One of several URLs of a source. */
export interface EndpointState {
  /** "10.0.0.1:26660". */
  readonly host: string;
  /** The last request that got a response used it. */
  readonly isUsed: boolean;
  /** False for half a minute after a request that failed. */
  readonly isUp: boolean;
}

/** The URLs of a source that has several, after a poll. */
export interface SourceEndpoints {
  readonly source: SourceName;
  /** Absent for sources of the chain. */
  readonly node?: string;
  readonly endpoints: readonly EndpointState[];
}

/** One poll of one node of a validator, with its sidecar. */
export interface NodeObservation {
  /** Name of the node in the configuration, unique within its validator. */
  readonly name: string;
  readonly metrics: Seen<NodePage>;
  readonly prices: Seen<PricesPage>;
  /** Refused is normal: current nodes and sidecars serve no such page. */
  readonly oracleMetrics: Seen<OraclePage>;
  readonly sidecar: Seen<SidecarPage>;
  /** The node's gRPC port, from which the sidecar reads its market map, accepts a connection. */
  readonly grpc: Seen<Reached>;
  /** Outbound connections, by "host:port"; empty when none is configured. */
  readonly egress: ReadonlyMap<string, Seen<Reached>>;
}

/** A connection that was accepted. */
export interface Reached {
  readonly target: string;
}

/** The metrics page of a node. Counters begin at zero when the process starts. */
export interface NodePage {
  readonly chainId: string;
  /** Successful and failed calls of the node to its sidecar, one per vote. A missing series is zero. */
  readonly success: bigint;
  readonly failure: bigint;
  /** Why the page does not show whether the node votes, although its validator has voting power. Both counts are then 0. */
  readonly votesUnseen?: string;
  /** Lines of other metrics that cannot be read. Absent: none. */
  readonly skippedLines?: number;
  /** Height of the latest block. */
  readonly height?: bigint;
  readonly processStartMs?: number;
  /** Versions of the program (if the page has it) and of Go: "v9.1.3, go1.23.12". */
  readonly version?: string;
  /** Time of a sample that Prometheus stored, by its clock. Absent for a page that was scraped in this poll. */
  readonly sampledAtMs?: number;
  /** The clock of the node's machine: the `Date` header of the response, to the second. */
  readonly clockMs?: number;
  /** The watchdog's clock when the page with `clockMs` had arrived. Other sources of the poll can take longer. */
  readonly clockReadAtMs?: number;
  /** True while the node is catching up with the chain. */
  readonly isSyncing?: boolean;
  readonly peers?: number;
  /** Voting power of the validator that this node signs for; absent when it signs for none. */
  readonly votingPower?: bigint;
  readonly lastSignedHeight?: bigint;
  readonly missedBlocks?: bigint;
  /** `app_abci_requests` of `extend_vote`, by status: "Success", "OracleClientError", "PreBlockError", … */
  readonly extendVotes?: ReadonlyMap<string, bigint>;
  /** Duration of the node's calls to its sidecar, ms. A call that timed out is only in `count`. */
  readonly oracleLatency?: Histogram;
  /** Counts of every validator's vote extensions in the blocks, by consensus address. */
  readonly reports?: ReadonlyMap<string, VoteReports>;
  /** Counts of the votes of all validators with a price of one pair. Only of a page that was scraped. */
  readonly votes?: VotesOfPair;
  /** The validator's votes among all others'. */
  readonly sharedVotes?: SharedMisses;
  readonly voteComparison?: PeerComparison;
}

/** The pair of which the validator had most prices, and the counts of all validators for it, by consensus address. */
interface VotesOfPair {
  /** As the node prints it: "btc/usd". */
  readonly pair: string;
  readonly byValidator: ReadonlyMap<string, VoteReports>;
}

/** Vote extensions of one validator since the start of the node that reports them. */
export interface VoteReports {
  /** Votes with at least one price: the greatest count of any pair. */
  readonly withPrice: bigint;
  /** Blocks without a vote of the validator. */
  readonly absent: bigint;
  /** All blocks that were counted. */
  readonly total: bigint;
}

/** A Prometheus histogram. Cumulative counts, by upper bound. */
export interface Histogram {
  readonly count: bigint;
  readonly sum: number;
  readonly buckets: ReadonlyMap<number, bigint>;
}

/**
 * Response of the sidecar's price API. With `isDerived`, pairs that had an update between the last two scrapes that
 * Prometheus stored: it has no price, no time of the last update, and no duration.
 */
export interface PricesPage {
  readonly isDerived?: true;
  /** Pairs that have a price, sorted. */
  readonly pairs: readonly string[];
  /** Prices by pair, as whole numbers in the unit of the pair's decimals. */
  readonly prices: ReadonlyMap<string, bigint>;
  /** Time of the sidecar's last price update, ms. Undefined before its first update. */
  readonly tickedAtMs: number | undefined;
  /** Empty when the sidecar reports none. */
  readonly version: string;
  /** URL of the response. */
  readonly url: string;
}

/** Oracle metrics of an old node, which are not the sidecar's. */
export interface OraclePage {
  readonly kind: "oracle" | "sidecar";
}

/** Metrics page of the sidecar. Counters begin at zero when it starts. */
export interface SidecarPage {
  readonly processStartMs?: number;
  readonly version?: string;
  /** Lines of other metrics that cannot be read. Absent: none. */
  readonly skippedLines?: number;
  /** Updates of the price loop, about 4 per second. */
  readonly systemUpdates: bigint;
  /** Updates that gave the pair a price, by pair as in "BTC/USD". A pair that never had a price has none. */
  readonly tickerUpdates: ReadonlyMap<string, bigint>;
  /** Providers that the pair can use at this moment, by pair. */
  readonly marketProviders: ReadonlyMap<string, number>;
  /** Decimals of the prices in the price API, by pair. Absent or without the pair: the page does not say it. */
  readonly decimals?: ReadonlyMap<string, number>;
  readonly providers: ReadonlyMap<string, ProviderPage>;
}

/** One price provider of a sidecar. */
export interface ProviderPage {
  /** Undefined while the provider has not responded. */
  readonly type: "api" | "websockets" | undefined;
  readonly responses: bigint;
  /** Failed responses by code, such as 5 for a WebSocket that cannot be opened. */
  readonly failures: ReadonlyMap<string, bigint>;
  /** Events of its WebSocket by name: "healthy", "unhealthy", "read_success", "dial_err", … */
  readonly webSocket: ReadonlyMap<string, bigint>;
  /** API: duration of a request, ms. WebSocket: time between two messages, ms. */
  readonly responseTime?: Histogram;
  /** Latest update of any of its feeds. */
  readonly lastUpdateMs?: number;
}

/** One poll of the chain, read from REST. Each part can fail on its own. */
export interface ChainObservation {
  readonly head: Seen<ChainHead>;
  readonly validator: Seen<ValidatorView>;
  readonly prices: Seen<readonly ChainPrice[]>;
  readonly revenue: Seen<RevenueView>;
  /** The planned upgrade. Absent: not configured. */
  readonly upgrade?: Seen<UpgradeView>;
  /** Result of a search for the last month's payment. Absent and "not-configured": nothing is searched now. */
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
  /** First block of the current UTC month by block time. Absent when the month did not change since the last poll. */
  readonly monthEdge?: MonthEdge;
}

/** A month that begins between two polls. */
export interface MonthEdge {
  /** The month that begins, such as "2026-12". */
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
  /** True if the latest commit has the validator's signature; absent outside the set. */
  readonly signedLatest?: boolean;
  /** Who else missed the latest commits; absent outside the set. */
  readonly commits?: SharedMisses;
}

/** A price that the chain stores. */
export interface ChainPrice {
  readonly pair: string;
  /** Block that set the price; 0 for a pair that never had one. */
  readonly height: bigint;
  /** Undefined for a pair that never had a price. */
  readonly blockTimeMs: number | undefined;
  /** Whole number in the unit of `decimals`. */
  readonly price: bigint;
  /** Absent: the chain does not say it. */
  readonly decimals?: number;
}

/** The chain's reward programme. */
export interface RevenueView {
  readonly params: RevenueParams;
  /** Absent when the configuration names no operator address. */
  readonly stats?: RevenueStats;
}

/** Parameters of the revenue module. Shares are exact decimals with 18 places, scaled by 10^18. */
export interface RevenueParams {
  readonly blocksAllowedToMiss: bigint;
  readonly blocksRequired: bigint;
  readonly votesAllowedToMiss: bigint;
  readonly votesRequired: bigint;
  /** Reward for a full month in the quote asset. */
  readonly baseCompensation: bigint;
  readonly quoteAsset: string;
  readonly schedule: "monthly" | "block-based" | "empty";
}

/** The chain's counts for the validator in its current payment period. The chain pays by these numbers. */
export interface RevenueStats {
  readonly committedBlocks: bigint;
  readonly committedVotes: bigint;
  readonly inActiveSet: bigint;
  /** Blocks of the period so far. */
  readonly totalBlocks: bigint;
}

/** Why a scrape failed. `refused`: the host refused the connection, so no process listens on the port. */
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
  /** the response is not one of a chain's REST */
  | "not-a-chain"
  /** the chain has no such module */
  | "absent"
  /** the response is not one of the Prometheus API */
  | "not-prometheus"
  /** Prometheus could not read all of its data */
  | "incomplete"
  /** Prometheus has no recent sample of the target */
  | "stale"
  /** labels select more than one target of Prometheus */
  | "several-targets"
  | "several-chains"
  | "wrong-chain"
  /** a value of the page is outside its range */
  | "bad-value"
  /** two nodes answer at one URL */
  | "two-nodes"
  /** the page has no metrics of the oracle */
  | "no-oracle-metrics"
  /** the page has no block height */
  | "no-height";

/** A failed scrape. */
interface SourceFailure {
  readonly code: SourceFailureCode;
  /** Message for people. */
  readonly text: string;
}

/** The node's page for those who want to see votes: an error while it does not show any. */
export function votesSeen({ metrics }: NodeObservation): Seen<NodePage> {
  if (metrics.state !== "up" || metrics.value.votesUnseen === undefined) return metrics;
  const failure = { code: "no-oracle-metrics", text: metrics.value.votesUnseen } as const;
  return { state: "error", failure, durationMs: metrics.durationMs };
}

const NO_HEIGHT =
  "the page has no …_consensus_height, so no halt, missing vote or forecast can be seen; check [instrumentation] in the node's config.toml, and that no collector drops or renames the metric";

/** The node's page for those who want all of it: an error while it shows no votes or no height. */
export function nodeSeen(node: NodeObservation): Seen<NodePage> {
  const seen = votesSeen(node);
  if (seen.state !== "up" || seen.value.height !== undefined || seen.value.isSyncing === true) return seen;
  return { state: "error", failure: { code: "no-height", text: NO_HEIGHT }, durationMs: seen.durationMs };
}

/** Thrown by the readers of a source; {@link toSourceFailure} turns it into a {@link SourceFailure}. */
export class SourceError extends CodedError<{ readonly code: SourceFailureCode }> {}

/** Converts anything that a scrape threw. */
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

/** For a host with several addresses Node throws an AggregateError; it has the code of its first error. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "ECONNREFUSED") || isRefusal(error.cause);
}
