import type { Clock } from "../../platform/base/clock.ts";
import { type Month, monthOf, monthsBefore } from "../../platform/base/month.ts";
import { createChainReader } from "../sources/chain-reader.ts";
import { createFailoverReader, type FailoverReader } from "../sources/failover.ts";
import { createMetricsReader } from "../sources/node-reading.ts";
import type {
  CountedTo,
  NodeObservation,
  NodeReading,
  Observation,
  PricesReading,
  Seen,
  SidecarReading,
  Witness,
} from "../sources/observation.ts";
import { createScrape, NOT_CONFIGURED, readerOf } from "../sources/page-reader.ts";
import type { PageReader, Reach, Scrape } from "../sources/page-reader.ts";
import { createPricesReader, readOracle, readSidecar } from "../sources/sidecar-reading.ts";
import { nodeLabels, sidecarLabels, SOURCE_NAMES } from "../sources/targets.ts";
import type { Labels, NodeTarget, SourceLimits, ValidatorTarget } from "../sources/targets.ts";
import type { ClosedMonth, PaymentReader, PaymentSearch } from "./closed-month.ts";

interface PollContext {
  /** The chain on which the nodes must be. If undefined, any single chain is accepted. */
  readonly chainId: string | undefined;
  /** How far the ledger has counted; undefined before the first reading. */
  readonly counted: CountedTo | undefined;
  /** Returns what was counted in a past month. Absent if payments are not searched for. */
  readonly closed?: (month: Month) => ClosedMonth | undefined;
}

/** Reads all sources of one validator in parallel. Rejects only on abort; a failing source is an error in the observation. */
export type Poller = (context: PollContext, signal: AbortSignal) => Promise<Observation>;

export interface StoredNodeOptions {
  readonly chainId: string | undefined;
  readonly consensusAddress: string | undefined;
}

/** Reads node and sidecar metrics stored by Prometheus. All functions throw `SourceError`, also if samples are too old. */
export interface StoredReadings {
  readonly node: (labels: Labels, options: StoredNodeOptions, signal: AbortSignal) => Promise<NodeReading>;
  readonly sidecar: (labels: Labels, signal: AbortSignal) => Promise<SidecarReading>;
  /** Reads the pairs updated between the sidecar's last two scrapes. */
  readonly prices: (labels: Labels, signal: AbortSignal) => Promise<PricesReading>;
}

export interface PollerDeps {
  readonly clock: Clock;
  readonly read: PageReader;
  readonly reach: Reach;
  /** Required if any validator's metrics come from Prometheus. */
  readonly stored?: StoredReadings;
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
  const ofChain = SOURCE_NAMES.filter(
    (source) => source.startsWith("chain-") && source !== "chain-payment",
  ).map((source) => ({ source, endpoints: ofRest }));
  return [...ofNodes, ...ofChain].filter(({ endpoints }) => endpoints.length > 0);
}

interface PollerParts {
  readonly target: ValidatorTarget;
  readonly limits: SourceLimits;
  readonly deps: PollerDeps;
  readonly scrape: Scrape;
  /** What the poll shows about the time, by host. */
  readonly dates: Map<string, Witness>;
}

function createNodePoller(node: NodeTarget, parts: PollerParts) {
  const { target, deps } = parts;
  const read =
    target.isStored && deps.stored !== undefined
      ? createStoredNodeReader(node, { ...parts, stored: deps.stored })
      : createScrapedNodeReader(node, parts);
  return async (
    chainId: string | undefined,
    signal: AbortSignal,
  ): Promise<Omit<NodeObservation, "egress">> => {
    const [seen, grpc] = await Promise.all([
      read(chainId, signal),
      ifConfigured(node.grpc, (to) => reachSeen(to, parts, signal)),
    ]);
    return { name: node.name, ...seen, grpc };
  };
}

type NodeReader = (
  chainId: string | undefined,
  signal: AbortSignal,
) => Promise<Pick<NodeObservation, "metrics" | "prices" | "oracleMetrics" | "sidecar">>;

function createScrapedNodeReader(
  node: NodeTarget,
  { scrape, deps, target, limits, dates }: PollerParts,
): NodeReader {
  const { consensusAddress } = target;
  const maxBytes = limits.maxPageBytes;
  const readNode = createMetricsReader({ url: node.node, maxBytes, consensusAddress }, deps);
  const readPrices = createPricesReader(node.prices, deps.read);
  return async (chainId, signal) => {
    const [metrics, prices, oracleMetrics, sidecar] = await Promise.all([
      scrape("the node's metrics page", signal, async (inner) => {
        const reading = await readNode(chainId, inner);
        if (reading.clockMs === undefined) dates.delete(new URL(node.node).host);
        return reading;
      }),
      readPrices === undefined ? NOT_CONFIGURED : scrape("the price API", signal, readPrices),
      ifConfigured(node.oracleMetrics, (url) =>
        scrape("the metrics page", signal, (inner) => readOracle({ url, maxBytes }, deps.read, inner)),
      ),
      ifConfigured(node.sidecarMetrics, (url) =>
        scrape("the metrics page", signal, (inner) => readSidecar({ url, maxBytes }, deps.read, inner)),
      ),
    ]);
    return { metrics, prices, oracleMetrics, sidecar };
  };
}

/** Reads the series stored by Prometheus. The price API is scraped directly if its URL is configured. */
function createStoredNodeReader(
  node: NodeTarget,
  { scrape, deps, target, stored }: PollerParts & { readonly stored: StoredReadings },
): NodeReader {
  const { consensusAddress } = target;
  const readPrices = createPricesReader(node.prices, deps.read);
  const own = nodeLabels(node);
  const labels = sidecarLabels(node);
  // Prometheus has its own deadline for all validators together, and each poll waits for it.
  const wait = <T>(read: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<Seen<T>> =>
    scrape("Prometheus", signal, read);
  return async (chainId, signal) => {
    const hasSidecar = node.sidecarMetrics !== undefined;
    const [metrics, prices, sidecar] = await Promise.all([
      wait((inner) => stored.node(own, { chainId, consensusAddress }, inner), signal),
      readPrices !== undefined
        ? scrape("the price API", signal, readPrices)
        : hasSidecar
          ? wait((inner) => stored.prices(labels, inner), signal)
          : NOT_CONFIGURED,
      hasSidecar ? wait((inner) => stored.sidecar(labels, inner), signal) : NOT_CONFIGURED,
    ]);
    return { metrics, prices, oracleMetrics: NOT_CONFIGURED, sidecar };
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
