import type { RegisteredQuery } from "../../../proto/gen/neutron/interchainqueries/genesis.ts";
import type { ChainEvent } from "../../runtime/events.ts";
import { event } from "../../runtime/events.ts";
import { printKeys } from "./validation/key-list.ts";
import { MODULE_NAME } from "./keys.ts";

/** `query_updated`, of a registration or update. The event's type is the chain's name (spec 000, "Events"). */
export function queryUpdated(chainName: string, query: RegisteredQuery): ChainEvent {
  return event(chainName, [
    ...common("query_updated", query),
    ["owner", query.owner],
    ["type", query.queryType],
    ["tx_filter", query.transactionsFilter],
    ["kv_key", printKeys(query.keys)],
  ]);
}

/** `query_removed`: four attributes only, as the specification's table says. */
export function queryRemoved(chainName: string, query: RegisteredQuery): ChainEvent {
  return event(chainName, common("query_removed", query));
}

function common(action: string, query: RegisteredQuery): readonly (readonly [string, string])[] {
  return [
    ["module", MODULE_NAME],
    ["action", action],
    ["query_id", query.id.toString()],
    ["connection_id", query.connectionId],
  ];
}
