import { type Dec18, dec18ToNumber, quoDec18 } from "../../platform/base/decimal.ts";
import type { MarketReading } from "../gas-budget/create-market.ts";
import type { Forecast } from "./forecast.ts";

/** The fee market as the relayer sees it at one moment, and the cost of the served queries in it. */
export interface MarketStatus extends Omit<MarketReading, "readAtMs"> {
  /** Time since the read, ms. */
  readonly sinceReadMs: number;
  /** The measured factor, or an estimate if the last blocks contain no transactions of our own. */
  readonly feeFactor: Dec18;
  readonly forecast: Forecast;
}

/** Age, in ms, beyond which a reading of the fee market is out of date. */
const FRESH_MS = 60_000;

/** Returns whether the reading is recent enough to describe the current market. */
export function isFresh({ sinceReadMs }: MarketStatus): boolean {
  return sinceReadMs <= FRESH_MS;
}

/**
 * Returns whether timely results would need more gas than the market can sustain at its current price: the state
 * "demand-above-market". This is not a failure: results are included, but late.
 */
export function isDemandAboveMarket({ forecast: { demandGas, sustainableGas } }: MarketStatus): boolean {
  return demandGas > sustainableGas;
}

/** Longest lateness that a market can explain: about an hour. If others leave no gas, results are delayed indefinitely. */
const MAX_LATE_BLOCKS = 1_000;

/** Returns by how many blocks the fee market delays results, rounded up; 0 without a recent reading. At most 1,000. */
export function expectedLateBlocks(market: MarketStatus): bigint {
  if (!isFresh(market) || !isDemandAboveMarket(market)) return 0n;
  return BigInt(Math.min(MAX_LATE_BLOCKS, Math.ceil(market.forecast.lateBlocks)));
}

/** Formats a price with four significant digits: "0.005301". */
export function priceText(price: Dec18): string {
  return dec18ToNumber(price).toLocaleString("en-US", { maximumSignificantDigits: 4, useGrouping: false });
}

/** Formats a price as a multiple of another, nonzero price, with three significant digits: "1.02". */
export function priceRatio(price: Dec18, of: Dec18): string {
  return String(Number(dec18ToNumber(quoDec18(price, of)).toPrecision(3)));
}

/** Returns this relayer's mean gas over the newest blocks with a reading, at most `count`; undefined if there are none. */
export function meanOwnGas({ blocks }: MarketStatus, count: number): bigint | undefined {
  return mean(blocks.slice(-count).map(({ ownGas }) => ownGas));
}

/** Returns others' mean gas over the blocks for which it is known; undefined if there are none. */
export function meanOthersGas({ blocks }: MarketStatus): bigint | undefined {
  return mean(blocks.flatMap(({ othersGas }) => othersGas ?? []));
}

function mean(values: readonly bigint[]): bigint | undefined {
  if (values.length === 0) return undefined;
  return values.reduce((sum, value) => sum + value, 0n) / BigInt(values.length);
}
