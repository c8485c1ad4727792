import { ClientError } from "../../client/errors.ts";
import type { LocalQueries } from "./local-queries.ts";
import type { QueryChange } from "./query-events.ts";
import { type QueryState, refreshed, sameQuestion } from "./query-state.ts";
import { isServed, type QueryFilter } from "./registered-query.ts";

/** The queries that this relayer serves, with where each stands. */
export interface Registry {
  /** Reads all of them from the chain; what is gone there goes here. Keeps backoff of unchanged ones. */
  readonly reload: (signal: AbortSignal) => Promise<void>;
  /**
   * Applies a change that an event told; reads the new content from the chain. False when the chain knows no such query:
   * it is gone again, or the endpoint that was asked lags behind the one that told.
   */
  readonly apply: (change: QueryChange, signal: AbortSignal) => Promise<boolean>;
  /** Puts a new state in place, unless the query was removed or replaced since `before` was taken. */
  readonly replace: (before: QueryState, after: QueryState) => void;
  readonly states: () => readonly QueryState[];
}

/** What a registry needs. */
export interface RegistryDeps {
  readonly local: Pick<LocalQueries, "registeredQueries" | "registeredQuery">;
  /** Latest local height seen. */
  readonly localHeight: () => bigint;
  /** Hears of every known query that is gone from the chain. */
  readonly onGone: (queryId: bigint) => void;
}

/** Creates an empty registry. */
export function createRegistry(filter: QueryFilter, deps: RegistryDeps): Registry {
  let states = new Map<bigint, QueryState>();
  const drop = (id: bigint): void => {
    if (states.delete(id)) deps.onGone(id);
  };
  return {
    reload: async (signal) => {
      const lists = await Promise.all(
        filter.connectionIds.map((id) => deps.local.registeredQueries(id, signal)),
      );
      const served = lists.flat().filter((query) => isServed(query, filter));
      const before = states;
      states = new Map(
        served.map((query) => [query.id, refreshed(before.get(query.id), query, deps.localHeight())]),
      );
      for (const id of before.keys()) if (!states.has(id)) deps.onGone(id);
    },
    apply: async (change, signal) => {
      if (!filter.connectionIds.includes(change.connectionId)) return true;
      const isRemoved = change.action === "query_removed";
      const query = isRemoved ? undefined : await readIfThere(deps.local, change.queryId, signal);
      if (query === undefined) drop(change.queryId);
      else if (isServed(query, filter))
        states.set(query.id, refreshed(states.get(query.id), query, deps.localHeight()));
      return isRemoved || query !== undefined;
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

/** The query, or undefined when the chain says that it has none of this id. */
async function readIfThere(
  local: RegistryDeps["local"],
  id: bigint,
  signal: AbortSignal,
): ReturnType<LocalQueries["registeredQuery"]> {
  try {
    return await local.registeredQuery(id, signal);
  } catch (error) {
    if (isUnknownQuery(error)) return undefined;
    throw error;
  }
}

function isUnknownQuery(error: unknown): boolean {
  if (!(error instanceof ClientError) || error.facts.code !== "abci") return false;
  return /invalid query id|not found|no query with id/i.test(error.facts.log);
}
