import { createFamily, type Family } from "./exposition.ts";

/** Metric families of the oracle metrics page (port 8001). */
export interface OracleFamilies {
  readonly latency: Family;
  readonly responses: Family;
  readonly prices: Family;
}

/** Creates empty families. Names, help texts and types are those of a node with oracle metrics. */
export function createOracleFamilies(): OracleFamilies {
  return {
    latency: createFamily({
      name: "app_oracle_response_latency",
      help: "The time it took for the oracle to respond",
      type: "histogram",
      bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    }),
    responses: createFamily({
      name: "app_oracle_responses",
      help: "The number of oracle responses",
      type: "gauge",
    }),
    prices: createFamily({
      name: "app_prices",
      help: "The price of the ticker that is written to state",
      type: "gauge",
    }),
  };
}
