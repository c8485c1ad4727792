import type { JsonObject } from "../../src/platform/base/json.ts";

/** A fee market whose block gas limit exceeds many payments. */
export const WIDE_MARKET: JsonObject = {
  params: {
    alpha: "0.0",
    beta: "1.0",
    gamma: "0.0",
    delta: "0.0",
    min_base_gas_price: "0.0025",
    min_learning_rate: "0.0",
    max_learning_rate: "0.0",
    max_block_utilization: "1000000000",
    window: "1",
    fee_denom: "untrn",
    enabled: true,
    distribute_fees: true,
    send_tip_to_proposer: true,
  },
};
