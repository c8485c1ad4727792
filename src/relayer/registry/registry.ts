import type { QueryHeight } from "../../cosmos/client/chain-client.ts";
import { lacksHeight } from "../../cosmos/client/answers.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import type { LocalQueries } from "../chain/local-queries.ts";
import { type QueryState, refreshed, requested, sameQuestion } from "./query-state.ts";
import {
  isServed,
  type QueryFilter,
  type RegisteredQuery,
  type QueryChange,
} from "../chain/registered-query.ts";
import { type ChangeSignal, createChangeSignal } from "../../platform/base/waits.ts";
import type { Clock } from "../../platform/base/clock.ts";

export type Registry = ReturnType<typeof createRegistry>;

export interface RegistryDeps {
  readonly local: Pick<LocalQueries, "registeredQueries" | "registeredQuery">;
  readonly localHeight: () => bigint;
  /** Called once for each known query that has been removed from the chain. */
  readonly onRemoved: (queryId: bigint) => void;
}

export function createRegistry(filter: QueryFilter, deps: RegistryDeps) {
  let states = new Map<bigint, QueryState>();
  let nextReset = new AbortController();
  const remove = (id: bigint): void => {
    if (states.delete(id)) deps.onRemoved(id);
  };
  return {
    /**
     * Reads all queries from a node that has reached `atLeast`, and drops queries that no longer exist. Unchanged queries keep
     * their backoff. Rejects with `ClientError` "height-unavailable" if no node has reached `atLeast`.
     */
    reload: async (atLeast: bigint, signal: AbortSignal): Promise<void> => {
      const lists = await Promise.all(
        filter.connectionIds.map((id) => deps.local.registeredQueries(id, signal, { atLeast })),
      );
      const served = lists.flat().filter((query) => isServed(query, filter));
      // Read the present states only now, because cycles may have replaced states while the lists were loading.
      const before = states;
      states = new Map(
        served.map((query) => [query.id, refreshed(before.get(query.id), query, deps.localHeight())]),
      );
      for (const id of before.keys()) if (!states.has(id)) deps.onRemoved(id);
    },
    /**
     * Reads one query that changed at `height`. Returns false if no node has the announced update: the query has been removed since
     * then, or the endpoints lag behind the event's node.
     */
    apply: async (change: QueryChange, height: bigint, signal: AbortSignal): Promise<boolean> => {
      if (!filter.connectionIds.includes(change.connectionId)) return true;
      const isRemoved = change.action === "query_removed";
      const at = { atLeast: height };
      const query = isRemoved ? undefined : await readIfPresent(deps.local, change.queryId, signal, at);
      if (query === "behind") return false;
      if (query === undefined) remove(change.queryId);
      else if (isServed(query, filter))
        states.set(query.id, refreshed(states.get(query.id), query, deps.localHeight()));
      return isRemoved || query !== undefined;
    },
    /**
     * Reads the last results of the given known queries from the chain. Does not add, change or remove queries, because an event
     * that arrived during the read may be newer.
     */
    reread: async (ids: readonly bigint[], signal: AbortSignal): Promise<void> => {
      const known = ids.flatMap((id) => states.get(id)?.query ?? []);
      for (const query of await readAll(deps.local, known, signal)) {
        const current = states.get(query.id);
        if (current !== undefined && sameQuestion(current.query, query))
          states.set(query.id, refreshed(current, query, deps.localHeight()));
      }
    },
    /** Replaces the state `before` with `after`, unless the query has been removed since `before` was read. */
    replace: (before: QueryState, after: QueryState): void => {
      const current = states.get(before.query.id);
      if (current === undefined) return;
      // If the registration changed during the cycle, the outcome belongs to the old registration, and the new registration stays
      // due.
      states.set(
        before.query.id,
        sameQuestion(current.query, before.query) ? after : { ...current, results: after.results },
      );
    },
    states: (): readonly QueryState[] => [...states.values()],
    state: (queryId: bigint): QueryState | undefined => states.get(queryId),
    /** Makes these queries due immediately, ignoring unknown ids. */
    request: (ids: readonly bigint[]): void => {
      for (const id of ids) {
        const state = states.get(id);
        if (state !== undefined) states.set(id, requested(state));
      }
    },
    /** Removes all queries after a reset of the local chain. */
    reset: (): void => {
      states = new Map();
      const current = nextReset;
      nextReset = new AbortController();
      current.abort(new Error("the local chain was reset"));
    },
    /**
     * Returns a signal that aborts at the local chain's next reset, which invalidates earlier work and results. Each reset has its
     * own signal.
     */
    resetSignal: (): AbortSignal => nextReset.signal,
  };
}

/** Above this number of queries, reading the whole list takes fewer calls, because a page contains 100 queries. */
const MAX_SINGLE_READS = 20;

/** Reads the known queries that still exist, possibly together with other queries. */
async function readAll(
  local: RegistryDeps["local"],
  known: readonly RegisteredQuery[],
  signal: AbortSignal,
): Promise<readonly RegisteredQuery[]> {
  if (known.length <= MAX_SINGLE_READS) {
    const queries = await Promise.all(known.map(({ id }) => readIfPresent(local, id, signal)));
    return queries.flatMap((query) => (query === undefined || query === "behind" ? [] : query));
  }
  const connectionIds = [...new Set(known.map(({ connectionId }) => connectionId))];
  return (await Promise.all(connectionIds.map((id) => local.registeredQueries(id, signal)))).flat();
}

/** Returns undefined if the chain has no query with this id, or "behind" if no node has reached the height. */
async function readIfPresent(
  local: RegistryDeps["local"],
  id: bigint,
  signal: AbortSignal,
  height?: QueryHeight,
): Promise<RegisteredQuery | "behind" | undefined> {
  try {
    return await local.registeredQuery(id, signal, height);
  } catch (error) {
    if (lacksHeight(error)) return "behind";
    if (isUnknownQuery(error)) return undefined;
    throw error;
  }
}

function isUnknownQuery(error: unknown): boolean {
  if (!(error instanceof ClientError) || error.facts.code !== "abci") return false;
  return /invalid query id|not found|no query with id/i.test(error.facts.log);
}

/** The latest local height, with a signal that wakes all waiters when the height or the query list changes. */
export interface HeightSignal extends ChangeSignal {
  /** Latest local height; 0 before the first `set`. */
  readonly now: () => bigint;
  /**
   * Stores the height and wakes all waiters. Accepts a lower height, because a reset chain restarts at height 1. `timeNs` is the
   * block's time; 0 if unknown.
   */
  readonly set: (height: bigint, timeNs: bigint) => void;
}

/** Creates a signal at height 0, which calls `onHeight` with the arguments of each `set`. */
export function createHeightSignal(clock: Pick<Clock, "sleep">, onHeight: HeightSignal["set"]): HeightSignal {
  const change = createChangeSignal(clock);
  let height = 0n;
  return {
    ...change,
    now: () => height,
    set: (now, timeNs) => {
      height = now;
      onHeight(now, timeNs);
      change.wake();
    },
  };
}
