import type { Clock } from "../../platform/base/clock.ts";
import { type Month, monthOf, monthsBefore } from "../../platform/base/month.ts";
import { nodeLabels, sidecarLabels } from "../sources/targets.ts";
import type { Labels, NodeTarget, SourceLimits, SourceName, ValidatorTarget } from "../sources/targets.ts";
import {
  type NodeObservation,
  type NodePage,
  type Observation,
  type PricesPage,
  type Seen,
  type SidecarPage,
  votesSeen,
  type Witness,
} from "../sources/observation.ts";
import type { ClosedMonth, PaymentReader, PaymentSearch } from "./closed-month.ts";
import type { Sample } from "../prometheus/text-parser.ts";
import { type CountedTo, createChainReader } from "../sources/chain-reader.ts";
import { createScrape, NOT_CONFIGURED, readerOf, readMetricsPage } from "../sources/page-reader.ts";
import type { MetricsPageOptions, PageReader, Reach, Scrape } from "../sources/page-reader.ts";
import { START_TOLERANCE_MS } from "../ledger/counter-state.ts";
import { createFailoverReader, type FailoverReader } from "../sources/failover.ts";
import { bestPairOf, isNodeMetric, isNodeSample, toNodeReading } from "../sources/node-reading.ts";
import { createVoteTracker } from "../sources/shared-misses.ts";
import {
  isOracleMetric,
  isSidecarMetric,
  priceUrls,
  readPrices,
  toOracleReading,
  toSidecarReading,
} from "../sources/sidecar-reading.ts";

interface PollContext {
  /** The chain on which the nodes must be. If undefined, any single chain is accepted. */
  readonly chainId: string | undefined;
  /** The last block counted by the ledger; undefined before the first reading. */
  readonly counted: CountedTo | undefined;
  /** Returns a past month's count. Absent if payments are not searched for. */
  readonly closed?: (month: Month) => ClosedMonth | undefined;
}

/** Reads all sources of one validator in parallel. Rejects only on abort; a failing source is an error in the observation. */
export type Poller = (context: PollContext, signal: AbortSignal) => Promise<Observation>;

export interface StoredNodeOptions {
  readonly chainId: string | undefined;
  readonly consensusAddress: string | undefined;
}

/** Reads node and sidecar metrics stored by Prometheus. All functions throw `SourceError`, also if samples are too old. */
export interface StoredPages {
  readonly node: (labels: Labels, options: StoredNodeOptions, signal: AbortSignal) => Promise<NodePage>;
  readonly sidecar: (labels: Labels, signal: AbortSignal) => Promise<SidecarPage>;
  /** Reads the pairs updated between the sidecar's last two scrapes. */
  readonly prices: (labels: Labels, signal: AbortSignal) => Promise<PricesPage>;
}

export interface PollerDeps {
  readonly clock: Clock;
  readonly read: PageReader;
  readonly reach: Reach;
  /** Required if any validator's metrics come from Prometheus. */
  readonly stored?: StoredPages;
  /** Creates the search for a validator's payments. If absent, no search is made. */
  readonly paymentReaderOf?: (
    target: ValidatorTarget,
    read: PageReader,
    scrape: Scrape,
  ) => PaymentReader | undefined;
}

/** Creates a poller for one validator. For prices, it first tries the path that responded at the previous poll. */
export function createPoller(target: ValidatorTarget, limits: SourceLimits, given: PollerDeps): Poller {
  const scrape = createScrape(limits.deadlineMs, given.clock);
  const dates = new Map<string, Witness>();
  const own = readerOf(target.endpoints ?? [], given.read);
  const dated: PageReader = async (url, ...rest) => {
    const page = await own(url, ...rest);
    const { host } = new URL(url);
    if (page.clockMs !== undefined)
      dates.set(host, { host, timeMs: page.clockMs, readMs: given.clock.monotonicMs() });
    return page;
  };
  const failover = createFailoverReader(fallbacksOf(target), { ...given, read: dated, ...limits });
  const deps = { ...given, read: failover.read };
  const parts = { target, limits, deps, scrape, dates };
  const nodes = target.nodes.map((node) => createNodePoller(node, parts));
  const chain = createChainReader(target, deps.read, scrape, deps.clock);
  const payment = given.paymentReaderOf?.(target, deps.read, scrape);
  return async ({ chainId, counted, closed }, signal) => {
    dates.clear();
    const [seen, reached] = await Promise.all([
      Promise.all(nodes.map((poll) => poll(chainId, signal))),
      Promise.all(target.egress.map(async (to) => [to, await reachSeen(to, parts, signal)] as const)),
    ]);
    const egress = new Map(reached);
    // Read the chain after the nodes, so that its latest block is never behind their counts: the ledger finds a month's first block
    // by height.
    const chainSeen = await chain(counted, signal);
    const paid = await payment?.(paymentSearch(chainSeen, closed, deps.clock.nowMs()), signal);
    return {
      validator: target.name,
      atMs: deps.clock.nowMs(),
      nodes: seen.map((node) => ({ ...node, egress })),
      chain: paid === undefined ? chainSeen : { ...chainSeen, payment: paid },
      dates: [...dates.values()],
      endpoints: endpointsOf(target, failover),
    };
  };
}

