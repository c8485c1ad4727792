export interface Feed {
  readonly provider: string;
  readonly kind: "websockets" | "api";
  /** The market's name at the provider, in lower case. */
  readonly offChainTicker: string;
}

export interface Market {
  /** The market's currency pair as `BASE/QUOTE`, in upper case. */
  readonly pair: string;
  /** Number of decimals in the API's prices. A price p is encoded as the integer p · 10^decimals. */
  readonly decimals: number;
  /** Minimum number of feeds with a current price. With fewer feeds, the market has no price. */
  readonly minProviders: number;
  /** Initial price, as an integer scaled by `decimals`. */
  readonly startPrice: bigint;
  readonly feeds: readonly Feed[];
}

/**
 * Default markets, with decimals and prices recorded from a sidecar. Each market has three WebSocket providers and one REST
 * provider. As in the deployed market map, a single REST provider is not sufficient, so no market has a price while the WebSockets
 * are down.
 */
export const DEFAULT_MARKETS: readonly Market[] = [
  market("ATOM/USD", 9, 3, 6_789_000_000n),
  market("BTC/USD", 5, 3, 9_712_345_000n),
  market("DYDX/USD", 9, 3, 1_234_500_000n),
  market("ETH/USD", 6, 3, 3_345_670_000n),
  market("NTRN/USD", 9, 2, 412_345_000n),
  market("SOL/USD", 8, 3, 24_321_000_000n),
  market("TIA/USD", 8, 3, 543_210_000n),
  market("USDT/USD", 9, 2, 1_000_100_000n),
];

function market(pair: string, decimals: number, minProviders: number, startPrice: bigint): Market {
  const base = pair.split("/")[0]?.toLowerCase() ?? "";
  const feeds: readonly Feed[] = [
    { provider: "binance_ws", kind: "websockets", offChainTicker: `${base}usdt` },
    { provider: "coinbase_ws", kind: "websockets", offChainTicker: `${base}-usd` },
    { provider: "kraken_api", kind: "api", offChainTicker: `${base}usd` },
    { provider: "okx_ws", kind: "websockets", offChainTicker: `${base}-usdt` },
  ];
  return { pair, decimals, minProviders, startPrice, feeds };
}
