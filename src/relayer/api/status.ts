import type { JsonObject } from "../../base/json.ts";
import type { Engine } from "../engine.ts";
import { type QueryFailure, type QueryState, type QueryStatus, statusOf } from "../registry/query-state.ts";
import type { RegisteredQuery } from "../registry/registered-query.ts";
import type { Registry } from "../registry/registry.ts";

/** The state of the relayer at one instant. */
export interface RelayerStatus {
  /** Bech32 address of the account that pays the fees. */
  readonly address: string;
  readonly localHeight: bigint;
  /** Whether the WebSocket to the local chain is connected. */
  readonly connected: boolean;
  /** Whether the list of queries was read at least once. */
  readonly loaded: boolean;
  readonly connections: readonly ConnectionStatus[];
  /** Sorted by id. */
  readonly queries: readonly QueryView[];
}

interface ConnectionStatus {
  readonly id: string;
  /** Error of the last cycle; undefined when it succeeded. */
  readonly error: string | undefined;
}

/** One query in {@link RelayerStatus}. */
export interface QueryView {
  readonly id: bigint;
  readonly type: RegisteredQuery["type"];
  readonly connectionId: string;
  readonly owner: string;
  readonly updatePeriod: bigint;
  readonly state: QueryStatus;
  /** 0: no result yet. */
  readonly lastLocalHeight: bigint;
  /** undefined: no KV result yet. */
  readonly lastRemoteHeight: bigint | undefined;
  /** Results included since the relayer started. */
  readonly results: number;
  /** Failures since the last result. */
  readonly failures: number;
  readonly error: QueryFailure | undefined;
  /** Time until the next try while backing off, else 0. */
  readonly retryInMs: number;
}

export interface StatusDeps {
  readonly engine: Pick<Engine, "localHeight" | "isLoaded" | "workerErrors">;
  readonly registry: Pick<Registry, "states">;
  readonly isConnected: () => boolean;
  readonly address: string;
  /** Wall-clock time, ms. */
  readonly nowMs: () => number;
}

/** Collects the status. O(n log n) in the number of queries. */
export function relayerStatus(deps: StatusDeps): RelayerStatus {
  return {
    address: deps.address,
    localHeight: deps.engine.localHeight(),
    connected: deps.isConnected(),
    loaded: deps.engine.isLoaded(),
    connections: [...deps.engine.workerErrors()].map(([id, error]) => ({ id, error })),
    queries: deps.registry
      .states()
      .map((state) => toView(state, deps.nowMs()))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

function toView(state: QueryState, nowMs: number): QueryView {
  const { query } = state;
  return {
    id: query.id,
    type: query.type,
    connectionId: query.connectionId,
    owner: query.owner,
    updatePeriod: query.updatePeriod,
    state: statusOf(state),
    lastLocalHeight: query.lastLocalHeight,
    lastRemoteHeight: query.lastRemoteHeight?.height,
    results: state.results,
    failures: state.failures,
    error: state.error,
    retryInMs: Math.max(0, state.notBeforeMs - nowMs),
  };
}

/** Converts a status to the JSON of `GET /api/status`. Ids and heights are strings; absent values are null. */
export function statusJson(status: RelayerStatus): JsonObject {
  return {
    address: status.address,
    local_height: `${status.localHeight}`,
    connected: status.connected,
    loaded: status.loaded,
    connections: status.connections.map(({ id, error }) => ({ id, error: error ?? null })),
    queries: status.queries.map(queryJson),
  };
}

/** Converts a query to the JSON of `GET /api/queries`. */
export function queryJson(query: QueryView): JsonObject {
  const { error, lastRemoteHeight } = query;
  return {
    id: `${query.id}`,
    type: query.type,
    connection_id: query.connectionId,
    owner: query.owner,
    update_period: `${query.updatePeriod}`,
    state: query.state,
    last_local_height: `${query.lastLocalHeight}`,
    last_remote_height: lastRemoteHeight === undefined ? null : `${lastRemoteHeight}`,
    results: query.results,
    failures: query.failures,
    error: error === undefined ? null : { code: error.code, reason: error.reason },
    retry_in_ms: query.retryInMs,
  };
}
