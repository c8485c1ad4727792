import { DEC18_ONE } from "../../platform/base/decimal.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import type { ClientReading } from "../watch/watches.ts";

/** Defines when a light client expires soon. */
export interface ExpiryNotice {
  /** Remaining share of the trusting period, as a `Dec18`. */
  readonly trustingPeriodShare: bigint;
  /** Remaining time, ms. At most a quarter of the trusting period. */
  readonly withinMs: number;
}

/**
 * Returns the remaining time below which a client "expires soon", ms: the share or the time, whichever is longer. The relayer
 * refreshes a client when a third of its trusting period is left. A client below this limit could therefore not be refreshed.
 */
export function expiryNoticeMs(
  { trustingPeriodNs }: Pick<ClientReading, "trustingPeriodNs">,
  { trustingPeriodShare, withinMs }: ExpiryNotice,
): number {
  const share = Number((trustingPeriodNs * trustingPeriodShare) / DEC18_ONE / NS_PER_MS);
  return Math.max(share, Math.min(withinMs, Number(trustingPeriodNs / 4_000_000n)));
}
