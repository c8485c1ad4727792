import type { LocalQueries } from "./local-queries.ts";
import type { QueryChange } from "./query-events.ts";
import { type QueryState, refreshed, sameQuestion } from "./query-state.ts";
import { isServed, type QueryFilter, type RegisteredQuery } from "./registered-query.ts";

/** The queries that this relayer serves, with where each stands. */
export interface Registry {
  /** Reads all of them from the chain; what is gone there goes here. Keeps backoff of unchanged ones. */
  readonly reload: (signal: AbortSignal) => Promise<void>;
  /** Applies a change that an event told; reads the new content from the chain. */
  readonly apply: (change: QueryChange, signal: AbortSignal) => Promise<void>;
  /** Puts a new state in place, unless the query was removed or replaced since `before` was taken. */
  readonly replace: (before: QueryState, after: QueryState) => void;
  readonly states: () => readonly QueryState[];
}

/** Creates an empty registry. */
export function createRegistry(filter: QueryFilter, local: LocalQueries): Registry {
  let states = new Map<bigint, QueryState>();
  const put = (query: RegisteredQuery): void => {
    states.set(query.id, refreshed(states.get(query.id), query));
  };
  return {
    reload: async (signal) => {
      const lists = await Promise.all(filter.connectionIds.map((id) => local.registeredQueries(id, signal)));
      const served = lists.flat().filter((query) => isServed(query, filter));
      states = new Map(served.map((query) => [query.id, refreshed(states.get(query.id), query)]));
    },
    apply: async (change, signal) => {
      if (!filter.connectionIds.includes(change.connectionId)) return;
      if (change.action === "query_removed") {
        states.delete(change.queryId);
        return;
      }
      const query = await local.registeredQuery(change.queryId, signal);
      if (query !== undefined && isServed(query, filter)) put(query);
    },
    replace: (before, after) => {
      const now = states.get(before.query.id);
      if (now === undefined) return;
      // A question that changed while its result was under way stays as it is now, and is tried at once.
      states.set(
        before.query.id,
        sameQuestion(now.query, before.query) ? after : { ...now, results: after.results },
      );
    },
    states: () => [...states.values()],
  };
}
