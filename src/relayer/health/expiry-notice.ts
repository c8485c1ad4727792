import { DEC18_ONE } from "../../platform/base/decimal.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import type { ClientReading } from "../watch/watches.ts";

/** When a light client expires soon. */
export interface ExpiryNotice {
  /** Share of the trusting period that is left, a `Dec18`. */
  readonly trustingPeriodShare: bigint;
  /** Time that is left, ms. At most a quarter of the trusting period. */
  readonly withinMs: number;
}

/**
 * Returns the time before its expiry from which on a client expires soon, ms: the share or the time, whichever is more. The
 * relayer refreshes a client when a third of its trusting period is left, so a client that comes below failed to be refreshed.
 */
export function expiryNoticeMs(
  { trustingPeriodNs }: Pick<ClientReading, "trustingPeriodNs">,
  { trustingPeriodShare, withinMs }: ExpiryNotice,
): number {
  const share = Number((trustingPeriodNs * trustingPeriodShare) / DEC18_ONE / NS_PER_MS);
  return Math.max(share, Math.min(withinMs, Number(trustingPeriodNs / 4_000_000n)));
}
