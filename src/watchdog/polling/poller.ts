import { type CountedTo, type EndpointState, readingOf } from "../sources/observation.ts";
import type {
  NodeObservation,
  NodeReading,
  Observation,
  PricesReading,
  Seen,
  SidecarReading,
  Witness,
} from "../sources/observation.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { type Month, monthOf, monthsBefore } from "../../platform/base/month.ts";
import { createChainReader } from "../sources/chain-reader.ts";
import { createMetricsReader } from "../sources/node-reading.ts";
import { createScrape, drain, NOT_CONFIGURED, readerOf } from "../sources/page-reader.ts";
import type { Page, PageReader, Reach, Scrape } from "../sources/page-reader.ts";
import { createPricesReader, readOracle, readSidecar } from "../sources/sidecar-reading.ts";
import { nodeLabels, sidecarLabels, SOURCE_NAMES } from "../sources/targets.ts";
import type { Labels, NodeTarget, SourceLimits, ValidatorTarget } from "../sources/targets.ts";
import type { ClosedMonth, PaymentReader, PaymentSearch } from "./closed-month.ts";
import { onAbort, withDeadline } from "../../platform/base/abort.ts";
import { type Endpoint, endpointNames, pathBelow, urlBelow } from "../../platform/http/remote.ts";

interface PollContext {
  /** The id of the chain to which all nodes must belong. If undefined, any chain is accepted, but it must be the same for all nodes. */
  readonly chainId: string | undefined;
  /** The last block that the ledger has counted; undefined before the first reading. */
  readonly counted: CountedTo | undefined;
  /** Returns the watchdog's block counts for a past month; absent if the watchdog does not search for payments. */
  readonly closed?: (month: Month) => ClosedMonth | undefined;
}

/** Reads all sources of one validator in parallel. If a source fails, the observation contains its error; rejects only on abort. */
export type Poller = (context: PollContext, signal: AbortSignal) => Promise<Observation>;

export interface StoredNodeOptions {
  readonly chainId: string | undefined;
  readonly consensusAddress: string | undefined;
}

/** Reads node and sidecar metrics stored by Prometheus. Each function throws `SourceError` if it fails or if the samples are too old. */
export interface StoredReadings {
  readonly node: (labels: Labels, options: StoredNodeOptions, signal: AbortSignal) => Promise<NodeReading>;
  readonly sidecar: (labels: Labels, signal: AbortSignal) => Promise<SidecarReading>;
  /** Reads which pairs' prices the sidecar updated between its last two scrapes. */
  readonly prices: (labels: Labels, signal: AbortSignal) => Promise<PricesReading>;
}

interface PollerDeps {
  readonly clock: Clock;
  readonly read: PageReader;
  readonly reach: Reach;
  /** Reads samples stored by Prometheus; required if any validator's metrics come from Prometheus. */
  readonly stored?: StoredReadings;
  /** Creates the search for a validator's payments. If absent, the watchdog does not search for payments. */
  readonly paymentReaderOf?: (
    target: ValidatorTarget,
    read: PageReader,
    scrape: Scrape,
  ) => PaymentReader | undefined;
}

/** Creates a poller for one validator. The poller first requests prices from the path that responded at the previous poll. */
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
    // Read the chain after the nodes, so that the chain's latest block is not behind the nodes' counters. The ledger needs this order,
    // because it splits months at the height of a month's first block.
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
    revenue: readingOf(revenue),
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
  // Exclude the payment source, because payment searches use RPC instead of REST.
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
  /** `Date` headers of this poll's responses, by host. */
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

