import type { RegisteredQuery } from "../chain/registered-query.ts";
import { ascending } from "../../platform/base/order.ts";

/** What decides when a query has its turn. */
export interface Need {
  /** Queries of one type and period take turns. */
  readonly group: string;
  /** Turns that the query has had, compared with the others of its group. */
  readonly turn: number;
  /** As `turn`, without the limit of what it may catch up: queries that are further behind take turns too. */
  readonly had: number;
  /** Place in each turn, the lower one first: when the query was due for the first time. It stays, so that no turn is ever skipped. */
  readonly place: bigint;
  /** Local height at which its next result is due. */
  readonly dueAt: bigint;
  readonly id: bigint;
}

/**
 * The order in which queries are served while a block cannot hold all that are due.
 *
 * The longest due goes first. Among queries of equal period that is not enough: all that one block answered are due at the same
 * height, and with the id as the tie-break the last ids would starve. So they take turns, each one has a result before any has the next, the
 * one that was due first in front. An included result ends a turn, and a read that showed that none is needed. A result that was
 * read, and never left, does not.
 */
export interface ServiceOrder {
  /**
   * Returns the need of a result of a query. `before` are the results of the query that leave before it: the first one was sent, or is
   * sent, at the local height `sentAt`, and is in the block after it.
   */
  readonly needOf: (
    query: RegisteredQuery,
    before?: { readonly count: number; readonly sentAt: bigint },
  ) => Need;
  /** Ends the turn of a query whose result was included, or that needs none now. */
  readonly recordIncluded: (query: RegisteredQuery) => void;
  /** Forgets the turns of a query whose result failed: after its backoff it does not catch up. */
  readonly recordFailed: (queryId: bigint) => void;
  /** Forgets the queries for which `isGone` is true. */
  readonly forget: (isGone: (queryId: bigint) => boolean) => void;
}

/**
 * Turns that a query may catch up, for instance after its transaction was lost. More would let the queries of a connection that
 * was down for an hour take all blocks after it.
 */
const MAX_CATCH_UP = 3;

type Position = Pick<Need, "had" | "place">;

/** Creates an order in which no query has had a turn. */
export function createServiceOrder(): ServiceOrder {
  const positions = new Map<bigint, Position>();
  const latest = new Map<string, number>();
  /** A newcomer joins the present turn when it is seen for the first time. */
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
    needOf: (query, before) => {
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
    recordIncluded: (query) => {
      const group = groupOf(query);
      const position = positionOf(query, group);
      const turn = turnOf(position, group);
      positions.set(query.id, { had: turn + 1, place: position.place });
      latest.set(group, Math.max(turn + 1, latest.get(group) ?? 0));
    },
    recordFailed: (queryId) => void positions.delete(queryId),
    forget: (isGone) => {
      for (const id of positions.keys()) if (isGone(id)) positions.delete(id);
    },
  };
}

/** A query without a result is due since it was registered. */
function dueSince({ updatePeriod, registeredAtHeight, lastLocalHeight }: RegisteredQuery): bigint {
  return lastLocalHeight === 0n ? registeredAtHeight : lastLocalHeight + updatePeriod;
}

/** Names of the groups by period. They are asked for each waiting result whenever one is chosen. */
const groupNames = { kv: new Map<bigint, string>(), tx: new Map<bigint, string>() };

/** Periods whose names are remembered. Few are in use, but contracts choose them. */
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

/**
 * Sorts by need: within a group by turns, and between groups the one whose next query is due for longest. O(n log n) for a few
 * groups.
 */
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

/** Takes the head that is due for longest, again and again. */
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
