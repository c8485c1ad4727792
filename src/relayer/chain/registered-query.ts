import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { RegisteredQuery as WireQuery } from "../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type { TextEvent } from "../../cosmos/comet/rpc-blocks.ts";

/** A KV query's key: the remote chain's store name and the raw key. */
export interface QueryKey {
  readonly path: string;
  readonly key: Uint8Array;
}

/** A registered interchain query. The query's heights and update period refer to the local chain, except for `lastRemoteHeight`. */
export interface RegisteredQuery {
  readonly id: bigint;
  /** Bech32 address of the contract that owns the query. */
  readonly owner: string;
  readonly type: "kv" | "tx";
  readonly connectionId: string;
  /** A KV query's keys. Results list the values in the same order. */
  readonly keys: readonly QueryKey[];
  /** A TX query's filter as JSON; "" for a KV query. */
  readonly transactionsFilter: string;
  /** Minimum number of local blocks between two results. */
  readonly updatePeriod: bigint;
  /** Local height of the registration; 0 for a query from the genesis state. */
  readonly registeredAtHeight: bigint;
  /** Local height of the last result; 0 before the first result. */
  readonly lastLocalHeight: bigint;
  readonly lastRemoteHeight: RemoteHeight | undefined;
}

/** Converts a query from a gRPC response. Returns undefined if the query's type is unknown. */
export function fromWireQuery(wire: WireQuery): RegisteredQuery | undefined {
  const { queryType: type } = wire;
  if (type !== "kv" && type !== "tx") return undefined;
  const last = wire.lastSubmittedResultRemoteHeight;
  return {
    id: wire.id,
    owner: wire.owner,
    type,
    connectionId: wire.connectionId,
    keys: wire.keys.map(({ path, key }) => ({ path, key })),
    transactionsFilter: wire.transactionsFilter,
    updatePeriod: wire.updatePeriod,
    registeredAtHeight: wire.registeredAtHeight,
    lastLocalHeight: wire.lastSubmittedResultLocalHeight,
    lastRemoteHeight: last && { revision: last.revisionNumber, height: last.revisionHeight },
  };
}

/** Selects the queries that this relayer serves. A query must match all four lists. */
export interface QueryFilter {
  readonly connectionIds: readonly string[];
  /** Owner addresses; an empty list selects all owners. */
  readonly owners: readonly string[];
  /** Query ids; an empty list selects all queries. */
  readonly queryIds: readonly bigint[];
  readonly types: readonly RegisteredQuery["type"][];
}

export function isServed(query: RegisteredQuery, filter: QueryFilter): boolean {
  return (
    filter.connectionIds.includes(query.connectionId) &&
    filter.types.includes(query.type) &&
    (filter.owners.length === 0 || filter.owners.includes(query.owner)) &&
    (filter.queryIds.length === 0 || filter.queryIds.includes(query.id))
  );
}

/** A query change that an event announced. The relayer then reads the query from the chain. */
export interface QueryChange {
  readonly action: "query_updated" | "query_removed";
  readonly queryId: bigint;
  readonly connectionId: string;
}

const MODULE = "interchainqueries";

/**
 * Returns the query changes in one transaction's or block's events, in order. Reads only events whose type is `chainName`.
 *
 * Accepts `query_removed` events with four attributes (localnet) or eight attributes (Neutron).
 */
export function queryChanges(events: readonly TextEvent[], chainName: string): readonly QueryChange[] {
  // Parse each event separately, because one transaction may remove a query and register another.
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
