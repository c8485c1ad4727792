import type { Clock } from "../../platform/base/clock.ts";
import { decodeBech32, upperHex } from "../../platform/base/bytes.ts";
import type { Sample } from "../prometheus/text-parser.ts";
import { MAX_VERSION, type NodeReading, SourceError, type VoteReports } from "./observation.ts";
import { type PageReader, readMetricsPage } from "./page-reader.ts";
import { createVoteTracker } from "./shared-misses.ts";
import {
  countBy,
  histogramOf,
  requireChainId,
  requireCount,
  requireEvents,
  START_TOLERANCE_MS,
  startTimeMs,
} from "./sample-values.ts";

const RESPONSES = "app_oracle_responses";
const PROCESS_START = "process_start_time_seconds";
const ABCI_REQUESTS = "app_abci_requests";
const LATENCY = "app_oracle_response_latency";
/** The metric for all validators' vote extensions, with a `validator` label. */
export const REPORTS_METRIC = "app_report_status_per_validator";
/**
 * Matches CometBFT's metrics for the latest block height. The prefix of their names is the namespace under [instrumentation] in
 * config.toml, by default `cometbft` (formerly `tendermint`).
 */
const HEIGHT = /^\w+_consensus_(?:latest_block_height|height)$/;
const SYNCING = /^\w+_(?:block_?sync|consensus_(?:fast|block))_?syncing$/;
const PEERS = /^\w+_p2p_peers$/;
const POWER = /^\w+_consensus_validator_power$/;
const LAST_SIGNED = /^\w+_consensus_validator_last_signed_height$/;
const MISSED = /^\w+_consensus_validator_missed_blocks$/;
/** Matches metrics that have a `version` label: `server_info` with the Cosmos SDK's version, and other programs' `…_build_info`. */
const BUILD_INFO = /^(?:.*_)?(?:build|server)_info$/;
const GO_INFO = "go_info";
const NODE_FAMILY = /^(?:app|cometbft|tendermint)_/;

/** Patterns that match the names of the metrics needed for counting. */
export const CALL_METRICS: readonly string[] = [
  PROCESS_START,
  RESPONSES,
  "\\w+_consensus_(?:latest_block_height|height)",
];

/** Patterns for the names of the metrics that {@link isNodeSample} selects, without metrics that have one series per validator. */
export const NODE_METRICS: readonly string[] = [
  ...CALL_METRICS,
  ABCI_REQUESTS,
  GO_INFO,
  `${LATENCY}_(?:bucket|sum|count)`,
  "\\w+_consensus_(?:fast|block)_?syncing",
  "\\w+_consensus_validator_(?:power|last_signed_height|missed_blocks)",
  "\\w+_(?:block_?sync_?syncing|p2p_peers)",
];

/** Returns true if a metric appears only on node pages. */
export function isNodeFamily(name: string): boolean {
  return NODE_FAMILY.test(name) || HEIGHT.test(name);
}

const WANTED = [HEIGHT, SYNCING, PEERS, POWER, LAST_SIGNED, MISSED, BUILD_INFO] as const;

interface NodeReadingOptions {
  /** Selects the chain whose metrics are read if the page contains several chains. */
  readonly chainId?: string | undefined;
  /** Selects the validator whose vote extensions are read, because the page has series for all validators and pairs. */
  readonly consensusAddress?: string | undefined;
  /** Selects the pair for which all validators' votes are read; absent until a pair has been chosen. */
  readonly pair?: string | undefined;
}

/** Returns true for a metric that {@link toNodeReading} reads. */
export function isNodeMetric(name: string): boolean {
  if (name.startsWith("app_")) return isVoteMetric(name) || BUILD_INFO.test(name);
  return name === PROCESS_START || name === GO_INFO || WANTED.some((pattern) => pattern.test(name));
}

/** Returns true for metrics about oracle votes. A node that has voted, with any result, exports at least one of these metrics. */
function isVoteMetric(name: string): boolean {
  return VOTE_METRICS.includes(name) || name.startsWith(`${LATENCY}_`);
}

const VOTE_METRICS: readonly string[] = [RESPONSES, ABCI_REQUESTS, REPORTS_METRIC];

/**
 * Creates a reader of one node's metrics page. The reader compares successive pages' vote counters of all validators for only one pair,
 * chosen on the first page, because all pairs of a large validator set would be thousands of series. Throws {@link SourceError}.
 */
