import { counted } from "../../base/counted.ts";
import type { AlertCondition } from "./condition.ts";
import type { PricesState } from "./prices-state.ts";

const VERDICTS = { present: "clear", missing: "active", unknown: "unknown" } as const satisfies Record<
  PricesState["kind"],
  unknown
>;

/** No pair has a price (chain-extension-modules.md, "Limits": act when all prices stay missing for more than 5 minutes). */
export const ALL_PRICES_MISSING: AlertCondition = {
  id: "all-prices-missing",
  severity: "critical",
  title: "All prices missing",
  defaultFor: "5m",
  forDescription: "how long all prices must be missing before the alert fires",
  evaluate: ({ prices }) => ({ kind: VERDICTS[prices.kind], reason: prices.reason }),
  firingSummary: (minutes) => `all oracle prices have been missing for ${counted(minutes, "minute")}`,
  resolvedSummary: (minutes) => `oracle prices are back after ${counted(minutes, "minute")}`,
  action:
    "Restart the price sidecar. If prices stay away, check its log, the node's gRPC address and outbound HTTPS.",
};
