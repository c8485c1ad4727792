import { maxInt, minInt } from "../../platform/base/integers.ts";
import type { FaultName, FaultSet } from "./faults.ts";
import type { Feed, Market } from "./markets.ts";
import type { SidecarFamilies } from "./sidecar-families.ts";

export interface PriceLoopOptions {
  readonly markets: readonly Market[];
  readonly seed: number;
  /** Age above which the loop ignores a feed's price. */
  readonly maxPriceAgeMs: number;
  /** Pairs that have no price during the fault `pair-missing`. */
  readonly missingPairs: readonly string[];
  readonly families: SidecarFamilies;
}

export interface PriceSnapshot {
  /** Prices as scaled integers, keyed and sorted by pair. Pairs without a price are omitted. */
  readonly prices: ReadonlyMap<string, bigint>;
  /** Time of the last tick, or undefined before the first tick. */
  readonly tickedAtMs: number | undefined;
}

interface LoopState {
  readonly walk: PriceWalk;
  /** Markets, sorted by pair. */
  readonly markets: readonly Market[];
  /** Feeds by provider, in market order. */
  readonly feedsByProvider: ReadonlyMap<string, readonly Feed[]>;
  /** Time of each feed's last price, keyed by feed key. */
  readonly feedUpdatedMs: Map<string, number>;
  readonly sockets: Map<string, SocketState>;
  /** Time of the last failed request for the market map. */
  failedMapMs: number;
  prices: ReadonlyMap<string, bigint>;
  tickedAtMs: number | undefined;
}

/** Creates a price loop that has not ticked yet. The same seed and ticks produce the same prices. */
export function createPriceLoop(options: PriceLoopOptions) {
  const state: LoopState = {
    walk: createPriceWalk(options.markets, options.seed),
    markets: options.markets.toSorted((a, b) => (a.pair < b.pair ? -1 : 1)),
    feedsByProvider: byProvider(options.markets.flatMap((market) => market.feeds)),
    feedUpdatedMs: new Map(),
    sockets: new Map(),
    failedMapMs: Number.NEGATIVE_INFINITY,
    prices: new Map(),
    tickedAtMs: undefined,
  };
  return {
    /**
     * Moves the simulated prices, queries all providers, and aggregates their prices. Does nothing during the faults
     * `timestamp-stale` and `startup`.
     */
    tick: (nowMs: number, faults: FaultSet) => {
      if (faults.has("timestamp-stale") || faults.has("startup")) return;
      if (faults.has("market-map-empty")) {
        recordMissingMap(options.families, state, nowMs);
        state.prices = new Map();
      } else {
        state.walk.step();
        queryProviders(options, state, nowMs, faults);
        aggregate(options, state, nowMs, faults);
      }
      options.families.systemUpdates.add({});
      state.tickedAtMs = nowMs;
    },
    snapshot: (): PriceSnapshot => ({ prices: state.prices, tickedAtMs: state.tickedAtMs }),
  };
}

/** Time between the requests in which a sidecar asks its node for the market map. */
const MARKET_MAP_MS = 10_000;

/** Records a failed request for the market map, at most once per {@link MARKET_MAP_MS}. */
function recordMissingMap(families: SidecarFamilies, state: LoopState, nowMs: number): void {
  if (nowMs - state.failedMapMs < MARKET_MAP_MS) return;
  state.failedMapMs = nowMs;
  const labels = { code: "15", provider: "marketmap_api", status: "failure", type: "api" };
  families.providerStatus.add(labels);
  families.providerStatusPerId.add({ ...labels, id: "local-node" });
}

function queryProviders(options: PriceLoopOptions, state: LoopState, nowMs: number, faults: FaultSet): void {
  for (const [provider, own] of state.feedsByProvider) {
    const failure = own[0] === undefined ? undefined : failureOf(own[0], faults, nowMs);
    if (!recordProvider(options, state, own, { provider, failure, nowMs })) continue;
    recordFeeds(options.families, own, failure, nowMs);
    if (failure === undefined) for (const feed of own) state.feedUpdatedMs.set(feedKey(feed), nowMs);
  }
}

