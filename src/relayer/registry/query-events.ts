import type { WireEvent } from "../../client/events/subscription.ts";

/** What an event says about a query. The new content is read from the chain, not from the event. */
export interface QueryChange {
  readonly action: "query_updated" | "query_removed";
  readonly queryId: bigint;
  readonly connectionId: string;
}

const MODULE = "interchainqueries";

/**
 * Changes of queries in the events of one transaction or block, in order. Each event is read by itself, so that a
 * transaction that removes one query and registers another gives both. Accepts four attributes or eight on removal.
 */
export function queryChanges(events: readonly WireEvent[], chainName: string): readonly QueryChange[] {
  return events.filter((event) => event.type === chainName).flatMap((event) => toChange(event) ?? []);
}

function toChange(event: WireEvent): QueryChange | undefined {
  const attributes = new Map(event.attributes.map(({ key, value }) => [key, value]));
  const action = attributes.get("action");
  const id = attributes.get("query_id") ?? "";
  if (attributes.get("module") !== MODULE || !/^\d{1,20}$/.test(id)) return undefined;
  if (action !== "query_updated" && action !== "query_removed") return undefined;
  return { action, queryId: BigInt(id), connectionId: attributes.get("connection_id") ?? "" };
}

/** Subscription texts that bring every change of a query on the chain of this name. */
export function queryChangeSubscriptions(chainName: string): readonly string[] {
  return ["query_updated", "query_removed"].map(
    (action) => `tm.event='Tx' AND ${chainName}.module='${MODULE}' AND ${chainName}.action='${action}'`,
  );
}
