import { type Dec18, dec18ToNumber, formatDec18, quoDec18 } from "../../platform/base/decimal.ts";
import type { MarketReading } from "../gas-budget/create-market.ts";
import type { Forecast } from "./forecast.ts";
import type { Remedy } from "./steady-state.ts";
import { formatCount, formatRoundedDuration } from "../../platform/base/text.ts";

/** The fee market's status at one moment, with a forecast for the served queries. */
export interface MarketStatus extends Omit<MarketReading, "readAtMs"> {
  readonly sinceReadMs: number;
  /** Ratio of fees paid to gas used × price. The ratio is estimated if the last blocks contain none of the relayer's transactions. */
  readonly feeFactor: Dec18;
  readonly forecast: Forecast;
}

/** Age above which a fee market reading is out of date, ms. */
const FRESH_MS = 60_000;

/** Returns true if the reading is recent enough to describe the current market. */
export function isFresh({ sinceReadMs }: MarketStatus): boolean {
  return sinceReadMs <= FRESH_MS;
}

/**
 * Returns true in the state "demand-above-market": results are late because sending all of them on time needs more gas than the
 * market can sustain.
 */
export function isDemandAboveMarket({ forecast: { demandGas, sustainableGas } }: MarketStatus): boolean {
  return demandGas > sustainableGas;
}

/** Maximum lateness attributed to the market, in blocks. The computed lateness is infinite if other senders' transactions leave no gas. */
const MAX_LATE_BLOCKS = 1_000;

/** Returns the number of blocks by which the fee market delays results, rounded up and at most 1,000; 0 if no reading is recent. */
export function expectedLateBlocks(market: MarketStatus): bigint {
  if (!isFresh(market) || !isDemandAboveMarket(market)) return 0n;
  return BigInt(Math.min(MAX_LATE_BLOCKS, Math.ceil(market.forecast.lateBlocks)));
}

/** Formats a price with four significant digits, e.g. "0.005301". */
export function priceText(price: Dec18): string {
  return dec18ToNumber(price).toLocaleString("en-US", { maximumSignificantDigits: 4, useGrouping: false });
}

/** Formats a price as a multiple of another, nonzero price, with three significant digits, e.g. "1.02". */
export function priceRatio(price: Dec18, of: Dec18): string {
  return String(Number(dec18ToNumber(quoDec18(price, of)).toPrecision(3)));
}

/** Returns the relayer's mean gas over up to `count` of the newest blocks with a reading; undefined if there are none. */
export function meanOwnGas({ blocks }: MarketStatus, count: number): bigint | undefined {
  return mean(blocks.slice(-count).map(({ ownGas }) => ownGas));
}

/** Returns other senders' mean gas over the blocks for which this gas is known; undefined if there are none. */
export function meanOthersGas({ blocks }: MarketStatus): bigint | undefined {
  return mean(blocks.flatMap(({ othersGas }) => othersGas ?? []));
}

function mean(values: readonly bigint[]): bigint | undefined {
  if (values.length === 0) return undefined;
  return values.reduce((sum, value) => sum + value, 0n) / BigInt(values.length);
}

export function remedyJson(remedy: Remedy) {
  const { kind } = remedy;
  const cost = { cost_per_day: `${remedy.costPerDay}` };
  if (kind === "longer-periods") return { kind, factor: Math.ceil(remedy.factor * 100) / 100, ...cost };
  if (kind === "fewer-callbacks") return { kind, late_blocks: lateBlocksJson(remedy.lateBlocks), ...cost };
  return { kind, ceiling: formatDec18(remedy.ceiling), burst_results: remedy.burstResults, ...cost };
}

/** Rounds a lateness for JSON. Returns null for infinity, i.e. if other senders' transactions leave no gas. */
export function lateBlocksJson(lateBlocks: number): number | null {
  return Number.isFinite(lateBlocks) ? oneDecimal(lateBlocks) : null;
}

/** Rounds values below 10 to three digits, because a market may sustain only a tenth of a result per block, and others to one decimal. */
export function threeDigits(value: number): number {
  return value < 10 ? Number(value.toPrecision(3)) : oneDecimal(value);
}

function oneDecimal(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The settings for formatting a forecast's amounts and times. */
export interface ForecastStyle {
  readonly denom: string;
  readonly blockMs: number;
  /** Thousands separator. */
  readonly separator: string;
}

/** Formats the lateness in blocks as a figure, and as a text that explains its effect on results. */
export function lateText(
  lateBlocks: number,
  { blockMs, separator }: Omit<ForecastStyle, "denom">,
): { readonly figure: string; readonly text: string } {
  if (lateBlocks === 0) return { figure: "0", text: "blocks: every result is on time" };
  if (lateBlocks === Infinity) return { figure: "∞", text: "blocks: others use the whole target" };
  const text = `blocks (${secondsText(lateBlocks * blockMs)}): each result, in the steady state`;
  return { figure: decimalText(lateBlocks, separator), text };
}

export function remedyText(remedy: Remedy, style: ForecastStyle): string {
  const { denom, separator } = style;
  const cost = `${formatCount(remedy.costPerDay, separator)} ${denom}`;
  switch (remedy.kind) {
    case "longer-periods":
      return `longer periods: each × ${(Math.ceil(remedy.factor * 100) / 100).toFixed(2)} is on time, for ${cost} a day`;
    case "higher-ceiling":
      return `higher ceiling: up to ${pricedText(remedy.ceiling, denom)}, one burst sends ${formatCount(remedy.burstResults, separator)} results for ${cost}; the steady state does not change`;
    case "fewer-callbacks": {
      const { figure, text } = lateText(remedy.lateBlocks, style);
      return `no callbacks: late by ${figure} ${text}, for ${cost} a day`;
    }
  }
}

function pricedText(price: Dec18, denom: string): string {
  return `${priceText(price)} ${denom}`;
}

/** Formats a duration. Durations below a minute are in seconds with one decimal. */
export function secondsText(durationMs: number): string {
  return durationMs < 60_000 ? `${decimalText(durationMs / 1_000)} s` : formatRoundedDuration(durationMs);
}

/** Formats a number with one decimal, e.g. "1,234.5". */
export function decimalText(value: number, separator = ","): string {
  const [whole = "", digit = ""] = value.toFixed(1).split(".");
  return `${formatCount(Number(whole), separator)}.${digit}`;
}