function paymentSearch(
  { head, revenue }: Observation["chain"],
  closed: PollContext["closed"],
  nowMs: number,
): PaymentSearch {
  if (head.state !== "up") return { head: undefined, closed: undefined, revenue: undefined, nowMs };
  const { height, blockTimeMs: timeMs } = head.value;
  const [month = ""] = monthsBefore(monthOf(timeMs), 1);
  return {
    head: { height, timeMs },
    closed: closed?.(month),
    revenue: revenue.state === "up" ? revenue.value : undefined,
    nowMs,
  };
}

function fallbacksOf({ nodes, chain }: ValidatorTarget) {
  return [...nodes.flatMap(({ fallbacks = [] }) => fallbacks), chain?.fallbacks ?? []];
}

/** The chain's sources in the order used by the API, and their fields in an observation. */
const CHAIN_SOURCES = [
  ["chain-head", "head"],
  ["chain-validator", "validator"],
  ["chain-prices", "prices"],
  ["chain-revenue", "revenue"],
  ["chain-upgrade", "upgrade"],
  ["chain-payment", "payment"],
  ["chain-slashing", "slashing"],
  ["chain-peers", "peers"],
] as const;

function endpointsOf({ nodes, chain }: ValidatorTarget, failover: FailoverReader) {
  const ofNodes = nodes.flatMap(({ name, node, prices, oracleMetrics, sidecarMetrics }) =>
    (
      [
        ["node", node],
        ["prices", prices],
        ["oracle-metrics", oracleMetrics],
        ["sidecar-metrics", sidecarMetrics],
      ] as const
    ).flatMap(([source, url]) =>
      url === undefined ? [] : [{ source, node: name, endpoints: failover.endpointsOf(url) }],
    ),
  );
  const ofRest = chain === undefined ? [] : failover.endpointsOf(chain.rest);
  // Payments are searched over RPC.
  const ofChain = CHAIN_SOURCES.filter(([source]) => source !== "chain-payment").map(([source]) => ({
    source,
    endpoints: ofRest,
  }));
  return [...ofNodes, ...ofChain].filter(({ endpoints }) => endpoints.length > 0);
}

interface PollerParts {
  readonly target: ValidatorTarget;
  readonly limits: SourceLimits;
  readonly deps: PollerDeps;
  readonly scrape: Scrape;
  /** The poll's information about the time, by host. */
  readonly dates: Map<string, Witness>;
}

function createNodePoller(node: NodeTarget, parts: PollerParts) {
  const { target, deps } = parts;
  const pages =
    target.isStored && deps.stored !== undefined
      ? createStoredNodePages(node, { ...parts, stored: deps.stored })
      : createScrapedNodePages(node, parts);
  return async (
    chainId: string | undefined,
    signal: AbortSignal,
  ): Promise<Omit<NodeObservation, "egress">> => {
    const [seen, grpc] = await Promise.all([
      pages(chainId, signal),
      ifConfigured(node.grpc, (to) => reachSeen(to, parts, signal)),
    ]);
    return { name: node.name, ...seen, grpc };
  };
}

type NodePages = (
  chainId: string | undefined,
  signal: AbortSignal,
) => Promise<Pick<NodeObservation, "metrics" | "prices" | "oracleMetrics" | "sidecar">>;

function createScrapedNodePages(
  node: NodeTarget,
  { scrape, deps, target, limits, dates }: PollerParts,
): NodePages {
  const { consensusAddress } = target;
  const page = (url: string, wanted: Pick<MetricsPageOptions, "needs" | "wants">, signal: AbortSignal) =>
    readMetricsPage({ url, maxBytes: limits.maxPageBytes, ...wanted }, deps.read, signal);
  const prices = createPricesReader(node.prices, deps.read);
  const votes = consensusAddress === undefined ? undefined : createVoteReading(consensusAddress);
  return async (chainId, signal) => {
    const [metrics, pricesSeen, oracleMetrics, sidecar] = await Promise.all([
      scrape("the node's metrics page", signal, async (inner) => {
        const { samples, clockMs, skippedLines } = await page(
          node.node,
          { needs: isNodeMetric, wants: (sample) => isNodeSample(sample, consensusAddress, votes?.pair()) },
          inner,
        );
        const clockReadAtMs = deps.clock.nowMs();
        const options = { chainId, consensusAddress, pair: votes?.pair() };
        const own = withSkipped(toNodeReading(samples, options), skippedLines);
        const reading = votes?.compare(samples, own, deps.clock.monotonicMs()) ?? own;
        // A `Date` before the process's start comes from another clock, e.g. a proxy's.
        if (clockMs !== undefined && clockMs >= (reading.processStartMs ?? 0) - START_TOLERANCE_MS)
          return { ...reading, clockMs, clockReadAtMs };
        dates.delete(new URL(node.node).host);
        return reading;
      }),
      prices === undefined ? NOT_CONFIGURED : scrape("the price API", signal, prices),
      ifConfigured(node.oracleMetrics, (url) =>
        scrape("the metrics page", signal, async (inner) =>
          toOracleReading((await page(url, { needs: isOracleMetric }, inner)).samples),
        ),
      ),
      ifConfigured(node.sidecarMetrics, (url) =>
        scrape("the metrics page", signal, async (inner) => {
          const { samples, skippedLines } = await page(url, { needs: isSidecarMetric }, inner);
          return withSkipped(toSidecarReading(samples), skippedLines);
        }),
      ),
    ]);
    return { metrics, prices: pricesSeen, oracleMetrics, sidecar };
  };
}

