import { asBoolean, asInt64, asText, asTimeNs, member } from "../../../platform/base/json.ts";
import type { NodeStatus } from "../chain-client.ts";
import { resultField } from "../rpc/rpc-response.ts";

/** Decodes the result of `status`. */
export function decodeStatus(result: unknown, endpoint: string): NodeStatus {
  const root = resultField(result, "status", endpoint);
  const network = member(member(root, "node_info"), "network");
  if (asText(network) === "") throw network.error(network.path, "a chain id");
  const sync = member(root, "sync_info");
  return {
    chainId: asText(network),
    latestHeight: asInt64(member(sync, "latest_block_height")),
    latestTimeNs: asTimeNs(member(sync, "latest_block_time")),
    earliestHeight: asInt64(member(sync, "earliest_block_height")),
    catchingUp: asBoolean(member(sync, "catching_up")),
  };
}
