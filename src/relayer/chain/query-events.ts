import type { TextEvent } from "../../cosmos/comet/rpc-blocks.ts";

/** A query change that an event announces. The relayer reads the query from the chain and ignores the event's other attributes. */
export interface QueryChange {
  readonly action: "query_updated" | "query_removed";
  readonly queryId: bigint;
  readonly connectionId: string;
}

const MODULE = "interchainqueries";

/**
 * Returns the query changes in one transaction's or block's events, in order. `chainName` is the event type.
 *
 * A `query_removed` event has four attributes on a localnet and eight on Neutron. This function accepts both.
 */
export function queryChanges(events: readonly TextEvent[], chainName: string): readonly QueryChange[] {
  // Each event is parsed separately, because one transaction may remove a query and register another.
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

/** Returns the CometBFT subscription queries for all query changes on a chain. */
export function queryChangeSubscriptions(chainName: string): readonly string[] {
  return ["query_updated", "query_removed"].map(
    (action) => `tm.event='Tx' AND ${chainName}.module='${MODULE}' AND ${chainName}.action='${action}'`,
  );
}