export function createMetricsReader(
  { url, maxBytes, consensusAddress }: MetricsReaderOptions,
  { read, clock }: { readonly read: PageReader; readonly clock: Clock },
) {
  let pair: string | undefined;
  const track = consensusAddress === undefined ? undefined : createVoteTracker(consensusAddress);
  /** Adds the comparison of all validators' votes to a reading. */
  const withVotes = (reading: NodeReading, samples: readonly Sample[]): NodeReading => {
    if (consensusAddress === undefined || track === undefined) return reading;
    if (reading.votes?.byValidator.has(consensusAddress) === true)
      return { ...reading, ...track(reading.votes.byValidator, clock.monotonicMs()) };
    pair = bestPairOf(samples, consensusAddress);
    return reading;
  };
  return async (chainId: string | undefined, signal: AbortSignal): Promise<NodeReading> => {
    const wants = (sample: Sample): boolean => isNodeSample(sample, consensusAddress, pair);
    const page = await readMetricsPage({ url, maxBytes, needs: isNodeMetric, wants }, read, signal);
    const { samples, clockMs, ...skipped } = page;
    const clockReadAtMs = clock.nowMs();
    const own = { ...toNodeReading(samples, { chainId, consensusAddress, pair }), ...skipped };
    const reading = withVotes(own, samples);
    // A `Date` before the process's start was set by another clock, such as a proxy's.
    if (clockMs === undefined || clockMs < (reading.processStartMs ?? 0) - START_TOLERANCE_MS) return reading;
    return { ...reading, clockMs, clockReadAtMs };
  };
}

interface MetricsReaderOptions {
  readonly url: string;
  readonly maxBytes: number;
  readonly consensusAddress: string | undefined;
}

/** Returns true if {@link toNodeReading} needs the sample, given the selected validator and pair. */
export function isNodeSample({ name, labels }: Sample, consensusAddress?: string, pair?: string): boolean {
  if (name === REPORTS_METRIC) {
    if (consensusAddress === undefined) return false;
    return (
      labels.get("validator") === consensusAddress || (pair !== undefined && labels.get("ticker") === pair)
    );
  }
  return name === ABCI_REQUESTS ? isVoteCall({ name, labels }) : isNodeMetric(name);
}

function isVoteCall({ name, labels }: Pick<Sample, "name" | "labels">): boolean {
  return name === ABCI_REQUESTS && labels.get("abci_method") === "extend_vote";
}

/**
 * Reads a node's page. Throws {@link SourceError} if the page has no node metrics or lacks the selected chain, if it contains
 * several chains but none is selected, or if a value is out of range.
 */
export function toNodeReading(samples: readonly Sample[], options: NodeReadingOptions = {}): NodeReading {
  const chain = chooseChain(samples, options.chainId);
  // Samples without a chain_id label, such as process metrics, belong to every chain.
  const own = samples.filter(({ labels }) => (labels.get("chain_id") ?? chain) === chain);
  const first = (pattern: RegExp): Sample | undefined => own.find(({ name }) => pattern.test(name));
  // On a local chain, one node may sign for several validators.
  const ofValidator = (pattern: RegExp): Sample | undefined => {
    const all = own.filter(({ name }) => pattern.test(name));
    const { consensusAddress } = options;
    if (all.length <= 1 || consensusAddress === undefined) return all[0];
    const address = upperHex(decodeBech32(consensusAddress).bytes);
    return all.find(({ labels }) => labels.get("validator_address") === address);
  };
  const start = own.find(({ name }) => name === PROCESS_START);
  const extendVotes = countBy(own.filter(isVoteCall), "status");
  const votingPower = countOf(ofValidator(POWER));
  const syncing = first(SYNCING);
  const isSyncing = syncing && syncing.value !== 0;
  const peers = first(PEERS);
  const isUnseen =
    (votingPower ?? 0n) > 0n && isSyncing !== true && !own.some(({ name }) => isVoteMetric(name));
  return withoutUndefined({
    chainId: chain,
    votesUnseen: isUnseen ? VOTES_UNSEEN : undefined,
    success: sumOf(own, "Success"),
    failure: sumOf(own, "Failure"),
    height: heightOf(own),
    processStartMs: start && startTimeMs(start),
    version: versionOf(own),
    isSyncing,
    peers: peers && Number(requireEvents(peers)),
    votingPower,
    lastSignedHeight: countOf(ofValidator(LAST_SIGNED)),
    missedBlocks: countOf(ofValidator(MISSED)),
    extendVotes: extendVotes.size === 0 ? undefined : extendVotes,
    oracleLatency: histogramOf(own, LATENCY),
    reports: reportsOf(own, options.consensusAddress),
    votes: votesOf(own, options.pair),
  });
}

const VOTES_UNSEEN = `the page has neither ${RESPONSES} nor any other oracle metric, so it does not show whether the node votes; check [oracle] enabled and metrics_enabled in the node's app.toml, and that no collector drops or renames the app_ metrics`;

