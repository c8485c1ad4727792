import type { Market } from "./markets.ts";

/** Random prices. The same seed produces the same prices. */
export interface PriceWalk {
  /** Moves every price by at most 0.02 %. Prices stay within 10 % of their start. */
  readonly step: () => void;
  /** Returns the current price as a scaled integer. Undefined for an unknown pair. */
  readonly price: (pair: string) => bigint | undefined;
  /** Random number generator of the walk, uniform in [0, 1). */
  readonly random: () => number;
}

const STEP_PARTS_PER_MILLION = 200;

/** Creates the prices of the markets from a 32-bit seed. */
export function createPriceWalk(markets: readonly Market[], seed: number): PriceWalk {
  const random = createRandom(seed);
  const prices = new Map(markets.map(({ pair, startPrice }) => [pair, startPrice]));
  const step = (): void => {
    for (const { pair, startPrice } of markets) {
      const current = prices.get(pair) ?? startPrice;
      const change = BigInt(Math.round((random() * 2 - 1) * STEP_PARTS_PER_MILLION));
      prices.set(pair, clamp(current + (current * change) / 1_000_000n, startPrice));
    }
  };
  return { step, price: (pair) => prices.get(pair), random };
}

function clamp(price: bigint, start: bigint): bigint {
  const low = (start * 9n) / 10n;
  const high = (start * 11n) / 10n;
  if (price < low) return low;
  return price > high ? high : price;
}

/** The mulberry32 generator. Its 32 bits of state are enough for simulated prices. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
