import type { FaultName } from "./faults.ts";
import type { Feed, Market } from "./markets.ts";
import { createPriceWalk, type PriceWalk } from "./price-walk.ts";
import { recordApiProvider, recordWebSocketProvider, type SocketState } from "./provider-metrics.ts";
import type { SidecarFamilies } from "./sidecar-families.ts";

export interface PriceLoopOptions {
  readonly markets: readonly Market[];
  readonly seed: number;
  /** Maximum age of a feed's price. An older price is not used. */
  readonly maxPriceAgeMs: number;
  /** Pairs without a price during the fault `pair-missing`. */
  readonly missingPairs: readonly string[];
  readonly families: SidecarFamilies;
}

/** The current prices. */
export interface PriceSnapshot {
  /** Prices by pair, as scaled integers, sorted by pair. A pair without a price is absent. */
  readonly prices: ReadonlyMap<string, bigint>;
  /** Time of the last tick; undefined before the first. */
  readonly tickedAtMs: number | undefined;
}

/** The price aggregation of a sidecar. */
export interface PriceLoop {
  /** Moves the prices, queries every provider, and aggregates. Does nothing during the fault `timestamp-stale`. */
  readonly tick: (nowMs: number, faults: ReadonlySet<FaultName>) => void;
  readonly snapshot: () => PriceSnapshot;
}

interface LoopState {
  readonly walk: PriceWalk;
  /** Time of the last price, by feed key. */
  readonly feedUpdatedMs: Map<string, number>;
  readonly sockets: Map<string, SocketState>;
  prices: ReadonlyMap<string, bigint>;
  tickedAtMs: number | undefined;
}

/** Creates a loop before its first tick. The same seed and the same ticks produce the same prices. */
export function createPriceLoop(options: PriceLoopOptions): PriceLoop {
  const state: LoopState = {
    walk: createPriceWalk(options.markets, options.seed),
    feedUpdatedMs: new Map(),
    sockets: new Map(),
    prices: new Map(),
    tickedAtMs: undefined,
  };
  return {
    tick: (nowMs, faults) => {
      if (faults.has("timestamp-stale")) return;
      state.walk.step();
      queryProviders(options, state, nowMs, faults.has("websocket-providers-down"));
      aggregate(options, state, nowMs, faults);
      options.families.systemUpdates.add({});
      state.tickedAtMs = nowMs;
    },
    snapshot: () => ({ prices: state.prices, tickedAtMs: state.tickedAtMs }),
  };
}

function queryProviders(
  options: PriceLoopOptions,
  state: LoopState,
  nowMs: number,
  socketsDown: boolean,
): void {
  const feeds = options.markets.flatMap((market) => market.feeds);
  for (const provider of new Set(feeds.map((feed) => feed.provider))) {
    const own = feeds.filter((feed) => feed.provider === provider);
    const alive = !(socketsDown && own[0]?.kind === "websockets");
    if (!recordProvider(options, state, own, { provider, alive, nowMs })) continue;
    for (const feed of own) recordFeed(options.families, feed, alive, nowMs);
    if (alive) for (const feed of own) state.feedUpdatedMs.set(feedKey(feed), nowMs);
  }
}

/** Records the exchange with one provider. Returns false when there was none. */
function recordProvider(
  { families }: PriceLoopOptions,
  { walk, sockets }: LoopState,
  [first]: readonly Feed[],
  exchange: { readonly provider: string; readonly alive: boolean; readonly nowMs: number },
): boolean {
  // Squared, so that most latencies are short and a few are long.
  const event = { ...exchange, latencyMs: 5 + 295 * walk.random() ** 2 };
  if (first?.kind === "api") {
    recordApiProvider(families, { ...event, id: first.offChainTicker });
    return true;
  }
  const socket = sockets.get(exchange.provider) ?? {
    connected: false,
    failedDialMs: Number.NEGATIVE_INFINITY,
  };
  sockets.set(exchange.provider, socket);
  return recordWebSocketProvider(families, event, socket);
}

function recordFeed(families: SidecarFamilies, feed: Feed, alive: boolean, nowMs: number): void {
  const { provider, offChainTicker: id, kind: type } = feed;
  const outcome = alive
    ? ({ code: "0", status: "success" } as const)
    : ({ code: "5", status: "failure" } as const);
  families.providerStatus.add({ ...outcome, provider, type });
  families.providerStatusPerId.add({ ...outcome, id, provider, type });
  if (alive) families.lastUpdated.set({ id, provider, type }, Math.floor(nowMs / 1000));
}

function aggregate(
  options: PriceLoopOptions,
  state: LoopState,
  nowMs: number,
  faults: ReadonlySet<FaultName>,
): void {
  const prices = new Map<string, bigint>();
  for (const market of options.markets.toSorted((a, b) => (a.pair < b.pair ? -1 : 1))) {
    const isFaulty =
      faults.has("all-prices-missing") ||
      (faults.has("pair-missing") && options.missingPairs.includes(market.pair));
    const usable = market.feeds.filter((feed) => {
      const updatedMs = state.feedUpdatedMs.get(feedKey(feed));
      return !isFaulty && updatedMs !== undefined && nowMs - updatedMs <= options.maxPriceAgeMs;
    });
    recordMarket(options.families, market, usable);
    if (usable.length < market.minProviders) continue;
    const price = state.walk.price(market.pair) ?? market.startPrice;
    prices.set(market.pair, price);
    recordPrice(options.families, market, usable, price);
  }
  state.prices = prices;
}

function recordMarket(families: SidecarFamilies, market: Market, usable: readonly Feed[]): void {
  const id = market.pair.toLowerCase();
  families.marketProviders.set({ id }, usable.length);
  for (const feed of market.feeds) {
    families.providerUpdates.add({ id, provider: feed.provider, success: String(usable.includes(feed)) });
  }
}

function recordPrice(
  families: SidecarFamilies,
  market: Market,
  usable: readonly Feed[],
  price: bigint,
): void {
  const id = market.pair.toLowerCase();
  const decimals = String(market.decimals);
  const value = Number(price) / 10 ** market.decimals;
  families.tickerUpdates.add({ id });
  families.aggregatedPrice.set({ decimals, id }, value);
  for (const { provider } of usable) families.providerPrice.set({ decimals, id, provider }, value);
}

function feedKey(feed: Feed): string {
  return `${feed.provider} ${feed.offChainTicker}`;
}
