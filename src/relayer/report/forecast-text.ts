import type { Dec18 } from "../../platform/base/decimal.ts";
import { formatCount, formatRoundedDuration } from "../../platform/base/text.ts";
import { priceText } from "../forecast/market-view.ts";
import type { Remedy } from "../forecast/steady-state.ts";

/** The format of a forecast's amounts and times. */
export interface ForecastStyle {
  readonly denom: string;
  readonly blockMs: number;
  /** Thousands separator. */
  readonly separator: string;
}

/** Formats the lateness in blocks and its meaning. */
export function lateText(
  lateBlocks: number,
  { blockMs, separator }: Omit<ForecastStyle, "denom">,
): { readonly figure: string; readonly text: string } {
  if (lateBlocks === 0) return { figure: "0", text: "blocks: every result is on time" };
  if (lateBlocks === Infinity) return { figure: "∞", text: "blocks: others use the whole target" };
  const text = `blocks (${secondsText(lateBlocks * blockMs)}): each result, in the steady state`;
  return { figure: decimalText(lateBlocks, separator), text };
}

/** Describes a remedy's effect and its cost per day. */
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

/** Formats a duration. A duration below a minute is in seconds with one decimal. */
export function secondsText(durationMs: number): string {
  return durationMs < 60_000 ? `${decimalText(durationMs / 1_000)} s` : formatRoundedDuration(durationMs);
}

/** Formats a number with one decimal: "1,234.5". */
export function decimalText(value: number, separator = ","): string {
  const [whole = "", digit = ""] = value.toFixed(1).split(".");
  return `${formatCount(Number(whole), separator)}.${digit}`;
}
