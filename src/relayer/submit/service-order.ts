import type { RegisteredQuery } from "../chain/registered-query.ts";
import { ascending } from "../../platform/base/order.ts";

/** The facts that determine when a query is served. */
export interface Need {
  /** Name of the query's group. Queries of the same type and update period form a group and take turns. */
  readonly group: string;
  /** Number of turns that the query has had, at most {@link MAX_CATCH_UP} behind its group. Queries with the fewest turns come first. */
  readonly turn: number;
  /** Like `turn`, but without the limit {@link MAX_CATCH_UP}, so that queries that are further behind also take turns. */
  readonly had: number;
  /**
   * The query's position within each turn, lowest first. The position is the query's first due height, which never changes, so no
   * query is skipped.
   */
  readonly place: bigint;
  /** Local height at which the query's next result is due. */
  readonly dueAt: bigint;
  readonly id: bigint;
}

/**
 * The order in which queries are served while the due results do not all fit in a block. The query that has been due the longest is
 * served first.
 *
 * Queries with equal update periods are served in turn. All queries answered in one block become due at the same height, and a
 * tie-break by id would starve the highest ids. Each query gets a result before any query gets a second result, starting with the
 * query that was due first. A query's turn ends once a result is included, or once a read shows that no result is needed. A result
 * that was read but never sent does not end the turn.
 */
export type ServiceOrder = ReturnType<typeof createServiceOrder>;

/**
 * Maximum number of turns that a query may catch up, for example after its transaction was lost. Without this limit, the queries
 * of a connection that was down for an hour would fill all following blocks.
 */
const MAX_CATCH_UP = 3;

type Position = Pick<Need, "had" | "place">;

/** Creates an order in which no query has had a turn. */
export function createServiceOrder() {
  const positions = new Map<bigint, Position>();
  const latest = new Map<string, number>();
  /** Returns a query's position. A new query joins its group's current turn. */
  const positionOf = (query: RegisteredQuery, group: string): Position => {
    let position = positions.get(query.id);
    if (position === undefined) {
      position = { had: Math.max((latest.get(group) ?? 0) - 1, 0), place: dueSince(query) };
      positions.set(query.id, position);
    }
    return position;
  };
  const turnOf = ({ had }: Position, group: string): number =>
    Math.max(had, (latest.get(group) ?? 0) - MAX_CATCH_UP);
  return {
    /**
     * Returns the {@link Need} of a query's result. `before` describes the query's earlier results that are not included yet. The
     * first of these results is assumed to be sent at local height `sentAt` and included in the next block.
     */
    needOf: (query: RegisteredQuery, before?: { readonly count: number; readonly sentAt: bigint }): Need => {
      const { id, updatePeriod } = query;
      const group = groupOf(query);
      const position = positionOf(query, group);
      const { had, place } = position;
      const turn = turnOf(position, group);
      if (before === undefined) return { group, turn, had, place, dueAt: dueSince(query), id };
      const later = turn + before.count;
      const dueAt = before.sentAt + 1n + updatePeriod * BigInt(before.count);
      return { group, turn: later, had: later, place, dueAt, id };
    },
    /** Ends a query's turn, because its result was included or no result is needed now. */
    recordIncluded: (query: RegisteredQuery): void => {
      const group = groupOf(query);
      const position = positionOf(query, group);
      const turn = turnOf(position, group);
      positions.set(query.id, { had: turn + 1, place: position.place });
      latest.set(group, Math.max(turn + 1, latest.get(group) ?? 0));
    },
    /** Deletes a failed query's turns, so that the query does not catch up after its backoff. */
    recordFailed: (queryId: bigint): void => void positions.delete(queryId),
    forget: (isGone: (queryId: bigint) => boolean): void => {
      for (const id of positions.keys()) if (isGone(id)) positions.delete(id);
    },
  };
}

/** Returns the height since which a query has been due. For a query without a result, this is its registration height. */
function dueSince({ updatePeriod, registeredAtHeight, lastLocalHeight }: RegisteredQuery): bigint {
  return lastLocalHeight === 0n ? registeredAtHeight : lastLocalHeight + updatePeriod;
}

/** Caches group names by period, because every selection of results looks up the group of each queued result. */
const groupNames = { kv: new Map<bigint, string>(), tx: new Map<bigint, string>() };

/** Maximum number of update periods whose group names are cached. Few periods are in use, but contracts can choose any period. */
const MAX_GROUP_NAMES = 1_000;

function groupOf({ type, updatePeriod }: RegisteredQuery): string {
  const names = groupNames[type];
  const known = names.get(updatePeriod);
  if (known !== undefined) return known;
  if (names.size >= MAX_GROUP_NAMES) names.clear();
  const name = `${type} ${updatePeriod}`;
  names.set(updatePeriod, name);
  return name;
}

/** Sorts by need: within a group by turn, and between groups by the due height of the next query. O(n log n) for few groups. */
export function sortByNeed<T>(items: readonly T[], needOf: (item: T) => Need): readonly T[] {
  const groups = new Map<string, Waiting<T>[]>();
  for (const item of items) {
    const need = needOf(item);
    const group = groups.get(need.group);
    if (group === undefined) groups.set(need.group, [{ item, need }]);
    else group.push({ item, need });
  }
  for (const group of groups.values()) group.sort(byTurn);
  return merge([...groups.values()]);
}

interface Waiting<T> {
  readonly item: T;
  readonly need: Need;
}

function byTurn({ need: a }: Waiting<unknown>, { need: b }: Waiting<unknown>): number {
  return a.turn - b.turn || a.had - b.had || ascending(a.place, b.place) || ascending(a.id, b.id);
}

/** Merges the sorted groups by repeatedly taking the longest-due first item. */
function merge<T>(groups: readonly (readonly Waiting<T>[])[]): readonly T[] {
  const [only] = groups;
  if (only === undefined || groups.length === 1) return only?.map(({ item }) => item) ?? [];
  const heads = groups.map((group) => ({ group, index: 0 }));
  const sorted: T[] = [];
  for (;;) {
    let first: (typeof heads)[number] | undefined;
    for (const head of heads) if (isBefore(head, first)) first = head;
    const next = first?.group[first.index];
    if (first === undefined || next === undefined) return sorted;
    first.index += 1;
    sorted.push(next.item);
  }
}

interface Head {
  readonly group: readonly Waiting<unknown>[];
  readonly index: number;
}

function isBefore(a: Head, b: Head | undefined): boolean {
  const own = a.group[a.index]?.need;
  const other = b?.group[b.index]?.need;
  if (own === undefined || other === undefined) return own !== undefined;
  return (ascending(own.dueAt, other.dueAt) || ascending(own.id, other.id)) < 0;
}
