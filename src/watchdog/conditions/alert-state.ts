import type { Result } from "../../base/result.ts";
import type { PricesReading } from "../sources/prices-reading.ts";
import type { SourceFailure } from "../sources/source-failure.ts";

/** The one alert (spec 000, "Oracle requirements": act when all prices stay missing for more than 5 minutes). */
export const ALL_PRICES_MISSING = "all-prices-missing";

/** Whether the oracle has prices, as far as can be seen. */
export type PricesVerdict =
  | { readonly kind: "present" }
  | { readonly kind: "missing"; readonly reason: string }
  /** The watchdog cannot see, while the node can: no ground for an alert, nor for its end. */
  | { readonly kind: "unseen"; readonly reason: string };

/**
 * Judges one look. A single price is enough: missing pairs are normal. An answer that cannot be had counts as missing,
 * unless the node's calls of the same sidecar succeed: then only the watchdog's way there is broken.
 */
export function judgePrices(
  prices: Result<PricesReading, SourceFailure>,
  nodeIsServed: boolean,
): PricesVerdict {
  if (prices.ok) {
    if (prices.value.pairs.length > 0) return { kind: "present" };
    return { kind: "missing", reason: "the sidecar answers without any price" };
  }
  const reason = `the sidecar's prices cannot be read: ${prices.error.text}`;
  return nodeIsServed ? { kind: "unseen", reason } : { kind: "missing", reason };
}

/** Where the alert stands. Times are wall clock, ms. */
export type AlertState =
  | { readonly phase: "inactive" }
  | {
      readonly phase: "pending" | "firing";
      /** First look that found it so. */
      readonly sinceMs: number;
      /** Last look that found it so. */
      readonly seenMs: number;
      readonly reason: string;
    };

/** An alert that is not there. */
export const INACTIVE: AlertState = { phase: "inactive" };

/** A step of the alert; `change` is set once when it begins and once when it ends. */
export interface AlertStep {
  readonly state: AlertState;
  readonly change?: "firing" | "resolved";
}

/**
 * Advances the alert. It fires when prices have been found missing for more than `forMs`; a gap in looking longer than
 * that begins the time anew, since nobody knows what was in between. A firing alert ends only when a price is seen.
 */
export function advanceAlert(
  state: AlertState,
  verdict: PricesVerdict,
  nowMs: number,
  forMs: number,
): AlertStep {
  if (verdict.kind === "unseen") {
    const forgotten = state.phase === "pending" && nowMs - state.seenMs > forMs;
    return { state: forgotten ? INACTIVE : state };
  }
  if (verdict.kind === "present")
    return state.phase === "firing" ? { state: INACTIVE, change: "resolved" } : { state: INACTIVE };
  const { reason } = verdict;
  if (state.phase === "inactive")
    return { state: { phase: "pending", sinceMs: nowMs, seenMs: nowMs, reason } };
  if (state.phase === "firing") return { state: { ...state, seenMs: nowMs, reason } };
  const unwatched = nowMs - state.seenMs > forMs || nowMs < state.sinceMs;
  const sinceMs = unwatched ? nowMs : state.sinceMs;
  if (nowMs - sinceMs > forMs)
    return { state: { phase: "firing", sinceMs, seenMs: nowMs, reason }, change: "firing" };
  return { state: { phase: "pending", sinceMs, seenMs: nowMs, reason } };
}
