import type { Dec18 } from "../../platform/base/decimal.ts";
import type { Forecast } from "./forecast.ts";

/**
 * Phases of the budget, as they appear in JSON and metrics:
 *
 * - "steady": the price stays where it is;
 * - "burst": a backlog is sent, up to the ceiling of the price;
 * - "recovering": the price returns to its steady value;
 * - "above-ceiling": the price is above the ceiling, and only urgent results are sent;
 * - "unlimited": the ceiling is not below `gas.max_price`, so only `batch.block_share` limits a block.
 */
export const MARKET_PHASES = ["steady", "burst", "recovering", "above-ceiling", "unlimited"] as const;

export type MarketPhase = (typeof MARKET_PHASES)[number];

/** The fee market as the relayer sees it, at one instant. Prices are fee coins for one unit of gas. */
export interface MarketStatus {
  /** Denom of the price. */
  readonly denom: string;
  /** Local height after which the price was read. */
  readonly readAtHeight: bigint;
  /** Time since that read, ms. */
  readonly sinceReadMs: number;
  /** Price of the next block. */
  readonly price: Dec18;
  /** Lowest price of the chain. */
  readonly minimum: Dec18;
  /** Price above which only urgent results are sent: `gas.price.comfortable`. */
  readonly ceiling: Dec18;
  /** Price above which nothing is sent: `gas.max_price`. */
  readonly cap: Dec18;
  readonly phase: MarketPhase;
  /** Gas of a block at which the price stays as it is. */
  readonly targetGas: bigint;
  /** Gas of others in a block, smoothed. */
  readonly othersGas: bigint;
  /** Gas that the relayer may use of the next block. */
  readonly budgetGas: bigint;
  /** Recent blocks, oldest first, at most 100. Blocks without a reading are absent. */
  readonly blocks: readonly MarketBlock[];
  /** Fees of the last blocks, divided by gas used × price; an estimate without own transactions in them. */
  readonly feeFactor: Dec18;
  /** Prices of the last day since the start, oldest first, at most 288. */
  readonly day: readonly PricePoint[];
  /** What the served queries cost at this market, and how late they will be. */
  readonly forecast: Forecast;
}

/** One block of the local chain. */
export interface MarketBlock {
  readonly height: bigint;
  /** Price that its transactions paid. */
  readonly price: Dec18;
  /** Gas used by this relayer's transactions. */
  readonly ownGas: bigint;
  /** Their fees, in units of the relayer's fee denom. */
  readonly ownFee: bigint;
  /** Gas used by others; undefined when only a bound of it is known, because the price stayed at the minimum. */
  readonly othersGas: bigint | undefined;
}

/** Lowest and highest price of five minutes. */
export interface PricePoint {
  /** Wall-clock time of its start, ms. */
  readonly startMs: number;
  readonly low: Dec18;
  readonly high: Dec18;
}
