import { counted } from "../../base/counted.ts";
import type { PricesPage, Seen } from "../observation.ts";

/** Whether the oracle has prices. `unknown`: the watchdog cannot read the prices, but the node can. */
export interface PricesState {
  readonly kind: "present" | "missing" | "unknown";
  /** Cause with current values, as the last part of a sentence. */
  readonly reason: string;
}

/** Decides from one poll whether the oracle has prices. `nodeServed`: the sidecar answers the node's oracle calls. */
export function judgePrices(prices: Seen<PricesPage>, nodeServed: boolean): PricesState {
  if (prices.state === "not-configured") return { kind: "unknown", reason: "no price API is configured" };
  if (prices.state === "up") {
    const { length } = prices.value.pairs;
    // One price is enough, since a pair without a price is normal: its market can be new, or its providers can be down.
    return length > 0
      ? { kind: "present", reason: `${counted(length, "pair has", "pairs have")} a price now` }
      : { kind: "missing", reason: "the sidecar answers without any price" };
  }
  const reason = `the sidecar's prices cannot be read: ${prices.failure.text}`;
  // The node calls the same sidecar. While the node's calls succeed, only the watchdog's own connection is broken.
  return { kind: nodeServed ? "unknown" : "missing", reason };
}