function versionOf(own: readonly Sample[]): string | undefined {
  const versions = [
    ...own.filter(({ name }) => BUILD_INFO.test(name)).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ...own.filter(({ name }) => name === GO_INFO),
  ].flatMap(({ labels }) => labels.get("version") ?? []);
  const known = versions.filter((version) => version !== "" && version.length <= MAX_VERSION);
  return known.length === 0 ? undefined : [...new Set(known)].join(", ");
}

function heightOf(own: readonly Sample[]): bigint | undefined {
  const heights = own.filter(({ name }) => HEIGHT.test(name));
  const latest = heights.find(({ name }) => name.endsWith("latest_block_height"));
  if (latest !== undefined) return requireCount(latest);
  // `consensus_height` is the height that validators vote on, which is one above the latest block.
  const [voting] = heights;
  return voting && requireCount({ ...voting, value: Math.max(0, voting.value - 1) });
}

/** Counts the validator's vote extensions. The pair with the most prices supplies the number of votes with any price. */
function reportsOf(own: readonly Sample[], address: string | undefined): NodeReading["reports"] {
  if (address === undefined) return undefined;
  const best = bestPair(own, address);
  return best && new Map([[address, best[1]]]);
}

/** Counts every validator's votes for one pair. */
function votesOf(own: readonly Sample[], pair: string | undefined): NodeReading["votes"] {
  if (pair === undefined) return undefined;
  const byValidator = countReports(own, "validator", ({ labels }) => labels.get("ticker") === pair);
  return byValidator.size === 0 ? undefined : { pair, byValidator };
}

/** Returns the pair for which a validator had the most prices, as the node prints it; undefined if the validator has no votes. */
export function bestPairOf(samples: readonly Sample[], address: string): string | undefined {
  return bestPair(samples, address)?.[0];
}

function bestPair(own: readonly Sample[], address: string): readonly [string, VoteReports] | undefined {
  const pairs = [...countReports(own, "ticker", ({ labels }) => labels.get("validator") === address)];
  const [first, ...rest] = pairs;
  return first && rest.reduce((most, one) => (one[1].withPrice > most[1].withPrice ? one : most), first);
}

/** Sums the selected vote reports by the value of a label. */
function countReports(
  own: readonly Sample[],
  label: "ticker" | "validator",
  isWanted: (sample: Sample) => boolean,
): ReadonlyMap<string, VoteReports> {
  const counts = new Map<string, Record<string, bigint>>();
  for (const sample of own) {
    if (sample.name !== REPORTS_METRIC || !isWanted(sample)) continue;
    const key = sample.labels.get(label) ?? "";
    const known = counts.get(key) ?? {};
    known[sample.labels.get("status") ?? ""] = requireEvents(sample);
    counts.set(key, known);
  }
  return new Map(
    [...counts].map(([key, { with_price: withPrice = 0n, missing_price: missing = 0n, absent = 0n }]) => [
      key,
      { withPrice, absent, total: withPrice + missing + absent },
    ]),
  );
}

function chooseChain(samples: readonly Sample[], selected: string | undefined): string {
  // Require metrics that only nodes have, because every Go program exports `process_start_time_seconds`.
  const chains = new Set(
    samples.filter(({ name }) => isNodeFamily(name)).flatMap(({ labels }) => labels.get("chain_id") ?? []),
  );
  for (const chain of chains) requireChainId(chain);
  if (selected !== undefined && chains.has(selected)) return selected;
  const [first, ...others] = chains;
  if (first === undefined)
    throw new SourceError(
      { code: "not-a-node" },
      "the page has no node metrics; check that the URL is the node's and that its Prometheus metrics are enabled",
    );
  if (selected !== undefined)
    throw new SourceError(
      { code: "wrong-chain" },
      `the node is on chain ${[...chains].join(", ")}, expected ${selected}; check sources.node and chain_id`,
    );
  if (others.length > 0)
    throw new SourceError(
      { code: "several-chains" },
      `the page contains several chains (${[...chains].join(", ")}); select one with chain_id`,
    );
  return first;
}

/** Returns the number of oracle calls with this status; 0 if the series does not exist. */
function sumOf(samples: readonly Sample[], status: string): bigint {
  // The node creates a series at its first event, so there is no `Failure` series before the first failure.
  return samples
    .filter(({ name, labels }) => name === RESPONSES && labels.get("status") === status)
    .reduce((sum, sample) => sum + requireCount(sample), 0n);
}

function countOf(sample: Sample | undefined): bigint | undefined {
  return sample && requireEvents(sample);
}

/** Removes undefined fields, because readings leave out fields without a value. */
function withoutUndefined(
  page: { readonly [Key in keyof NodeReading]: NodeReading[Key] | undefined },
): NodeReading {
  const { chainId = "", success = 0n, failure = 0n, ...rest } = page;
  const seen = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { chainId, success, failure, ...seen };
}
