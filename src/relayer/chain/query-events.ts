import type { TextEvent } from "../../cosmos/comet/rpc-blocks.ts";

/** A query change announced by an event. The event's other attributes are ignored; the chain is read instead. */
export interface QueryChange {
  readonly action: "query_updated" | "query_removed";
  readonly queryId: bigint;
  readonly connectionId: string;
}

const MODULE = "interchainqueries";

/**
 * Returns the query changes in the events of one transaction or block, in order. `chainName` is the event
 * type. A `query_removed` event has four attributes here and eight on Neutron; both are accepted.
 */
export function queryChanges(events: readonly TextEvent[], chainName: string): readonly QueryChange[] {
  // Each event is read separately. One transaction may remove a query and register another one.
  return events.filter((event) => event.type === chainName).flatMap((event) => toChange(event) ?? []);
}

function toChange(event: TextEvent): QueryChange | undefined {
  const attributes = new Map(event.attributes.map(({ key, value }) => [key, value]));
  const action = attributes.get("action");
  const id = attributes.get("query_id") ?? "";
  if (attributes.get("module") !== MODULE || !/^\d{1,20}$/.test(id)) return undefined;
  if (action !== "query_updated" && action !== "query_removed") return undefined;
  return { action, queryId: BigInt(id), connectionId: attributes.get("connection_id") ?? "" };
}

/** Returns the CometBFT subscription queries that cover all query changes on the chain with this name. */
export function queryChangeSubscriptions(chainName: string): readonly string[] {
  return ["query_updated", "query_removed"].map(
    (action) => `tm.event='Tx' AND ${chainName}.module='${MODULE}' AND ${chainName}.action='${action}'`,
  );
}
