import type { NodeStatus } from "../chain-client.ts";
import { field, flag, int64, text, timeNs, unfit, wireValue } from "./wire-fields.ts";

/** Decodes the answer to `status`. */
export function decodeStatus(result: unknown, endpoint: string): NodeStatus {
  const root = wireValue(result, "status", endpoint);
  const network = field(field(root, "node_info"), "network");
  if (text(network) === "") throw unfit(network, "a chain id");
  const sync = field(root, "sync_info");
  return {
    chainId: text(network),
    latestHeight: int64(field(sync, "latest_block_height")),
    latestTimeNs: timeNs(field(sync, "latest_block_time")),
    earliestHeight: int64(field(sync, "earliest_block_height")),
    catchingUp: flag(field(sync, "catching_up")),
  };
}