/** Creates a reader for a node whose metrics are stored by Prometheus. The price API is scraped directly if its URL is configured. */
function createStoredNodeReader(
  node: NodeTarget,
  { scrape, deps, target, stored }: PollerParts & { readonly stored: StoredReadings },
): NodeReader {
  const { consensusAddress } = target;
  const readPrices = createPricesReader(node.prices, deps.read);
  const own = nodeLabels(node);
  const labels = sidecarLabels(node);
  // The deadline ends only this poll's wait. The shared query continues for other validators until Prometheus's own deadline.
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

type FailoverReader = ReturnType<typeof createFailoverReader>;

/** For this long after a URL fails, try that URL last, so that not every poll waits for it. */
const FAILED_MS = 30_000;

/** HTTP statuses with which a server or its proxy reports that it is unavailable or refuses this client. */
const UNAVAILABLE: ReadonlySet<number> = new Set([401, 402, 403, 407, 429, 502, 503, 504]);

interface FallbackGroup {
  readonly urls: readonly URL[];
  readonly names: readonly string[];
  /** Monotonic time of each URL's last failure, by the URL's index. */
  readonly failedMs: Map<number, number>;
  used: number;
}

/**
 * Creates a page reader that falls back to a source's other URLs. `groups` lists each source's endpoints in order of preference, all of
 * which must lead to the same process; callers request the first endpoint or a path below it. If a URL does not respond within its part of
 * the deadline, or is unavailable, the request goes to the next URL. If all URLs fail, the result is the last URL's response or error.
 */
export function createFailoverReader(
  groups: readonly (readonly Endpoint[])[],
  deps: { readonly read: PageReader; readonly clock: Clock; readonly deadlineMs: number },
) {
  const { read, clock, deadlineMs } = deps;
  const known = groups
    .filter((endpoints) => endpoints.length > 1)
    .map(
      (endpoints): FallbackGroup => ({
        urls: endpoints.map(({ url }) => new URL(url)),
        names: endpointNames(endpoints),
        failedMs: new Map(),
        used: 0,
      }),
    );
  const groupOf = (url: URL): FallbackGroup | undefined =>
    known.find(({ urls }) => urls[0]?.href === url.href) ??
    known.find(({ urls: [first] }) => first !== undefined && pathBelow(first, url) !== undefined);
  const isUp = ({ failedMs }: FallbackGroup, index: number): boolean => {
    const atMs = failedMs.get(index);
    return atMs === undefined || clock.monotonicMs() - atMs >= FAILED_MS;
  };
  const readGroup = async (
    group: FallbackGroup,
    url: URL,
    signal: AbortSignal,
    sent: Parameters<PageReader>[2],
  ): Promise<Page> => {
    const indexes = [...group.urls.keys()].toSorted(
      (a, b) => Number(isUp(group, b)) - Number(isUp(group, a)) || a - b,
    );
    const partMs = deadlineMs / indexes.length;
    for (const [attempt, index] of indexes.entries()) {
      const isLast = attempt === indexes.length - 1;
      const target = urlOf(group, index, url);
      // Abort an attempt only if it fails, because aborting its signal would also stop reading the body.
      const end = new AbortController();
      onAbort(signal, (reason) => end.abort(reason));
      try {
        const what = `a response from ${group.names[index]}`;
        const page = await withDeadline(what, partMs, signal, () => read(target.href, end.signal, sent));
        const isAvailable = !UNAVAILABLE.has(page.status);
        if (isAvailable) group.failedMs.delete(index);
        else group.failedMs.set(index, clock.monotonicMs());
        if (isAvailable || isLast) {
          group.used = index;
          return page;
        }
        await drain(page);
      } catch (error) {
        end.abort(error);
        if (signal.aborted) throw error;
        group.failedMs.set(index, clock.monotonicMs());
        if (isLast) throw error;
      }
    }
    throw new Error("a source has no URL");
  };
  const readAny: PageReader = (url, signal, sent) => {
    if (known.length === 0) return read(url, signal, sent);
    const parsed = new URL(url);
    const group = groupOf(parsed);
    return group === undefined ? read(url, signal, sent) : readGroup(group, parsed, signal, sent);
  };
  return {
    read: readAny,
    /** Returns the states of a source's URLs, in order; empty if the source has only one URL. */
    endpointsOf: (url: string): readonly EndpointState[] => {
      const group = known.length === 0 ? undefined : groupOf(new URL(url));
      if (group === undefined) return [];
      const { names, used } = group;
      return names.map((host, index) => ({ host, isUsed: used === index, isUp: isUp(group, index) }));
    },
  };
}

/** Returns the fallback URL with this index, with the requested path appended. */
function urlOf({ urls: [first, ...others] }: FallbackGroup, index: number, requested: URL): URL {
  const url = others[index - 1];
  if (first === undefined || url === undefined) return requested;
  return urlBelow(url.href, pathBelow(first, requested) ?? "");
}