function withSkipped<T>(page: T, skippedLines: number | undefined): T {
  return skippedLines === undefined ? page : { ...page, skippedLines };
}

/** Compares the votes of all validators as shown on one node's pages. */
function createVoteReading(address: string) {
  let pair: string | undefined;
  const track = createVoteTracker(address);
  return {
    /** The only pair whose votes are read: for all pairs, a large set has thousands of series. Undefined before the first page. */
    pair: () => pair,
    /** Adds the comparison to a reading. */
    compare: (samples: readonly Sample[], reading: NodePage, nowMs: number): NodePage => {
      if (reading.votes?.byValidator.has(address) === true)
        return { ...reading, ...track(reading.votes.byValidator, nowMs) };
      pair = bestPairOf(samples, address);
      return reading;
    },
  };
}

/** Reads the series stored by Prometheus. The price API is scraped directly if its URL is configured. */
function createStoredNodePages(
  node: NodeTarget,
  { scrape, deps, target, stored }: PollerParts & { readonly stored: StoredPages },
): NodePages {
  const { consensusAddress } = target;
  const pricesOf = createPricesReader(node.prices, deps.read);
  const own = nodeLabels(node);
  const labels = sidecarLabels(node);
  // Prometheus has its own deadline for all validators together, and each poll waits for it.
  const wait = <T>(read: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<Seen<T>> =>
    scrape("Prometheus", signal, read);
  return async (chainId, signal) => {
    const hasSidecar = node.sidecarMetrics !== undefined;
    const [metrics, prices, sidecar] = await Promise.all([
      wait((inner) => stored.node(own, { chainId, consensusAddress }, inner), signal),
      pricesOf !== undefined
        ? scrape("the price API", signal, pricesOf)
        : hasSidecar
          ? wait((inner) => stored.prices(labels, inner), signal)
          : NOT_CONFIGURED,
      hasSidecar ? wait((inner) => stored.sidecar(labels, inner), signal) : NOT_CONFIGURED,
    ]);
    return { metrics, prices, oracleMetrics: NOT_CONFIGURED, sidecar };
  };
}

function createPricesReader(configured: string | undefined, read: PageReader) {
  if (configured === undefined) return undefined;
  let urls = priceUrls(configured);
  return async (signal: AbortSignal): Promise<PricesPage> => {
    const reading = await readPrices(urls, read, signal);
    urls = [reading.url, ...urls.filter((url) => url !== reading.url)];
    return reading;
  };
}

function reachSeen(to: string, { scrape, deps }: PollerParts, signal: AbortSignal) {
  return scrape(`a connection to ${to}`, signal, (inner) => deps.reach(to, inner));
}

async function ifConfigured<T>(
  url: string | undefined,
  read: (url: string) => Promise<Seen<T>>,
): Promise<Seen<T>> {
  return url === undefined ? NOT_CONFIGURED : read(url);
}

export interface SeenSource {
  readonly source: SourceName;
  /** Name of the node. Absent for chain sources. */
  readonly node?: string;
  readonly seen: Exclude<Seen<unknown>, { readonly state: "not-configured" }>;
}

/** Returns the configured sources in an observation, node by node, in the order used by the API. */
export function seenSources({ nodes, chain }: Observation): readonly SeenSource[] {
  const ofNodes = nodes.flatMap((node) => [
    { source: "node" as const, node: node.name, seen: votesSeen(node) },
    { source: "prices" as const, node: node.name, seen: node.prices },
    { source: "oracle-metrics" as const, node: node.name, seen: node.oracleMetrics },
    { source: "sidecar-metrics" as const, node: node.name, seen: node.sidecar },
    { source: "grpc" as const, node: node.name, seen: node.grpc },
  ]);
  const egress = [...(nodes[0]?.egress.values() ?? [])];
  // One unreachable target is enough: the source shows the first.
  const worst = egress.find(({ state }) => state === "error") ?? egress[0];
  return [
    ...ofNodes,
    { source: "egress" as const, seen: worst ?? NOT_CONFIGURED },
    ...CHAIN_SOURCES.map(([source, field]) => ({ source, seen: chain[field] ?? NOT_CONFIGURED })),
  ].flatMap(({ seen, ...source }) => (seen.state === "not-configured" ? [] : [{ ...source, seen }]));
}
