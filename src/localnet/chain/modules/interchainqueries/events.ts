import { toHex } from "../../../../platform/base/bytes.ts";
import type {
  KVKey,
  RegisteredQuery,
} from "../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type { ChainEvent } from "../../runtime/events.ts";
import { event } from "../../runtime/events.ts";
import { MODULE_NAME } from "./keys.ts";

/**
 * Builds `query_updated` for a registration or an update. The event type is the chain's name
 * (chain-extension-modules.md, "Events").
 */
export function queryUpdated(chainName: string, query: RegisteredQuery): ChainEvent {
  return event(chainName, [
    ...commonAttributes("query_updated", query),
    ["owner", query.owner],
    ["type", query.queryType],
    ["tx_filter", query.transactionsFilter],
    ["kv_key", printKeys(query.keys)],
  ]);
}

/**
 * Builds `query_removed`: the common attributes only. The deployed chain emits all attributes; the specification wins.
 */
export function queryRemoved(chainName: string, query: RegisteredQuery): ChainEvent {
  return event(chainName, commonAttributes("query_removed", query));
}

function commonAttributes(
  action: string,
  query: RegisteredQuery,
): readonly (readonly [key: string, value: string])[] {
  return [
    ["module", MODULE_NAME],
    ["action", action],
    ["query_id", query.id.toString()],
    ["connection_id", query.connectionId],
  ];
}

/** Prints `<path>/<hex key>` of every key in order, joined by commas. As in Go, nothing is escaped. */
function printKeys(keys: readonly KVKey[]): string {
  return keys.map((key) => `${key.path}/${toHex(key.key)}`).join(",");
}