function byProvider(feeds: readonly Feed[]): LoopState["feedsByProvider"] {
  const groups = new Map<string, Feed[]>();
  for (const feed of feeds) groups.set(feed.provider, [...(groups.get(feed.provider) ?? []), feed]);
  return groups;
}

/** Records the communication with a provider in this tick. Returns false if there was none. */
function recordProvider(
  { families }: PriceLoopOptions,
  { walk, sockets }: LoopState,
  [first]: readonly Feed[],
  exchange: {
    readonly provider: string;
    readonly failure: ProviderFailure | undefined;
    readonly nowMs: number;
  },
): boolean {
  // Square the random number, so that most latencies are short and a few are long.
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

/** Records a provider's responses for its feeds. All feeds must be of the same kind. */
function recordFeeds(
  families: SidecarFamilies,
  feeds: readonly Feed[],
  failure: ProviderFailure | undefined,
  nowMs: number,
): void {
  const code = failure?.code ?? "0";
  const status = failure === undefined ? "success" : "failure";
  const updatedSeconds = Math.floor(nowMs / 1000);
  for (const { provider, offChainTicker: id, kind: type } of feeds) {
    families.providerStatusPerId.add({ code, id, provider, status, type });
    if (failure === undefined) families.lastUpdated.set({ id, provider, type }, updatedSeconds);
  }
  const [first] = feeds;
  if (first === undefined) return;
  const { provider, kind: type } = first;
  families.providerStatus.add({ code, provider, status, type }, feeds.length);
}

function aggregate(options: PriceLoopOptions, state: LoopState, nowMs: number, faults: FaultSet): void {
  const prices = new Map<string, bigint>();
  for (const market of state.markets) {
    const isFaulty = isWithoutPrice(options, market.pair, faults);
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

/** Pairs that have no price during the fault `major-pairs-missing`. */
const MAJOR_PAIRS: readonly string[] = ["BTC/USD", "ETH/USD", "NTRN/USD"];

function isWithoutPrice({ missingPairs }: PriceLoopOptions, pair: string, faults: FaultSet): boolean {
  return (
    faults.has("all-prices-missing") ||
    (faults.has("pair-missing") && missingPairs.includes(pair)) ||
    (faults.has("major-pairs-missing") && MAJOR_PAIRS.includes(pair))
  );
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

/** A random walk that simulates the markets' prices. The same seed produces the same prices. */
type PriceWalk = ReturnType<typeof createPriceWalk>;

const STEP_PARTS_PER_MILLION = 200;

/** Creates the markets' prices from a 32-bit seed. */
export function createPriceWalk(markets: readonly Market[], seed: number) {
  const random = createRandom(seed);
  const prices = new Map(markets.map(({ pair, startPrice }) => [pair, startPrice]));
  const step = (): void => {
    for (const { pair, startPrice } of markets) {
      const current = prices.get(pair) ?? startPrice;
      const change = BigInt(Math.round((random() * 2 - 1) * STEP_PARTS_PER_MILLION));
      prices.set(pair, clamp(current + (current * change) / 1_000_000n, startPrice));
    }
  };
  return {
    /** Moves each price by at most 0.02 %, and keeps it within 10 % of its initial value. */
    step,
    /** Returns the current price as a scaled integer, or undefined if the pair is unknown. */
    price: (pair: string): bigint | undefined => prices.get(pair),
    /** The walk's random number generator, uniform in [0, 1). */
    random,
  };
}

/** Limits a price to within 10 % of its initial value, so that prices stay plausible in long runs. */
function clamp(price: bigint, start: bigint): bigint {
  return minInt(maxInt(price, (start * 9n) / 10n), (start * 11n) / 10n);
}

/** Creates a mulberry32 random number generator, whose 32 bits of state are enough for simulated prices. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface ProviderEvent {
  readonly provider: string;
  readonly failure: ProviderFailure | undefined;
  readonly latencyMs: number;
}

function recordApiProvider(families: SidecarFamilies, event: ProviderEvent & { readonly id: string }): void {
  const { provider, id, latencyMs, failure } = event;
  const status = failure?.httpStatus ?? 200;
  families.apiHttpStatus.add({
    provider,
    status_code: `${Math.floor(status / 100)}XX`,
    status_code_exact: String(status),
  });
  families.apiInternalStatus.add({ id, internal_status: failure?.text ?? "success", provider });
  families.apiLatency.observe({ endpoint: "redacted_url", provider }, latencyMs);
  families.queryDuration.observe({ provider }, latencyMs / 1000);
}

interface SocketState {
  connected: boolean;
  /** Time of the last failed attempt to connect. */
  failedDialMs: number;
}

/** Time between a failed attempt to connect to a WebSocket provider and the next attempt. */
const RECONNECT_MS = 10_000;

/** Number of failed reads after which a deployed sidecar stops reading from a lost connection (`MaxReadErrorCount`). */
const READ_ERRORS = 100;

/** Records a WebSocket provider's message or failed connection attempt. Returns false if this tick had neither. */
function recordWebSocketProvider(
  families: SidecarFamilies,
  event: ProviderEvent & { readonly nowMs: number },
  socket: SocketState,
): boolean {
  const { provider, latencyMs, failure } = event;
  const connection = (status: string, amount = 1): void =>
    families.connectionStatus.add({ provider, status }, amount);
  if (failure?.disconnected) {
    if (socket.connected) connection("read_err", READ_ERRORS);
    else if (event.nowMs - socket.failedDialMs < RECONNECT_MS) return false;
    connection("dial_err");
    connection("unhealthy");
    socket.connected = false;
    socket.failedDialMs = event.nowMs;
    return true;
  }
  if (!socket.connected) {
    socket.connected = true;
    for (const status of ["dial_success", "write_success", "healthy"]) connection(status);
    families.dataHandlerStatus.add({ provider, status: "create_message_success" });
  }
  connection("read_success");
  const handled = failure === undefined ? "handle_message_success" : "handle_message_err";
  families.dataHandlerStatus.add({ provider, status: handled });
  families.webSocketLatency.observe({ provider }, latencyMs);
  families.queryDuration.observe({ provider }, latencyMs / 1000);
  return true;
}

interface ProviderFailure {
  /** Value of the `code` label, i.e. a deployed sidecar's error code or the HTTP status. */
  readonly code: string;
  /** Value of the `internal_status` label for REST providers. */
  readonly text: string;
  /** HTTP status from a REST provider. The sidecar records a missing response as 500. */
  readonly httpStatus?: number;
  /** True if the connection to the WebSocket provider is lost, or undefined if messages arrive but are unusable. */
  readonly disconnected?: true;
}

/** Failures of a single provider, each with the fault that causes the failure and the provider's name. */
const SINGLE: readonly (readonly [FaultName, string, ProviderFailure])[] = [
  ["provider-rate-limited", "kraken_api", { code: "1", text: "rate limit exceeded", httpStatus: 429 }],
  ["provider-blocked", "kraken_api", { code: "451", text: "unknown error", httpStatus: 451 }],
  ["provider-no-response", "kraken_api", { code: "7", text: "got no response", httpStatus: 500 }],
  ["provider-invalid-response", "kraken_api", { code: "8", text: "invalid response", httpStatus: 200 }],
  ["provider-decode-error", "okx_ws", { code: "12", text: "failed to decode message" }],
];

const LOST: ProviderFailure = {
  code: "5",
  text: "failed to start websocket connection",
  disconnected: true,
};

/** Duration of each phase, connected or disconnected, while a connection flaps. */
const FLAP_MS = 15_000;

/** Returns a provider's failure at this time, or undefined if the provider works. */
function failureOf({ provider, kind }: Feed, faults: FaultSet, nowMs: number): ProviderFailure | undefined {
  if (kind === "websockets" && faults.has("websocket-providers-down")) return LOST;
  if (provider === "binance_ws" && faults.has("websocket-flap") && Math.floor(nowMs / FLAP_MS) % 2 === 1)
    return LOST;
  return SINGLE.find(([fault, name]) => name === provider && faults.has(fault))?.[2];
}
