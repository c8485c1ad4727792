import type { Dec18 } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";

/** Lowest and highest price over five minutes. */
export interface PricePoint {
  /** Wall-clock start of the five minutes, ms. */
  readonly startMs: number;
  readonly low: Dec18;
  readonly high: Dec18;
}

const PRICE_POINT_MS = 300_000;
const PRICE_POINTS = 288;

export function addPrice(day: PricePoint[], price: Dec18, nowMs: number): void {
  const startMs = nowMs - (nowMs % PRICE_POINT_MS);
  const last = day.at(-1);
  if (last?.startMs !== startMs) {
    day.push({ startMs, low: price, high: price });
    while (day.length > PRICE_POINTS || (day[0]?.startMs ?? 0) < startMs - PRICE_POINTS * PRICE_POINT_MS)
      day.shift();
    return;
  }
  day[day.length - 1] = { startMs, low: minInt(last.low, price), high: maxInt(last.high, price) };
}
