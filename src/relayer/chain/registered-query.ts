import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { RegisteredQuery as WireQuery } from "../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";

/** A KV query's key: the remote chain's store name and the raw key. */
export interface QueryKey {
  readonly path: string;
  readonly key: Uint8Array;
}

/** A registered query. Heights and the period count local blocks unless their name contains "remote". */
export interface RegisteredQuery {
  readonly id: bigint;
  /** Bech32 address of the contract that owns the query. */
  readonly owner: string;
  readonly type: "kv" | "tx";
  readonly connectionId: string;
  /** A KV query's keys. The query's results keep this order. */
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

/** Converts a query from a gRPC response. Returns undefined if its type is unknown. */
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
  /** Empty: all owners. */
  readonly owners: readonly string[];
  /** Empty: all ids. */
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
